"""What every operation may rely on, on both engines: the traps of the storage design, each a named test."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clew.db.database import Database, NotDriven, Operation, Transaction, UniqueViolation
from clew.errors import BadValue, ClewError, Conflict, Unavailable
from tests.support.engines import (
    EVERY_WAY,
    INSERT,
    LONGEST_WAIT,
    RETURNING,
    Add,
    Brake,
    Run,
    add,
    add_together,
    in_one_group,
    insert,
    names_in,
    queued_up,
    stored,
    writers_held,
)
from tests.support.stores import sqlite_url

WAYS_TO_WRITE = pytest.mark.parametrize("way", [add, add_together], ids=["write", "write_together"])


@WAYS_TO_WRITE
async def test_a_write_whose_caller_gives_up_before_it_begins_never_happens(
    database: Database, engine: str, way: Add
) -> None:
    async with writers_held(database, engine):
        call = asyncio.create_task(way(database, "given up"))
        await queued_up()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    await way(database, "after")
    assert await database.read(names_in) == ["after"]


@WAYS_TO_WRITE
async def test_a_write_that_is_given_up_while_it_waits_leaves_the_others_alone(
    database: Database, engine: str, way: Add
) -> None:
    async with writers_held(database, engine):
        calls = [asyncio.create_task(way(database, name)) for name in ("a", "b", "c")]
        await queued_up()
        calls[1].cancel()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(outcomes[1], asyncio.CancelledError)
    assert await database.read(names_in) == ["a", "c"]


async def test_a_write_that_has_begun_is_stored_though_its_caller_gives_up(
    database: Database, url: str, engine: str
) -> None:
    brake = Brake(engine)

    async def slow(tx: Transaction) -> None:
        await tx.run(INSERT, "kept")
        await brake.hold()

    call = asyncio.create_task(database.write(slow))
    await give_up(call, brake)
    await database.close()
    assert await stored(url) == ["kept"]


async def test_an_append_that_has_begun_is_stored_though_its_caller_gives_up(
    database: Database, url: str, engine: str
) -> None:
    brake = Brake(engine)

    async def slow(tx: Transaction, items: list[str]) -> list[str | ClewError]:
        outcomes = await insert(tx, items)
        await brake.hold()
        return outcomes

    call = asyncio.create_task(database.write_together(slow, "kept"))
    await give_up(call, brake)
    await database.close()
    assert await stored(url) == ["kept"]


async def give_up(call: asyncio.Task[Any], brake: Brake) -> None:
    """Cancel a call in the middle of its operation, and only then let that go on."""
    await asyncio.wait_for(brake.reached.wait(), LONGEST_WAIT)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    brake.release()


async def test_reads_that_are_given_up_leave_the_engine_usable(database: Database, engine: str) -> None:
    brakes = [Brake(engine) for _ in range(3)]
    calls = [asyncio.create_task(database.read(lambda tx, b=brake: b.hold())) for brake in brakes]  # type: ignore[misc]
    for call, brake in zip(calls, brakes, strict=True):
        await give_up(call, brake)
    await add(database, "after")
    assert await database.read(names_in) == ["after"]


async def awaits_a_turn_of_the_loop(tx: Transaction) -> None:
    await tx.run(INSERT, "half")
    await asyncio.sleep(0)


async def test_a_real_await_inside_a_write_is_refused(sqlite: Database) -> None:
    with pytest.raises(NotDriven):
        await sqlite.write(awaits_a_turn_of_the_loop)
    await add(sqlite, "after")
    assert await sqlite.read(names_in) == ["after"]


async def test_a_real_await_in_one_write_does_not_hurt_the_others_of_its_group(sqlite: Database) -> None:
    future = asyncio.get_running_loop().create_future()

    async def awaits_a_future(tx: Transaction) -> None:
        await tx.run(INSERT, "half")
        await future

    outcomes = await in_one_group(sqlite, "sqlite", add(sqlite, "a"), sqlite.write(awaits_a_future), add(sqlite, "b"))
    assert [type(outcome) for outcome in outcomes] == [type(None), NotDriven, type(None)]
    assert await sqlite.read(names_in) == ["a", "b"]


@pytest.mark.parametrize("short", [True, False])
async def test_a_real_await_inside_a_read_is_refused(sqlite: Database, short: bool) -> None:
    async def sleepy(tx: Transaction) -> None:
        await tx.one("SELECT 1")
        await asyncio.sleep(0)

    await add(sqlite, "before")
    with pytest.raises(NotDriven):
        await sqlite.read(sleepy, short=short)
    assert await sqlite.read(names_in, short=short) == ["before"]


@pytest.mark.parametrize("outer", EVERY_WAY)
async def test_an_operation_inside_an_operation_is_refused_and_not_a_deadlock(database: Database, outer: Run) -> None:
    for inner in EVERY_WAY:

        async def nested(tx: Transaction, inner: Run = inner) -> Any:
            return await inner(database, names_in)

        with pytest.raises(NotDriven):
            await asyncio.wait_for(outer(database, nested), LONGEST_WAIT)
        await add(database, f"after {inner.__name__}")
    assert len(await database.read(names_in)) == len(EVERY_WAY)


async def test_a_write_that_fails_leaves_nothing_and_the_others_of_its_group_are_stored(
    database: Database, engine: str
) -> None:
    async def changes_its_mind(tx: Transaction) -> None:
        await tx.run(INSERT, "half")
        raise BadValue("no")

    outcomes = await in_one_group(
        database, engine, add(database, "a"), database.write(changes_its_mind), add(database, "b")
    )
    assert [type(outcome) for outcome in outcomes] == [type(None), BadValue, type(None)]
    assert await database.read(names_in) == ["a", "b"]


async def rolls_back_at_a_conflict(tx: Transaction) -> None:
    await tx.run("INSERT OR ROLLBACK INTO clew.owner (id) VALUES ($1)", "taken")


async def rolls_back_and_raises(tx: Transaction) -> None:
    await tx.run("ROLLBACK")
    raise Conflict("rolled back")


async def rolls_back_and_keeps_quiet(tx: Transaction) -> None:
    try:
        await rolls_back_at_a_conflict(tx)
    except UniqueViolation:
        return


@pytest.mark.parametrize("bad", [rolls_back_at_a_conflict, rolls_back_and_raises, rolls_back_and_keeps_quiet])
async def test_an_error_that_rolls_back_the_whole_group_loses_nothing_of_the_others(
    sqlite: Database, bad: Operation[None]
) -> None:
    await add(sqlite, "taken")
    first, refused, last = await in_one_group(sqlite, "sqlite", add(sqlite, "a"), sqlite.write(bad), add(sqlite, "b"))
    assert (first, last) == (None, None)
    assert isinstance(refused, Exception)
    assert await sqlite.read(names_in) == ["a", "b", "taken"]


async def exits(tx: Transaction) -> None:
    raise SystemExit("out of the writer's thread")


async def test_an_exception_that_escapes_the_writers_thread_fails_all_waiting_writes(
    sqlite: Database, tmp_path: Path
) -> None:
    waiting = in_one_group(sqlite, "sqlite", add(sqlite, "a"), sqlite.write(exits), add(sqlite, "b"))
    outcomes = await asyncio.wait_for(waiting, LONGEST_WAIT)
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3
    await asyncio.wait_for(sqlite.close(), LONGEST_WAIT)
    assert await stored(sqlite_url(tmp_path)) == []


@pytest.mark.parametrize("way", EVERY_WAY)
async def test_an_exception_that_escapes_the_writers_thread_fails_all_later_calls(
    in_memory: Database, way: Run
) -> None:
    with pytest.raises(Unavailable):
        await asyncio.wait_for(in_memory.write(exits), LONGEST_WAIT)
    with pytest.raises(Unavailable):
        await asyncio.wait_for(way(in_memory, names_in), LONGEST_WAIT)


async def test_an_operation_that_swallows_an_error_and_goes_on_stores_nothing(database: Database) -> None:
    await add(database, "taken")

    async def goes_on(tx: Transaction) -> None:
        await tx.run(INSERT, "before")
        try:
            await tx.run(INSERT, "taken")
        except UniqueViolation:
            await tx.run(INSERT, "instead")

    with pytest.raises(NotDriven):
        await database.write(goes_on)
    assert await database.read(names_in) == ["taken"]


async def test_an_operation_that_swallows_an_error_and_ends_stores_nothing(database: Database) -> None:
    await add(database, "taken")

    async def ends(tx: Transaction) -> None:
        await tx.run(INSERT, "before")
        try:
            await tx.run(INSERT, "taken")
        except UniqueViolation:
            return

    with pytest.raises(NotDriven):
        await database.write(ends)
    assert await database.read(names_in) == ["taken"]


async def test_a_swallowed_error_does_not_hurt_the_others_of_its_group(database: Database, engine: str) -> None:
    await add(database, "taken")

    async def swallows(tx: Transaction) -> None:
        await tx.run(INSERT, "half")
        try:
            await tx.one("SELECT nothing FROM nowhere")
        except Exception:
            return

    outcomes = await in_one_group(database, engine, add(database, "a"), database.write(swallows), add(database, "b"))
    assert [type(outcome) for outcome in outcomes] == [type(None), NotDriven, type(None)]
    assert await database.read(names_in) == ["a", "b", "taken"]


@pytest.mark.parametrize(
    "statement",
    [
        lambda tx: tx.run(INSERT, "taken"),
        lambda tx: tx.one(RETURNING, "taken"),
        lambda tx: tx.all(RETURNING, "taken"),
        lambda tx: tx.many(INSERT, [("new",), ("taken",)]),
    ],
    ids=["run", "one", "all", "many"],
)
async def test_a_key_that_is_taken_is_a_unique_violation_by_every_method(
    database: Database, statement: Operation[Any]
) -> None:
    await add(database, "taken")
    met: list[bool] = []

    async def meets_it(tx: Transaction) -> None:
        try:
            await statement(tx)
        except UniqueViolation:
            met.append(True)
            raise Conflict("taken") from None

    with pytest.raises(Conflict):
        await database.write(meets_it)
    assert met
    assert await database.read(names_in) == ["taken"]


BROKEN = ("SELECT nothing FROM clew.nowhere", "INSERT INTO clew.owner (id) VALUES (NULL)", "SELEKT")
THEIR_WORDS = ("sql", "syntax", "nowhere", "relation", "table", "column", "constraint", "null", "selekt")


@pytest.mark.parametrize("way", EVERY_WAY)
async def test_the_databases_own_wording_never_comes_out(database: Database, way: Run) -> None:
    for sql in BROKEN:
        with pytest.raises(Unavailable) as refused:
            await way(database, lambda tx, sql=sql: tx.all(sql))  # type: ignore[misc]
        assert not [word for word in THEIR_WORDS if word in str(refused.value).lower()]


async def test_a_database_in_memory_shows_every_reader_what_was_written(in_memory: Database) -> None:
    await asyncio.gather(*[add(in_memory, str(n)) for n in range(10)])
    found = await asyncio.gather(*[in_memory.read(names_in, short=short) for short in (True, False) * 5])
    assert all(names == [str(n) for n in range(10)] for names in found)


async def test_databases_in_memory_are_strangers(in_memory: Database) -> None:
    await add(in_memory, "mine")
    assert await stored("sqlite:///:memory:") == []
