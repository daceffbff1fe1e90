"""The read-only views that carry the names of the seeds' tables, for a person who looks into the store with SQL."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import clew
from clew.core.model import Kind
from clew.core.times import iso, micros
from clew.db.database import Database, Transaction
from clew.errors import Unavailable

CONVERSATION = "id, user_id, title, created_at, updated_at"  # seeds 000 and 002
MESSAGE = "id, conversation_id, role, content, metadata, tool_name, tool_call_id, created_at"
MOMENTS = [
    0,
    1,
    999_999,
    1_000_000,
    1_700_000_000_000_000,
    1_700_000_000_000_001,
    1_700_000_000_123_456,
    micros(datetime(2100, 2, 28, 23, 59, 59, 999_999, tzinfo=UTC)),
]
BEFORE_1970 = [-1, -1_000_000, micros(datetime(1969, 7, 20, 20, 17, 40, 5, tzinfo=UTC))]


async def add_thread(tx: Transaction, owner: str, id: str, at: int = 0, conversation: int = 1) -> None:
    await tx.run("INSERT INTO clew.owner (id) VALUES ($1) ON CONFLICT (id) DO NOTHING", owner)
    await tx.run(
        "INSERT INTO clew.thread (owner, id, created_at, updated_at, conversation) VALUES ($1, $2, $3, $3, $4)",
        owner,
        id,
        at,
        conversation,
    )


async def add_entry(tx: Transaction, thread: str, n: int, kind: Kind, role: str | None, at: int = 0) -> None:
    """Entry `n` of alice, at that place of her thread."""
    await tx.run(
        """
        INSERT INTO clew.entry (owner, id, uid, thread_id, kind, role, token_count, estimate, created_at, updated_at,
                                tool_name, tool_call_id, content)
        VALUES ('alice', $1, $2, $3, $4, $5, 1, 'test', $6, $6, 'add', 'call-1', 'text')
        """,
        n,
        f"entry-{n}",
        thread,
        int(kind),
        role,
        at,
    )
    await tx.run(
        """
        INSERT INTO clew.place (owner, thread_id, seq, entry_id, kind, token_count, created_at, shown)
        VALUES ('alice', $1, $2, $2, $3, 1, $4, 0)
        """,
        thread,
        n,
        int(kind),
        at,
    )


async def rows(database: Database, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in await database.read(lambda tx: tx.all(sql))]


async def test_conversations_shows_what_the_tools_show(memory: clew.Memory, database: Database) -> None:
    made = [await memory.create_conversation(user_id=user, title=f"of {user}") for user in ("alice", "bob")]
    shown = await rows(database, f"SELECT {CONVERSATION} FROM clew.conversations ORDER BY user_id")
    assert shown == [(c["id"], c["user_id"], c["title"], c["created_at"], c["updated_at"]) for c in made]


async def test_conversations_leaves_out_threads_that_are_none(database: Database) -> None:
    await database.write(lambda tx: add_thread(tx, "alice", "a chat"))
    await database.write(lambda tx: add_thread(tx, "alice", "notes only", conversation=0))
    assert await rows(database, "SELECT id FROM clew.conversations") == [("a chat",)]


async def test_messages_shows_what_the_tools_show(memory: clew.Memory, database: Database) -> None:
    made = await memory.create_conversation(user_id="alice")
    await memory.record_interaction(
        conversation_id=made["id"], user_message="question", assistant_response="answer", metadata={"mood": "good"}
    )
    history = await memory.fetch_chat_history(conversation_id=made["id"])
    shown = await rows(database, f"SELECT {MESSAGE} FROM clew.messages ORDER BY seq")
    wanted = [dict.fromkeys(MESSAGE.split(", ")) | m for m in history["messages"]]
    assert shown == [tuple(m[name] for name in MESSAGE.split(", ")) for m in wanted]


async def test_messages_shows_the_latest_text(memory: clew.Memory, database: Database) -> None:
    made = await memory.create_conversation(user_id="alice")
    added = await memory.add_message(conversation_id=made["id"], role="user", content="first")
    await memory.update_message(message_id=added["message_id"], content="second", user_id="alice")
    assert await rows(database, "SELECT content FROM clew.messages") == [("second",)]


async def test_messages_has_all_four_roles_and_neither_meta_nor_context(database: Database) -> None:
    async def add_all(tx: Transaction) -> None:
        await add_thread(tx, "alice", "t")
        for kind in Kind:
            await add_entry(tx, "t", int(kind), kind, None)

    await database.write(add_all)
    assert await rows(database, "SELECT seq, role, tool_name, tool_call_id FROM clew.messages ORDER BY seq") == [
        (1, "user", "add", "call-1"),
        (2, "assistant", "add", "call-1"),
        (3, "tool", "add", "call-1"),
        (4, "tool", "add", "call-1"),
        (5, "system", "add", "call-1"),
    ]


async def test_a_role_that_was_given_is_the_one_that_shows(database: Database) -> None:
    async def add_one(tx: Transaction) -> None:
        await add_thread(tx, "alice", "t")
        await add_entry(tx, "t", 1, Kind.TOOL_CALL, "assistant")

    await database.write(add_one)
    assert await rows(database, "SELECT role FROM clew.messages") == [("assistant",)]


@pytest.mark.parametrize("moments", [MOMENTS, BEFORE_1970], ids=["since 1970", "before 1970"])
async def test_times_are_iso_8601_in_utc_with_six_decimals(database: Database, moments: list[int]) -> None:
    async def add_all(tx: Transaction) -> None:
        for n, moment in enumerate(moments, 1):
            await add_thread(tx, "alice", str(n), moment)
            await add_entry(tx, str(n), n, Kind.USER_MESSAGE, None, moment)

    await database.write(add_all)
    wanted = {iso(moment) for moment in moments}
    assert {at for (at,) in await rows(database, "SELECT created_at FROM clew.messages")} == wanted
    assert {at for (at,) in await rows(database, "SELECT created_at FROM clew.conversations")} == wanted
    assert {at for (at,) in await rows(database, "SELECT updated_at FROM clew.conversations")} == wanted


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO clew.conversations (id, user_id) VALUES ('x', 'alice')",
        "UPDATE clew.conversations SET title = 'changed'",
        "DELETE FROM clew.conversations",
        "INSERT INTO clew.messages (id, content) VALUES ('x', 'y')",
        "UPDATE clew.messages SET content = 'changed'",
        "DELETE FROM clew.messages",
    ],
    ids=lambda sql: " ".join(sql.split()[:3]).replace("INTO ", "").lower(),
)
async def test_views_are_read_only(memory: clew.Memory, database: Database, sql: str) -> None:
    made = await memory.create_conversation(user_id="alice", title="kept")
    await memory.add_message(conversation_id=made["id"], role="user", content="kept")
    with pytest.raises(Unavailable):
        await database.write(lambda tx: tx.run(sql))
    assert await rows(database, "SELECT title FROM clew.conversations") == [("kept",)]
    assert await rows(database, "SELECT content FROM clew.messages") == [("kept",)]
