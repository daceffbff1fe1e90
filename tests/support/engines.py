"""What the tests of the engines are made of: operations over `clew.owner`, ways to call them, ways to hold them up.

A row of `clew.owner` needs nothing else to be there, so these operations need no domain.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from clew.db.database import Database, Operation, Transaction, UniqueViolation
from clew.db.engines import open_database
from clew.errors import ClewError, Conflict

INSERT = "INSERT INTO clew.owner (id) VALUES ($1)"
RETURNING = INSERT + " RETURNING id"
NAMES = "SELECT id FROM clew.owner ORDER BY id"
POOL = 5  # of the `database` fixture
LONGEST_WAIT = 30.0  # what hangs fails after this many seconds

Add = Callable[[Database, str], Coroutine[Any, Any, Any]]
Run = Callable[[Database, Operation[Any]], Awaitable[Any]]


async def insert(tx: Transaction, names: list[str]) -> list[str | ClewError]:
    """A batch operation: add owners, all in one statement."""
    try:
        await tx.many(INSERT, [(name,) for name in names])
    except UniqueViolation:
        raise Conflict("taken") from None
    return list(names)


async def names_in(tx: Transaction) -> list[str]:
    return [name for (name,) in await tx.all(NAMES)]


async def add(database: Database, name: str) -> None:
    await database.write(lambda tx: tx.run(INSERT, name))


async def add_together(database: Database, name: str) -> None:
    await database.write_together(insert, name)


class Brake:
    """Stops an operation where it stands, on either engine."""

    def __init__(self, engine: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._blocks = engine == "sqlite"  # a thread drives it there, so a wait must not suspend
        self._released = asyncio.Event()
        self._released_thread = threading.Event()
        self.reached = asyncio.Event()

    async def hold(self) -> None:
        """For operations: say so, and go on only when released."""
        self._loop.call_soon_threadsafe(self.reached.set)
        if self._blocks:
            assert self._released_thread.wait(LONGEST_WAIT)
        else:
            await asyncio.wait_for(self._released.wait(), LONGEST_WAIT)

    def release(self) -> None:
        self._released.set()
        self._released_thread.set()


@asynccontextmanager
async def one_writer_held(database: Database, engine: str) -> AsyncIterator[None]:
    brake = Brake(engine)
    call = asyncio.create_task(database.write(lambda tx: brake.hold()))
    try:
        await asyncio.wait_for(brake.reached.wait(), LONGEST_WAIT)
        yield
    finally:
        brake.release()
        await call


async def in_one_group(database: Database, engine: str, *calls: Coroutine[Any, Any, Any]) -> list[Any]:
    """Start these calls while no write can begin; their answers or errors."""
    async with writers_held(database, engine):
        tasks = [asyncio.create_task(call) for call in calls]
    return await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def writers_held(database: Database, engine: str) -> AsyncIterator[None]:
    """Every write that comes while this lasts has to queue up."""
    async with AsyncExitStack() as held:
        for _ in range(1 if engine == "sqlite" else POOL):
            await held.enter_async_context(one_writer_held(database, engine))
        yield
        await queued_up()


async def queued_up() -> None:
    """Let the tasks that were just made get as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


def elsewhere(url: str, operation: Operation[Any]) -> None:
    """Write over a connection of its own, in a thread of its own, while the caller stands still."""
    failures: list[BaseException] = []

    async def write() -> None:
        async with opened(url) as database:
            await database.write(operation)

    def run() -> None:
        try:
            asyncio.run(write())
        except BaseException as error:  # handed to the test
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(LONGEST_WAIT)
    assert not failures
    assert not thread.is_alive()


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    """A store that is open for a while."""
    database = await open_database(url, pool=2, wait=10)
    try:
        yield database
    finally:
        await database.close()


async def stored(url: str) -> list[str]:
    """The owners that a newly opened database shows."""
    async with opened(url) as database:
        return await database.read(names_in)


async def short_read(database: Database, operation: Operation[Any]) -> Any:
    return await database.read(operation, short=True)


async def read(database: Database, operation: Operation[Any]) -> Any:
    return await database.read(operation)


async def write(database: Database, operation: Operation[Any]) -> Any:
    return await database.write(operation)


async def write_together(database: Database, operation: Operation[Any]) -> Any:
    async def batch(tx: Transaction, items: list[int]) -> list[Any]:
        return [await operation(tx) for _ in items]

    return await database.write_together(batch, 1)


EVERY_WAY: list[Run] = [read, short_read, write, write_together]
