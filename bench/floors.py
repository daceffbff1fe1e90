"""Floors: the same statements with nothing around them.

For SQLite one `apsw` connection carries out what one `record_interaction` carries out, each with a commit of its own
and `synchronous=FULL`; the parameters are made before the clock starts. For PostgreSQL `pgbench` does.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw

from bench.stores import TEXT, USERS, Store
from clew.core.append import Append
from clew.core.drafts import draft_message
from clew.db.database import Params, Row
from clew.db.dialect import for_sqlite
from clew.db.sqlite_connection import bind, drive, new_connection, open_reader, settle
from clew.memory import log, owners, threads
from tests.support.postgres import Postgres, pgbench

Statement = tuple[str, Sequence[Params]]


class Rehearsal:
    """A transaction that touches nothing: it notes each statement, and answers from rows read before.

    An append that is carried out in it leaves behind the statements that the real one would send.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._owners = {row[0]: row for row in connection.execute(f"SELECT {owners.COLUMNS} FROM owner")}
        self._threads = {row[:2]: row for row in connection.execute(f"SELECT {threads.COLUMNS} FROM thread")}
        self.statements: list[Statement] = []

    async def all(self, sql: str, *params: Any) -> list[Row]:
        self.statements.append((for_sqlite(sql), [bind(params)]))
        return [self._owners[owner] for owner in params[0]]

    async def many(self, sql: str, batch: Iterable[Params]) -> list[Row]:
        rows = [tuple(row) for row in batch]
        if rows:
            self.statements.append((for_sqlite(sql), rows))
        if "FROM clew.thread" in sql:
            return [self._threads[row] for row in rows]
        if "UPDATE clew.thread" in sql:
            for owner, id, title, updated_at, next_seq, version, clock, by_user, by_agent in rows:
                created_at = self._threads[owner, id][3]
                self._threads[owner, id] = (
                    owner, id, title, created_at, updated_at, next_seq, version, clock, by_user, by_agent
                )  # fmt: skip
        if "UPDATE clew.owner" in sql:
            self._owners.update({row[0]: row for row in rows})
        return []

    async def one(self, sql: str, *params: Any) -> Row | None:
        raise AssertionError("an append asks for no single row")

    async def run(self, sql: str, *params: Any) -> int:
        raise AssertionError("an append carries out no single statement")


def interaction(owner: str, thread_id: str) -> Append:
    """What `record_interaction` appends."""
    drafts = [draft_message("user", TEXT), draft_message("assistant", TEXT)]
    return Append(owner, thread_id, drafts, time.time_ns() // 1000)


def sqlite_writes(path: Path, store: Store, count: int, chance: random.Random) -> float:
    """Interactions a second of one connection that commits each."""
    connection = new_connection(str(path))
    settle(connection)
    rehearsal = Rehearsal(connection)
    prepared: list[list[Statement]] = []
    for _ in range(count):
        drive(log.append(rehearsal, [interaction(*store.any(chance))]))
        prepared.append(rehearsal.statements)
        rehearsal.statements = []
    began = time.perf_counter()
    for statements in prepared:
        connection.execute("BEGIN IMMEDIATE")
        for sql, rows in statements:
            if len(rows) == 1:
                connection.execute(sql, rows[0]).fetchall()
            else:
                connection.executemany(sql, rows).fetchall()
        connection.execute("COMMIT")
    elapsed = time.perf_counter() - began
    connection.close()
    return count / elapsed


def sqlite_reads(path: Path, store: Store, count: int, chance: random.Random) -> float:
    """Histories of ten a second of a bare loop over one connection."""
    connection = open_reader(str(path))
    thread = for_sqlite(f"SELECT {threads.COLUMNS} FROM clew.thread WHERE owner = $1 AND id = $2 AND conversation = 1")
    keys = [store.any(chance) for _ in range(count)]
    began = time.perf_counter()
    for key in keys:
        connection.execute(thread, key).fetchall()
        connection.execute(for_sqlite(log.RECENT), (*key, 10)).fetchall()
    elapsed = time.perf_counter() - began
    connection.close()
    return count / elapsed


def postgres_writes(server: Postgres, store: Store, seconds: int) -> float:
    """Interactions a second of pgbench with 16 connections: the statements one by one, prepared."""
    script = Path(server.directory) / "interaction.sql"
    script.write_text(PGBENCH.replace("CONVERSATIONS", str(len(store.conversations) - 1)))
    return pgbench(server, script, seconds=seconds, database=store.name)["tps"]


OWNER, THREAD = f"('user-' || (:n % {USERS}))", "('00000000-0000-7000-8000-' || lpad(:n::text, 12, '0'))"
PGBENCH = f"""
\\set n random(0, CONVERSATIONS)
BEGIN;
SELECT {owners.COLUMNS} FROM clew.owner WHERE id = {OWNER} FOR UPDATE \\gset o_
SELECT {" ".join(threads.COLUMNS.split())} FROM clew.thread WHERE owner = {OWNER} AND id = {THREAD} \\gset t_
INSERT INTO clew.entry (owner, id, uid, thread_id, kind, role, token_count, estimate, created_at, updated_at, content)
VALUES ({OWNER}, :o_next_id, gen_random_uuid()::text, {THREAD}, 1, 'user', 125, 'utf8/4', 1, 1, '{TEXT}');
INSERT INTO clew.entry (owner, id, uid, thread_id, kind, role, token_count, estimate, created_at, updated_at, content)
VALUES ({OWNER}, :o_next_id + 1, gen_random_uuid()::text, {THREAD}, 2, 'assistant', 125, 'utf8/4', 1, 1, '{TEXT}');
INSERT INTO clew.place (owner, thread_id, seq, entry_id, kind, token_count, created_at, shown)
VALUES ({OWNER}, {THREAD}, :t_next_seq, :o_next_id, 1, 129, 1, 1);
INSERT INTO clew.place (owner, thread_id, seq, entry_id, kind, token_count, created_at, shown)
VALUES ({OWNER}, {THREAD}, :t_next_seq + 1, :o_next_id + 1, 2, 129, 1, 1);
INSERT INTO clew.pending (owner, entry_id, size, vectors) VALUES ({OWNER}, :o_next_id, 500, 1);
INSERT INTO clew.pending (owner, entry_id, size, vectors) VALUES ({OWNER}, :o_next_id + 1, 500, 1);
UPDATE clew.thread SET title = NULL, updated_at = :t_updated_at::bigint + 1, next_seq = :t_next_seq + 2,
       version = :t_version + 1, token_clock = :t_token_clock + 258, user_entries = :t_user_entries + 1,
       agent_entries = :t_agent_entries + 1
WHERE owner = {OWNER} AND id = {THREAD};
UPDATE clew.owner SET next_id = :o_next_id + 2, entries = :o_entries + 2, bytes = :o_bytes::bigint + 1000
WHERE id = {OWNER};
COMMIT;
"""
