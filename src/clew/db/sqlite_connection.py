"""One SQLite connection, how it is opened, and the transaction over it.

The transaction's methods are coroutines that never suspend, so any thread can drive an operation to its end without an
event loop.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import apsw

from clew.db.database import NotDriven, Operation, Params, Row, UniqueViolation, busy, failed
from clew.db.dialect import for_sqlite
from clew.errors import ClewError, Misconfigured

T = TypeVar("T")
log = logging.getLogger(__name__)

MEMORY = ":memory:"
BUSY_MS = 10_000
CACHE_KIB = 65_536
MMAP_BYTES = 1 << 40  # as much as SQLite takes, which is about 2 GiB
CHECKPOINT_PAGES = 4_000
STATEMENT_CACHE = 200
PATIENCE = 30.0
UNIQUE = (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY)


class SqliteTransaction:
    """A transaction over an apsw connection. After an error it takes no more statements, as on PostgreSQL."""

    __slots__ = ("_connection", "failed")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.failed = False

    async def one(self, sql: str, *params: Any) -> Row | None:
        rows = self._send(self._connection.execute, sql, bind(params))
        return rows[0] if rows else None

    async def all(self, sql: str, *params: Any) -> list[Row]:
        return self._send(self._connection.execute, sql, bind(params))

    async def run(self, sql: str, *params: Any) -> int:
        self._send(self._connection.execute, sql, bind(params))
        return self._connection.changes()

    async def many(self, sql: str, batch: Iterable[Params]) -> list[Row]:
        return self._send(self._connection.executemany, sql, [bind(params) for params in batch])

    def _send(self, method: Callable[[str, Any], apsw.Cursor], sql: str, params: Any) -> list[Row]:
        """Carry out a statement to its end: apsw goes on only as far as its rows are read."""
        if self.failed:
            raise NotDriven("an operation went on after a statement failed")
        try:
            return list(method(for_sqlite(sql), params))
        except apsw.ConstraintError as error:
            self.failed = True
            if getattr(error, "extendedresult", None) in UNIQUE:  # apsw sets it on the exception
                raise UniqueViolation from error
            raise
        except BaseException:
            self.failed = True
            raise


def operate(connection: apsw.Connection, operation: Operation[T]) -> T:
    """Run an operation to its end, here and now, in the transaction that this connection is in."""
    transaction = SqliteTransaction(connection)
    outcome = drive(operation(transaction))
    if transaction.failed:
        raise NotDriven("an operation went on after a statement failed")
    return outcome


def drive(operation: Coroutine[Any, Any, T]) -> T:
    """Run to its end what never suspends."""
    try:
        operation.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    operation.close()
    raise NotDriven("an operation awaited something other than its transaction")


def bind(params: Sequence[Any]) -> Sequence[Any]:
    """Parameters as SQLite takes them: a list goes in as JSON."""
    for value in params:
        if type(value) is list:
            return [json.dumps(value) if type(value) is list else value for value in params]
    return params


def new_connection(path: str) -> apsw.Connection:
    """A connection that may write, with nothing in the file changed yet."""
    if path != MEMORY:
        _make_private(Path(path))
    return _connected(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)


def settle(connection: apsw.Connection) -> None:
    """Make a writing connection durable, and safe beside other processes."""
    patiently(lambda: connection.pragma("journal_mode", "wal"))
    connection.pragma("synchronous", "full")
    connection.pragma("fullfsync", True)  # macOS: through the drive's own cache
    connection.pragma("checkpoint_fullfsync", True)
    connection.pragma("foreign_keys", True)
    connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)


def open_reader(path: str) -> apsw.Connection:
    """A connection that only reads."""
    return _connected(path, apsw.SQLITE_OPEN_READONLY)


def not_opened(path: str, error: Exception) -> ClewError:
    """Why a file does not open, and what to do about it."""
    match error:
        case apsw.NotADBError():
            return Misconfigured(f"{path} is not a SQLite database: name another file in CLEW_DATABASE_URL")
        case apsw.CorruptError():
            return Misconfigured(f"{path} is damaged: restore it from a backup, or name another file")
        case apsw.BusyError() | apsw.LockedError():
            return busy()
    log.debug("%s did not open", path, exc_info=error)
    return Misconfigured(
        f"{path} cannot be opened for writing: check the folder and its permissions, and that the disk has space"
    )


def patiently(work: Callable[[], T]) -> T:
    """Try again, with jitter, while other processes hold the database."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.001, 0.02))  # noqa: S311 - jitter, no secret


def translated(error: Exception) -> Exception:
    """An error as a caller may see it: an operation's own refusal as it is, the database's in our words."""
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return busy()
    if isinstance(error, apsw.Error):
        log.error("SQLite: %s", error, exc_info=error)
        return failed()
    return error


def _make_private(file: Path) -> None:
    """A new file, in a new folder if need be, that nobody but its owner reads. What is there keeps its permissions."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.touch(exist_ok=True, mode=0o600)


def _connected(path: str, flags: int) -> apsw.Connection:
    connection = apsw.Connection(path, flags=flags, statementcachesize=STATEMENT_CACHE)
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("mmap_size", MMAP_BYTES)
    connection.pragma("cache_size", -CACHE_KIB)
    connection.pragma("temp_store", "memory")
    return connection
