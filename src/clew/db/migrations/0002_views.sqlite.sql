-- What the seeds call their tables, for a person who looks into the store. Read-only, times in ISO 8601;
-- the remainders are taken twice so that times before 1970 come out right too.

CREATE VIEW clew.conversations AS
SELECT id,
       owner AS user_id,
       title,
       strftime('%Y-%m-%dT%H:%M:%S', (created_at - (created_at % 1000000 + 1000000) % 1000000) / 1000000, 'unixepoch')
           || printf('.%06d+00:00', (created_at % 1000000 + 1000000) % 1000000) AS created_at,
       strftime('%Y-%m-%dT%H:%M:%S', (updated_at - (updated_at % 1000000 + 1000000) % 1000000) / 1000000, 'unixepoch')
           || printf('.%06d+00:00', (updated_at % 1000000 + 1000000) % 1000000) AS updated_at
FROM clew.thread
WHERE conversation = 1;

CREATE VIEW clew.messages AS
SELECT entry.uid AS id,
       place.thread_id AS conversation_id,
       place.seq,
       coalesce(entry.role, CASE entry.kind WHEN 1 THEN 'user' WHEN 2 THEN 'assistant'
                                            WHEN 5 THEN 'system' ELSE 'tool' END) AS role,
       entry.content,
       entry.tool_name,
       entry.tool_call_id,
       entry.metadata,
       strftime('%Y-%m-%dT%H:%M:%S', (entry.created_at - (entry.created_at % 1000000 + 1000000) % 1000000) / 1000000, 'unixepoch')
           || printf('.%06d+00:00', (entry.created_at % 1000000 + 1000000) % 1000000) AS created_at,
       place.owner AS user_id
FROM clew.place
JOIN clew.entry ON entry.owner = place.owner AND entry.id = place.entry_id
WHERE place.kind BETWEEN 1 AND 5;
