"""Retry safety: what a request id was answered with, so that a repeat gets the first answer and writes nothing.

A row holds a digest of the call and the ids that its answer is made of, never content: a repeated answer is made again
from what stands there now.
"""

from __future__ import annotations

import msgspec

from clew.core.requests import Answered, Request, RequestKey, check_request
from clew.db.database import Transaction
from clew.scope import Scope


async def recall(tx: Transaction, scope: Scope, request: Request | None) -> list[str] | None:
    """The uids that this request was answered with, or None where it is new."""
    if request is None:
        return None
    row = await tx.one(
        "SELECT digest, uids FROM clew.request WHERE owner = $1 AND scope = $2 AND request_id = $3",
        scope.owner,
        request.within,
        request.id,
    )
    if row is None:
        return None
    answered = Answered(bytes(row[0]), _uids(row[1]))
    check_request(request, answered)
    return answered.uids


async def remember(tx: Transaction, scope: Scope, request: Request | None, uids: list[str], now: int) -> None:
    """Keep what this request was answered with."""
    if request is not None:
        key = (scope.owner, request.within, request.id)
        await remember_all(tx, [(key, Answered(request.digest, uids), now)])


async def recall_all(tx: Transaction, keys: list[RequestKey]) -> dict[RequestKey, Answered]:
    """Those of these requests that were answered before."""
    rows = await tx.many(
        """
        SELECT owner, scope, request_id, digest, uids FROM clew.request
        WHERE owner = $1 AND scope = $2 AND request_id = $3
        """,
        keys,
    )
    return {(owner, scope, id): Answered(bytes(digest), _uids(uids)) for owner, scope, id, digest, uids in rows}


async def remember_all(tx: Transaction, answers: list[tuple[RequestKey, Answered, int]]) -> None:
    """Keep what these requests were answered with."""
    await tx.many(
        """
        INSERT INTO clew.request (owner, scope, request_id, digest, answered_at, uids)
        VALUES ($1, $2, $3, $4, $5, $6)
        """,
        [(*key, answered.digest, now, msgspec.json.encode(answered.uids).decode()) for key, answered, now in answers],
    )


def _uids(text: str) -> list[str]:
    return msgspec.json.decode(text, type=list[str])
