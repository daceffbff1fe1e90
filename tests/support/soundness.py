"""Whether a store is whole, on either engine: nothing half, nothing missing, nothing twice, every counter right."""

from __future__ import annotations

from itertools import groupby

import apsw

from clew.core.model import Kind
from clew.db.database import Database, Row, Transaction
from clew.db.engines import sqlite_path
from tests.support.scribe import Interaction

ENTRIES = """
    SELECT place.owner, place.thread_id, place.seq, entry.id, entry.kind, entry.uid, entry.content
    FROM clew.place JOIN clew.entry ON entry.owner = place.owner AND entry.id = place.entry_id
    ORDER BY place.owner, place.thread_id, place.seq
"""


async def recorded(database: Database) -> list[Interaction]:
    """Every interaction of a store that is whole and holds nothing else."""
    return await database.read(recorded_in)


async def recorded_in(tx: Transaction) -> list[Interaction]:
    """The same in one snapshot: a server may still carry out what a dead client sent last."""
    rows = await tx.all(ENTRIES)
    await check_counters(tx, rows)
    threads = groupby(rows, key=lambda row: (row[0], row[1]))
    return [one for (_, thread), entries in threads for one in interactions(thread, list(entries))]


async def check_counters(tx: Transaction, rows: list[Row]) -> None:
    """The places of each thread and the ids of each owner run from 1 without a gap, and their counters say so."""
    seqs: dict[tuple[str, str], list[int]] = {}
    ids: dict[str, list[int]] = {}
    for owner, thread, seq, id, *_ in rows:
        seqs.setdefault((owner, thread), []).append(seq)
        ids.setdefault(owner, []).append(id)
    for owner, thread, next_seq in await tx.all("SELECT owner, id, next_seq FROM clew.thread"):
        assert seqs.get((owner, thread), []) == list(range(1, next_seq))
    for owner, next_id, entries in await tx.all("SELECT id, next_id, entries FROM clew.owner"):
        assert sorted(ids.get(owner, [])) == list(range(1, next_id))
        assert entries == next_id - 1
    waiting = await tx.all("SELECT owner, entry_id FROM clew.pending")
    assert sorted(map(tuple, waiting)) == sorted((owner, id) for owner, of_owner in ids.items() for id in of_owner)


def interactions(thread: str, rows: list[Row]) -> list[Interaction]:
    """The interactions of a thread: each a question and the answer to it, side by side."""
    assert [row[4] for row in rows] == [Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE] * (len(rows) // 2)
    found = []
    for asked, answered in zip(rows[::2], rows[1::2], strict=True):
        one = Interaction(thread, asked[5], answered[5], asked[6].removeprefix("asked "))
        assert (asked[6], answered[6]) == (one.asked, one.answered)
        found.append(one)
    return found


def check_file(url: str) -> None:
    """SQLite's own opinion of a store, where it is a file."""
    if not url.startswith("sqlite:"):
        return
    connection = apsw.Connection(sqlite_path(url))
    try:
        assert connection.pragma("integrity_check") == "ok"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    finally:
        connection.close()
