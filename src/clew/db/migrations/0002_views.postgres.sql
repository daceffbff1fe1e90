-- What the seeds call their tables, for a person who looks into the store. Times in ISO 8601. WITH keeps them read-only:
-- PostgreSQL writes through a plain view of one table.

CREATE VIEW clew.conversations {view} AS
WITH conversation AS (SELECT * FROM clew.thread WHERE conversation = 1)
SELECT id,
       owner AS user_id,
       title,
       to_char(to_timestamp(0) AT TIME ZONE 'UTC' + created_at * interval '1 microsecond',
               'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS created_at,
       to_char(to_timestamp(0) AT TIME ZONE 'UTC' + updated_at * interval '1 microsecond',
               'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS updated_at
FROM conversation;

CREATE VIEW clew.messages {view} AS
SELECT entry.uid AS id,
       place.thread_id AS conversation_id,
       place.seq,
       coalesce(entry.role, CASE entry.kind WHEN 1 THEN 'user' WHEN 2 THEN 'assistant'
                                            WHEN 5 THEN 'system' ELSE 'tool' END) AS role,
       entry.content,
       entry.tool_name,
       entry.tool_call_id,
       entry.metadata,
       to_char(to_timestamp(0) AT TIME ZONE 'UTC' + entry.created_at * interval '1 microsecond',
               'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS created_at,
       place.owner AS user_id
FROM clew.place
JOIN clew.entry ON entry.owner = place.owner AND entry.id = place.entry_id
WHERE place.kind BETWEEN 1 AND 5;
