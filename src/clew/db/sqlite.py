"""The embedded engine: one file, one writing thread, readers that never wait for it.

Short reads run at once, on the caller's own thread: an index look-up takes less time than a change of threads. Long
ones go to a small pool. A database in memory has one connection, so there everything takes the writer's way.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import apsw

from clew.db.database import BatchOperation, I, Operation, Transaction, closed, operating, refuse_nested
from clew.db.dialect import SQLITE_WORDS, for_sqlite
from clew.db.migrate import bring_up_to_date
from clew.db.sqlite_connection import (
    MEMORY,
    drive,
    new_connection,
    not_opened,
    open_reader,
    operate,
    patiently,
    settle,
    translated,
)
from clew.db.sqlite_writer import Writer
from clew.errors import ClewError, Misconfigured

T = TypeVar("T")

APPLICATION_ID = int.from_bytes(b"Clew", "big")
READERS = 4


class Sqlite:
    """A SQLite database that is open. Made by `open_sqlite`."""

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self._here: Reader | None = None if path == MEMORY else Reader(path)
        self._pool = None if path == MEMORY else ReaderPool(path)
        self._writer = Writer(connection)
        self._closing: asyncio.Task[None] | None = None

    async def read(self, operation: Operation[T], *, short: bool = False) -> T:
        refuse_nested()
        if self._closing is not None:
            raise closed()
        if self._pool is None or self._here is None:
            return await self._writer.submit(operation, reads=True)
        if short:
            return self._here.run(operation)
        return await self._pool.run(operation)

    async def write(self, operation: Operation[T]) -> T:
        refuse_nested()
        return await self._writer.submit(operation)

    async def write_together(self, operation: BatchOperation[I, T], item: I) -> T:
        """The writer commits in groups anyway, so a batch of one is all that is needed here."""

        async def batch_of_one(transaction: Transaction) -> T:
            [outcome] = await operation(transaction, [item])
            if isinstance(outcome, ClewError):
                raise outcome
            return outcome

        return await self.write(batch_of_one)

    async def close(self) -> None:
        self._closing = self._closing or asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        """The writer goes last: the last connection puts what it wrote into the file, and a reader cannot."""
        if self._here is not None:
            self._here.close()
        if self._pool is not None:
            await asyncio.to_thread(self._pool.close)
        await asyncio.to_thread(self._writer.close)


class Reader:
    """A connection that only reads, used by one thread at a time."""

    def __init__(self, path: str) -> None:
        self._connection = open_reader(path)
        self._lock = threading.Lock()

    def run(self, operation: Operation[T]) -> T:
        """Run an operation over one snapshot, on this thread."""
        with self._lock, operating():
            self._connection.execute("BEGIN")
            try:
                return operate(self._connection, operation)
            except apsw.Error as error:
                raise translated(error) from error
            finally:
                self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


class ReaderPool:
    """A few threads, each with a reader of its own."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._mine = threading.local()
        self._readers: list[Reader] = []
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="clew-reader")

    async def run(self, operation: Operation[T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, operation)

    def close(self) -> None:
        self._threads.shutdown()
        for reader in self._readers:
            reader.close()

    def _run(self, operation: Operation[T]) -> T:
        return self._reader().run(operation)

    def _reader(self) -> Reader:
        """The reader of this thread, opened when it first has something to read."""
        reader: Reader | None = getattr(self._mine, "reader", None)
        if reader is None:
            try:
                reader = Reader(self._path)
            except (apsw.Error, OSError) as error:
                raise translated(error) from error
            self._mine.reader = reader
            self._readers.append(reader)
        return reader


class SqliteMigrator:
    """What migrations need, over a connection in a transaction."""

    engine = "sqlite"
    words = SQLITE_WORDS

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def versions(self) -> set[int] | None:
        if self._connection.pragma("application_id") == APPLICATION_ID:
            return {number for (number,) in self._connection.execute("SELECT number FROM migration")}
        self._connection.pragma("application_id", APPLICATION_ID)
        return None

    async def script(self, sql: str) -> None:
        self._connection.execute(for_sqlite(sql)).fetchall()

    async def record(self, number: int, name: str) -> None:
        self._connection.execute("INSERT INTO migration VALUES (?, ?)", (number, name)).fetchall()


async def open_sqlite(path: str) -> Sqlite:
    """Open a database file, or `:memory:`, at the present schema."""
    return await asyncio.to_thread(_open, path)


def prepare(path: str, *, from_schema: bool = True) -> apsw.Connection:
    """A writing connection to a database at the present schema."""
    try:
        connection = new_connection(path)
        try:
            _refuse_foreign(path, connection)
            settle(connection)
            _migrate(connection, from_schema)
        except BaseException:
            connection.close()
            raise
    except (apsw.Error, OSError) as error:
        raise not_opened(path, error) from error
    return connection


def _open(path: str) -> Sqlite:
    connection = prepare(path)
    try:
        return Sqlite(path, connection)
    except (apsw.Error, OSError) as error:
        connection.close()
        raise not_opened(path, error) from error


def _refuse_foreign(path: str, connection: apsw.Connection) -> None:
    """Leave a file of somebody else as it is.

    In this order: a process that makes the store meanwhile adds its tables and its id in one transaction.
    """
    filled = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if filled and connection.pragma("application_id") != APPLICATION_ID:
        raise Misconfigured(f"{path} holds something else than a Clew store: name another file")


def _migrate(connection: apsw.Connection, from_schema: bool) -> None:
    patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
    drive(bring_up_to_date(SqliteMigrator(connection), from_schema=from_schema))
    connection.execute("COMMIT")
