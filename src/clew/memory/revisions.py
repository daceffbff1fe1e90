"""Edits: the latest text is what histories show, the earlier ones are kept."""

from __future__ import annotations

from typing import Final

from clew.core.drafts import Text
from clew.core.model import Entry, Revision
from clew.core.requests import Request
from clew.core.tokens import ESTIMATE, utf8_size, weight
from clew.db.database import Transaction
from clew.memory import log, owners, requests
from clew.scope import Scope

KEEP: Final = """
    INSERT INTO clew.revision (owner, entry_id, n, replaced_at, content)
    SELECT owner, id, 1 + (SELECT count(*) FROM clew.revision WHERE owner = $1 AND entry_id = $2), $3, content
    FROM clew.entry WHERE owner = $1 AND id = $2
"""


async def edit_message(tx: Transaction, scope: Scope, uid: str, text: Text, now: int, request: Request | None) -> Entry:
    """Give a message another text. Its conversations and every index follow; its place and its time of birth stay."""
    await owners.lock(tx, scope)
    repeated = await requests.recall(tx, scope, request) is not None
    entry = await log.find_message(tx, scope, uid)
    if repeated:
        return entry
    now = max(now, entry.updated_at)
    if text.content != entry.content:
        await tx.run(KEEP, scope.owner, entry.id, now)
        await _replace(tx, scope, entry, text)
    await _touch(tx, scope, entry, now)
    await requests.remember(tx, scope, request, [uid], now)
    return await log.find_message(tx, scope, uid)


async def of_message(tx: Transaction, scope: Scope, uid: str) -> list[Revision]:
    """The earlier texts of a message, oldest first."""
    entry = await log.find_message(tx, scope, uid)
    rows = await tx.all(
        "SELECT n, content, replaced_at FROM clew.revision WHERE owner = $1 AND entry_id = $2 ORDER BY n",
        scope.owner,
        entry.id,
    )
    written = [entry.created_at, *(replaced_at for _, _, replaced_at in rows)]
    return [Revision(n, content, at) for (n, content, _), at in zip(rows, written, strict=False)]


async def _replace(tx: Transaction, scope: Scope, entry: Entry, text: Text) -> None:
    """Put the new text in place of the old one, with everything that is derived from it."""
    await tx.run(
        """
        UPDATE clew.entry SET content = $3, parts = NULL, summary = NULL, token_count = $4, estimate = $5
        WHERE owner = $1 AND id = $2
        """,
        scope.owner,
        entry.id,
        text.content,
        text.tokens,
        ESTIMATE,
    )
    await tx.run(
        "UPDATE clew.place SET token_count = $3, shown = 1 WHERE owner = $1 AND entry_id = $2",
        scope.owner,
        entry.id,
        weight(entry.kind, text.tokens),
    )
    await tx.run(
        "UPDATE clew.owner SET bytes = bytes + $2 WHERE id = $1",
        scope.owner,
        text.size - utf8_size(entry.content or ""),
    )
    await tx.run(
        """
        INSERT INTO clew.pending (owner, entry_id, size) VALUES ($1, $2, $3)
        ON CONFLICT (owner, entry_id) DO UPDATE
        SET size = excluded.size, words = 1, vectors = 1, tries = 0, next_try = 0
        """,
        scope.owner,
        entry.id,
        text.size,
    )


async def _touch(tx: Transaction, scope: Scope, entry: Entry, now: int) -> None:
    """The message and every conversation that holds it were changed at this time."""
    await tx.run("UPDATE clew.entry SET updated_at = $3 WHERE owner = $1 AND id = $2", scope.owner, entry.id, now)
    await tx.run(
        """
        UPDATE clew.thread SET version = version + 1,
               updated_at = CASE WHEN updated_at < $3 THEN $3 ELSE updated_at END
        WHERE owner = $1
          AND id IN (SELECT thread_id FROM clew.place WHERE owner = $1 AND entry_id = $2)
        """,
        scope.owner,
        entry.id,
        now,
    )
