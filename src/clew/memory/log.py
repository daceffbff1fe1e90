"""The log of a thread: entries added at its end, and read back in order."""

from __future__ import annotations

from typing import Final

from clew.core.append import Append, Placed, Plan, ThreadKey, decide
from clew.core.model import MESSAGES, RANKED, Entry, Kind, Owner, Thread
from clew.core.requests import Answered
from clew.core.tokens import ESTIMATE
from clew.db.database import Params, Row, Transaction, UniqueViolation
from clew.errors import ClewError, Conflict, message_not_found
from clew.memory import owners, requests, threads
from clew.scope import Scope

COLUMNS: Final = """
    entry.id, entry.uid, place.thread_id, place.seq, entry.kind, entry.role, entry.content, entry.metadata,
    entry.created_at, entry.updated_at
"""
PLACED_ENTRIES: Final = "clew.place JOIN clew.entry ON entry.owner = place.owner AND entry.id = place.entry_id"

RECENT: Final = f"""
    SELECT {COLUMNS} FROM {PLACED_ENTRIES}
    WHERE place.owner = $1 AND place.thread_id = $2 AND place.shown = 1
    ORDER BY place.seq DESC LIMIT $3
"""


async def append(tx: Transaction, batch: list[Append]) -> list[list[Entry] | ClewError]:
    """Carry out appends of any owners together: for each its entries as stored, or the reason why it is refused."""
    found_owners = await owners.lock_all(tx, list({a.owner for a in batch}))
    found_threads = await _threads(tx, list({a.thread_key for a in batch}))
    answered = await requests.recall_all(tx, [key for a in batch if (key := a.request_key)])
    plan = decide(batch, found_threads, found_owners, answered)
    if plan.placed:
        await _write(tx, plan)
    return [await _answer(tx, a, outcome) for a, outcome in zip(batch, plan.outcomes, strict=True)]


async def recent(tx: Transaction, scope: Scope, thread_id: str, limit: int) -> tuple[Thread, list[Entry]]:
    """A conversation and its last messages, in order."""
    thread = await threads.get(tx, scope, thread_id)
    rows = await tx.all(RECENT, scope.owner, thread_id, limit)
    return thread, [read_entry(row) for row in reversed(rows)]


async def history(
    tx: Transaction, scope: Scope, thread_id: str, limit: int | None, after: str | None
) -> tuple[Thread, list[Entry], bool]:
    """A conversation and its messages, in order, from behind the message `after`; with whether there are more."""
    thread = await threads.get(tx, scope, thread_id)
    rows = await tx.all(
        f"""
        SELECT {COLUMNS} FROM {PLACED_ENTRIES}
        WHERE place.owner = $1 AND place.thread_id = $2 AND place.shown = 1 AND place.seq > $3
        ORDER BY place.seq LIMIT $4
        """,
        scope.owner,
        thread_id,
        0 if after is None else await _seq(tx, scope, thread_id, after),
        thread.next_seq if limit is None else limit + 1,
    )
    entries = [read_entry(row) for row in rows]
    return thread, entries[:limit], limit is not None and len(entries) > limit


async def find_message(tx: Transaction, scope: Scope, uid: str) -> Entry:
    """A user or assistant message of this owner, in the thread where it was written."""
    [entry] = await _by_uids(tx, scope, [uid])
    if entry.kind not in MESSAGES:
        raise message_not_found(uid)
    return entry


def read_entry(row: Row) -> Entry:
    """A row of `COLUMNS`."""
    id, uid, thread_id, seq, kind, role, content, metadata, created_at, updated_at = row
    return Entry(id, uid, thread_id, seq, Kind(kind), role, content, metadata, created_at, updated_at)


async def _threads(tx: Transaction, keys: list[ThreadKey]) -> dict[ThreadKey, Thread]:
    """Those of these conversations that are there."""
    sql = f"SELECT {threads.COLUMNS} FROM clew.thread WHERE owner = $1 AND id = $2 AND conversation = 1"
    rows = await tx.many(sql, keys)
    found = [threads.read_thread(row) for row in rows]
    return {(thread.owner, thread.id): thread for thread in found}


async def _seq(tx: Transaction, scope: Scope, thread_id: str, uid: str) -> int:
    """The place of an entry in a thread."""
    row = await tx.one(
        """
        SELECT place.seq FROM clew.entry
        JOIN clew.place ON place.owner = entry.owner AND place.entry_id = entry.id
        WHERE entry.owner = $1 AND entry.uid = $2 AND place.thread_id = $3
        """,
        scope.owner,
        uid,
        thread_id,
    )
    if row is None:
        raise message_not_found(uid)
    seq: int = row[0]
    return seq


async def _by_uids(tx: Transaction, scope: Scope, uids: list[str]) -> list[Entry]:
    """The entries with these uids, in this order, each in the thread where it was written."""
    rows = await tx.all(
        f"""
        SELECT {COLUMNS} FROM clew.entry
        JOIN clew.place ON place.owner = entry.owner AND place.entry_id = entry.id
             AND place.thread_id = entry.thread_id
        WHERE entry.owner = $1 AND entry.uid IN $2:text[]
        """,
        scope.owner,
        uids,
    )
    found = {entry.uid: entry for entry in map(read_entry, rows)}
    for uid in uids:
        if uid not in found:
            raise message_not_found(uid)
    return [found[uid] for uid in uids]


async def _answer(
    tx: Transaction, append: Append, outcome: list[Placed] | Answered | ClewError
) -> list[Entry] | ClewError:
    if isinstance(outcome, list):
        return [_stored(placed) for placed in outcome]
    if isinstance(outcome, Answered):
        try:
            return await _by_uids(tx, Scope(append.owner), outcome.uids)
        except ClewError as gone:
            return gone
    return outcome


def _stored(placed: Placed) -> Entry:
    draft, thread_id, now = placed.draft, placed.append.thread_id, placed.append.now
    return Entry(
        id=placed.id,
        uid=draft.uid,
        thread_id=thread_id,
        seq=placed.seq,
        kind=draft.kind,
        role=draft.role,
        content=draft.content,
        metadata=draft.metadata,
        created_at=now,
        updated_at=now,
    )


async def _write(tx: Transaction, plan: Plan) -> None:
    """Write what a batch adds: entries before their places, then the counters of what they belong to."""
    try:
        await tx.many(
            """
            INSERT INTO clew.entry (owner, id, uid, thread_id, kind, role, token_count, estimate, created_at,
                                    updated_at, metadata, content)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11)
            """,
            [_entry_row(placed) for placed in plan.placed],
        )
    except UniqueViolation:
        raise Conflict("An entry with this id is there already: use a new one") from None
    await tx.many(
        """
        INSERT INTO clew.place (owner, thread_id, seq, entry_id, kind, token_count, created_at, shown)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """,
        [_place_row(placed) for placed in plan.placed],
    )
    await tx.many(
        "INSERT INTO clew.pending (owner, entry_id, size, vectors) VALUES ($1, $2, $3, $4)",
        [
            (p.append.owner, p.id, p.draft.size, int(p.draft.kind in RANKED))
            for p in plan.placed
            if p.draft.kind is not Kind.META
        ],
    )
    await tx.many(
        """
        UPDATE clew.thread SET title = $3, updated_at = $4, next_seq = $5, version = $6, token_clock = $7,
               user_entries = $8, agent_entries = $9
        WHERE owner = $1 AND id = $2
        """,
        [_thread_row(thread) for thread in plan.threads],
    )
    await tx.many(
        "UPDATE clew.owner SET next_id = $2, entries = $3, bytes = $4 WHERE id = $1",
        [_owner_row(owner) for owner in plan.owners],
    )
    await requests.remember_all(tx, plan.answered)


def _entry_row(placed: Placed) -> Params:
    draft, append = placed.draft, placed.append
    return (
        append.owner,
        placed.id,
        draft.uid,
        append.thread_id,
        int(draft.kind),
        draft.role,
        draft.token_count,
        ESTIMATE,
        append.now,
        draft.metadata,
        draft.content,
    )


def _place_row(placed: Placed) -> Params:
    draft, append = placed.draft, placed.append
    return (
        append.owner,
        append.thread_id,
        placed.seq,
        placed.id,
        int(draft.kind),
        draft.weight,
        append.now,
        int(draft.shown),
    )


def _thread_row(thread: Thread) -> Params:
    return (
        thread.owner,
        thread.id,
        thread.title,
        thread.updated_at,
        thread.next_seq,
        thread.version,
        thread.token_clock,
        thread.user_entries,
        thread.agent_entries,
    )


def _owner_row(owner: Owner) -> Params:
    return (owner.id, owner.next_id, owner.entries, owner.bytes)
