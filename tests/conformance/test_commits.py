"""Who shares a commit with whom, when an answer comes, who waits for whom, and how it ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path

import apsw
import asyncpg
import pytest

from clew.db.database import Database, Transaction
from clew.db.engines import open_database, sqlite_path
from clew.errors import BadValue, ClewError, Conflict, Unavailable
from clew.memory import owners
from clew.scope import Scope
from tests.support.engines import (
    EVERY_WAY,
    INSERT,
    LONGEST_WAIT,
    Add,
    Run,
    add,
    add_together,
    in_one_group,
    insert,
    names_in,
    opened,
    queued_up,
    stored,
    writers_held,
)
from tests.support.stores import sqlite_url

WAYS_TO_WRITE = pytest.mark.parametrize("way", [add, add_together], ids=["write", "write_together"])


async def test_a_refusal_of_one_in_a_batch_does_not_hurt_the_others(database: Database, engine: str) -> None:
    async def picky(tx: Transaction, names: list[str]) -> list[str | ClewError]:
        good = [name for name in names if name != "bad"]
        await insert(tx, good)
        return [name if name != "bad" else BadValue("no bad ones") for name in names]

    calls = [database.write_together(picky, name) for name in ("a", "bad", "b")]
    outcomes = await in_one_group(database, engine, *calls)
    assert [type(outcome) for outcome in outcomes] == [str, BadValue, str]
    assert await database.read(names_in) == ["a", "b"]


async def test_a_batch_that_fails_whole_is_run_again_one_by_one(database: Database, engine: str) -> None:
    await add(database, "taken")
    calls = [database.write_together(insert, name) for name in ("a", "taken", "b")]
    outcomes = await in_one_group(database, engine, *calls)
    assert [type(outcome) for outcome in outcomes] == [str, Conflict, str]
    assert await database.read(names_in) == ["a", "b", "taken"]


async def test_every_caller_of_a_batch_gets_its_own_answer(database: Database) -> None:
    wanted = [f"{n:03}" for n in range(100)]
    answers = await asyncio.gather(*[database.write_together(insert, name) for name in wanted])
    assert answers == wanted


async def test_a_batch_operation_that_forgets_a_caller_is_an_error_and_not_a_wait_without_end(
    database: Database,
) -> None:
    async def forgetful(tx: Transaction, names: list[str]) -> list[str | ClewError]:
        return []

    call = asyncio.create_task(database.write_together(forgetful, "a"))
    done, _ = await asyncio.wait([call], timeout=3)
    assert done and isinstance(call.exception(), Exception)
    assert await database.write_together(insert, "after") == "after"


@WAYS_TO_WRITE
async def test_more_writes_than_a_group_holds_are_all_stored(database: Database, engine: str, way: Add) -> None:
    wanted = [f"{n:03}" for n in range(600)]
    outcomes = await in_one_group(database, engine, *[way(database, name) for name in wanted])
    assert outcomes == [None] * len(wanted)
    assert await database.read(names_in) == wanted


@pytest.mark.postgres
async def test_appends_that_wait_share_a_transaction_on_postgresql(postgres: Database) -> None:
    sizes: list[int] = []

    async def counted(tx: Transaction, names: list[str]) -> list[str | ClewError]:
        sizes.append(len(names))
        return await insert(tx, names)

    await asyncio.gather(*[postgres.write_together(counted, str(n)) for n in range(64)])
    assert sum(sizes) == 64
    assert len(sizes) <= 16


async def commits(database: Database, url: str, engine: str) -> int:
    """How many commits have written the rows that are there."""
    if engine == "sqlite":
        return commits_in(Path(sqlite_path(url) + "-wal"))
    [row] = await database.read(lambda tx: tx.all("SELECT count(DISTINCT xmin::text) FROM clew.owner"))
    return int(row[0])


def commits_in(wal: Path) -> int:
    """The commits in a write-ahead log: its frames of the present round that give the size of the database."""
    log = wal.read_bytes()
    page, salt = int.from_bytes(log[8:12], "big"), log[16:24]
    frames = [log[at : at + 24] for at in range(32, len(log), 24 + page)]
    return sum(frame[8:16] == salt and frame[4:8] != bytes(4) for frame in frames)


async def test_concurrent_writes_share_commits(database: Database, url: str, engine: str) -> None:
    before = await commits(database, url, engine)
    await asyncio.gather(*[add_together(database, str(n)) for n in range(64)])
    assert 1 <= await commits(database, url, engine) - before <= 32


async def test_writes_one_after_the_other_have_a_commit_each(database: Database, url: str, engine: str) -> None:
    before = await commits(database, url, engine)
    for n in range(8):
        await add_together(database, str(n))
    assert await commits(database, url, engine) - before == 8


@WAYS_TO_WRITE
async def test_an_answer_comes_after_its_commit(database: Database, other: Database, way: Add) -> None:
    async def add_and_look(name: str) -> bool:
        await way(database, name)
        return name in await other.read(names_in, short=True)

    seen = await asyncio.gather(*[add_and_look(str(n)) for n in range(40)])
    assert all(seen)


async def test_concurrent_rules_that_read_before_they_write_lose_nothing(database: Database, other: Database) -> None:
    scope = Scope("alice")

    async def increment(tx: Transaction) -> None:
        await owners.lock(tx, scope)
        row = await tx.one("SELECT next_task FROM clew.owner WHERE id = $1", scope.owner)
        assert row is not None
        await tx.run("UPDATE clew.owner SET next_task = $2 WHERE id = $1", scope.owner, row[0] + 1)

    await asyncio.gather(*[opened.write(increment) for opened in [database, other] * 25])
    row = await database.read(lambda tx: tx.one("SELECT next_task FROM clew.owner WHERE id = $1", scope.owner))
    assert row is not None
    assert row[0] == 1 + 50


async def test_writes_that_lock_the_same_owners_in_any_order_all_pass(database: Database, other: Database) -> None:
    everyone = ["a", "b", "c"]
    await database.write(lambda tx: tx.many(INSERT, [(name,) for name in everyone]))

    async def bump(tx: Transaction, names: list[str]) -> None:
        counters = await owners.lock_all(tx, names)
        for name in names:
            await tx.run("UPDATE clew.owner SET next_id = $2 WHERE id = $1", name, counters[name].next_id + 1)

    orders = [everyone, everyone[::-1], ["b", "a", "c"]] * 10
    await asyncio.gather(
        *[opened.write(partial(bump, names=names)) for opened in (database, other) for names in orders]
    )
    rows = await database.read(lambda tx: tx.all("SELECT next_id FROM clew.owner"))
    assert [next_id for (next_id,) in rows] == [1 + 60] * 3


@pytest.mark.postgres
async def test_writes_that_wait_for_each_other_in_a_circle_are_run_again(postgres: Database) -> None:
    await postgres.write(lambda tx: tx.many(INSERT, [("a",), ("b",)]))
    both_hold_one = asyncio.Barrier(2)
    runs: list[str] = []

    async def bump(tx: Transaction, first: str, second: str) -> None:
        update = "UPDATE clew.owner SET next_id = next_id + 1 WHERE id = $1"
        await tx.run(update, first)
        runs.append(first)
        if runs.count(first) == 1:
            await both_hold_one.wait()
        await tx.run(update, second)

    await asyncio.gather(
        postgres.write(partial(bump, first="a", second="b")), postgres.write(partial(bump, first="b", second="a"))
    )
    rows = await postgres.read(lambda tx: tx.all("SELECT next_id FROM clew.owner"))
    assert [next_id for (next_id,) in rows] == [3, 3]
    assert len(runs) >= 3  # one of them, at least once more


@pytest.mark.parametrize("sqlite_waits_ms", [10_000, 1], ids=["SQLite waits", "we wait"])
async def test_a_write_waits_for_another_process_that_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sqlite_waits_ms: int
) -> None:
    monkeypatch.setattr("clew.db.sqlite_connection.BUSY_MS", sqlite_waits_ms)
    async with opened(sqlite_url(tmp_path)) as database:
        stranger = apsw.Connection(str(tmp_path / "clew.db"))
        try:
            stranger.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(add(database, "patient"))
            assert await asyncio.wait_for(database.read(names_in), LONGEST_WAIT) == []
            await asyncio.sleep(0.2)
            assert not waiting.done()
            stranger.execute("COMMIT")
            await asyncio.wait_for(waiting, LONGEST_WAIT)
        finally:
            stranger.close()
        assert await database.read(names_in) == ["patient"]


async def test_a_write_that_waited_too_long_says_that_the_database_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.db.sqlite_connection.BUSY_MS", 20)
    monkeypatch.setattr("clew.db.sqlite_connection.PATIENCE", 0.1)
    database = await open_database(sqlite_url(tmp_path), pool=1, wait=1)
    stranger = apsw.Connection(str(tmp_path / "clew.db"))
    try:
        stranger.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="busy"):
            await asyncio.wait_for(add(database, "impatient"), LONGEST_WAIT)
        stranger.execute("ROLLBACK")
        await add(database, "after")
        assert await database.read(names_in) == ["after"]
    finally:
        stranger.close()
        await database.close()


@pytest.mark.parametrize("way", EVERY_WAY)
async def test_a_closed_database_answers_that_it_is_unavailable(database: Database, way: Run) -> None:
    await database.close()
    with pytest.raises(Unavailable):
        await asyncio.wait_for(way(database, names_in), LONGEST_WAIT)


async def test_closing_twice_is_as_good_as_once(database: Database) -> None:
    await database.close()
    await database.close()


@WAYS_TO_WRITE
async def test_closing_finishes_what_has_begun_and_refuses_or_stores_the_rest(
    database: Database, url: str, engine: str, way: Add
) -> None:
    wanted = [str(n) for n in range(40)]
    async with writers_held(database, engine):
        calls = [asyncio.create_task(way(database, name)) for name in wanted]
        await queued_up()
        closing = asyncio.create_task(database.close())
        await asyncio.sleep(0.05)
    await asyncio.wait_for(closing, LONGEST_WAIT)
    outcomes = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), LONGEST_WAIT)
    answered = [name for name, outcome in zip(wanted, outcomes, strict=True) if not isinstance(outcome, Exception)]
    assert all(outcome is None or isinstance(outcome, Unavailable) for outcome in outcomes)
    assert sorted(answered) == await stored(url)


@pytest.mark.postgres
async def test_a_connection_that_is_cut_in_a_write_is_unavailable_and_the_next_call_works(
    postgres: Database, postgres_url: str
) -> None:
    async def cut_off(tx: Transaction, turns: int) -> None:
        await tx.run(INSERT, "half")
        row = await tx.one("SELECT pg_backend_pid()")
        assert row is not None
        await end_connection(postgres_url, row[0])
        for _ in range(turns):  # how much of its end the driver has noticed
            await asyncio.sleep(0)
        await tx.run(INSERT, "never")

    for turns in range(16):
        with pytest.raises(Unavailable):
            await postgres.write(partial(cut_off, turns=turns))
        await add(postgres, f"after {turns}")
    assert len(await postgres.read(names_in)) == 16


@pytest.mark.postgres
async def test_a_connection_that_was_cut_between_calls_costs_at_most_one_call(postgres_url: str) -> None:
    database = await open_database(postgres_url, pool=1, wait=10)
    try:
        row = await database.read(lambda tx: tx.one("SELECT pg_backend_pid()"))
        assert row is not None
        await end_connection(postgres_url, row[0])
        with suppress(Unavailable):
            await add(database, "perhaps")
        await add(database, "after")
        assert "after" in await database.read(names_in)
    finally:
        await database.close()


async def end_connection(url: str, pid: int) -> None:
    """What an administrator, or a server that goes to sleep, does to a connection."""
    administrator = await asyncpg.connect(url)
    try:
        assert await administrator.fetchval("SELECT pg_terminate_backend($1)", pid)
    finally:
        await administrator.close()
