"""The read-only views that show the store to a person: `conversations` and `messages`."""

from __future__ import annotations

import clew
from clew.db.database import Database, Row
from tests.contract.manifest import promise


async def rows(database: Database, sql: str) -> list[Row]:
    return await database.read(lambda tx: tx.all(sql))


@promise("join.views")
async def test_conversations_are_shown_with_the_columns_of_000(database: Database, memory: clew.Memory) -> None:
    made = await memory.create_conversation(user_id="alice", title="Plans")
    [row] = await rows(database, "SELECT id, user_id, title, created_at, updated_at FROM clew.conversations")
    assert list(row) == [made["id"], "alice", "Plans", made["created_at"], made["updated_at"]]


@promise("join.views")
async def test_messages_are_shown_with_the_columns_of_000(database: Database, memory: clew.Memory) -> None:
    made = await memory.create_conversation(user_id="alice")
    recorded = await memory.record_interaction(
        conversation_id=made["id"], user_message="q", assistant_response="a", metadata='{"n": 1}'
    )
    shown = await rows(
        database, "SELECT id, conversation_id, role, content, metadata, created_at FROM clew.messages ORDER BY seq"
    )
    expected = [recorded["user_message"], recorded["assistant_message"]]
    assert [dict(zip(expected[0], row, strict=True)) for row in shown] == expected
