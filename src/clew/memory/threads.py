"""Threads: made, named, found and listed."""

from __future__ import annotations

from typing import Final

from clew.core.model import Thread
from clew.core.requests import Request
from clew.db.database import Row, Transaction
from clew.errors import conversation_not_found
from clew.memory import owners, requests
from clew.scope import Scope

COLUMNS: Final = """
    owner, id, title, created_at, updated_at, next_seq, version, token_clock, user_entries, agent_entries
"""


async def create(
    tx: Transaction, scope: Scope, thread_id: str, title: str | None, now: int, request: Request | None
) -> Thread:
    """Make a conversation under an id that Clew has minted."""
    await owners.lock(tx, scope)
    repeated = await requests.recall(tx, scope, request)
    if repeated is not None:
        return await get(tx, scope, repeated[0])
    await tx.run(
        """
        INSERT INTO clew.thread (owner, id, created_at, updated_at, minted, conversation, title)
        VALUES ($1, $2, $3, $3, 1, 1, $4)
        """,
        scope.owner,
        thread_id,
        now,
        title,
    )
    await tx.run("UPDATE clew.owner SET conversations = conversations + 1 WHERE id = $1", scope.owner)
    await requests.remember(tx, scope, request, [thread_id], now)
    return await get(tx, scope, thread_id)


async def rename(
    tx: Transaction, scope: Scope, thread_id: str, title: str, now: int, request: Request | None
) -> Thread:
    """Give a conversation another title."""
    await owners.lock(tx, scope)
    if await requests.recall(tx, scope, request) is None:
        thread = await get(tx, scope, thread_id)
        await tx.run(
            """
            UPDATE clew.thread SET title = $3, updated_at = $4, version = version + 1
            WHERE owner = $1 AND id = $2
            """,
            scope.owner,
            thread_id,
            title,
            max(now, thread.updated_at),
        )
        await requests.remember(tx, scope, request, [thread_id], now)
    return await get(tx, scope, thread_id)


async def get(tx: Transaction, scope: Scope, thread_id: str) -> Thread:
    """A conversation of this owner."""
    row = await tx.one(
        f"SELECT {COLUMNS} FROM clew.thread WHERE owner = $1 AND id = $2 AND conversation = 1",
        scope.owner,
        thread_id,
    )
    if row is None:
        raise conversation_not_found(thread_id)
    return read_thread(row)


async def latest(tx: Transaction, scope: Scope, limit: int, offset: int = 0) -> list[Thread]:
    """The conversations of this owner, latest updated first."""
    rows = await tx.all(
        f"""
        SELECT {COLUMNS} FROM clew.thread WHERE owner = $1 AND conversation = 1
        ORDER BY updated_at DESC, id DESC LIMIT $2 OFFSET $3
        """,
        scope.owner,
        limit,
        offset,
    )
    return [read_thread(row) for row in rows]


async def page(tx: Transaction, scope: Scope, limit: int, offset: int) -> tuple[list[Thread], int]:
    """A page of this owner's conversations, and how many there are in all."""
    counted = await tx.one("SELECT conversations FROM clew.owner WHERE id = $1", scope.owner)
    return await latest(tx, scope, limit, offset), counted[0] if counted else 0


async def owner_of(tx: Transaction, scope: Scope, thread_id: str) -> Scope:
    """Whose conversation this is, where nobody said: the scope's own, else the owner of the id that Clew minted.

    The only statement without an owner. It is for trusted callers alone.
    """
    row = await tx.one(
        """
        SELECT owner, 0 AS distance FROM clew.thread WHERE owner = $1 AND id = $2
        UNION ALL SELECT owner, 1 FROM clew.thread WHERE id = $2 AND minted = 1
        ORDER BY distance LIMIT 1
        """,
        scope.owner,
        thread_id,
    )
    return Scope(row[0]) if row else scope


def read_thread(row: Row) -> Thread:
    """A row of `COLUMNS`."""
    return Thread(*row)
