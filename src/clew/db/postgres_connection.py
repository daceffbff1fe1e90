"""The transaction over an asyncpg connection, and PostgreSQL's errors in our words."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Iterable
from typing import Any, Final

import asyncpg

from clew.db.database import NotDriven, Params, Row, UniqueViolation, busy, failed
from clew.db.dialect import for_postgres
from clew.errors import ClewError, Unavailable

log = logging.getLogger(__name__)

AGAIN: Final = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)
FIRST_PAUSE, LONGEST_PAUSE, SHORTEST_TRY = 0.05, 2.0, 0.5
POOLED: Final = (asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError)
ASLEEP: Final = (
    OSError,
    TimeoutError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
)
LOST: Final = (*ASLEEP, asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class Connector:
    """Connects, waiting for a server that sleeps or starts: once for all who wait for it.

    An outage that has lasted longer than the wait is told at once to whoever comes next.
    """

    def __init__(self, wait: float) -> None:
        self._wait = wait
        self._away_since: float | None = None

    async def __call__(self, *args: Any, **options: Any) -> Any:
        pause = FIRST_PAUSE
        while True:
            try:
                connection = await asyncio.wait_for(asyncpg.connect(*args, **options), self._left())
            except ASLEEP as error:
                if self._away_since is None:
                    self._away_since = time.monotonic()
                    log.warning("PostgreSQL does not answer yet; trying again for %g s", self._wait)
                if pause > self._away_since + self._wait - time.monotonic():
                    raise unreachable() from error
            else:
                self._away_since = None
                return connection
            await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - jitter, no secret
            pause = min(pause * 2, LONGEST_PAUSE)

    def _left(self) -> float:
        """How long a try may take."""
        if self._away_since is None:
            return max(self._wait, SHORTEST_TRY)
        return max(self._away_since + self._wait - time.monotonic(), SHORTEST_TRY)


class PostgresTransaction:
    """A transaction. After an error it takes no more statements, whatever the operation makes of the error."""

    __slots__ = ("_connection", "failed")

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.failed = False

    async def one(self, sql: str, *params: Any) -> Row | None:
        return await self._send(self._connection.fetchrow, sql, *params)  # type: ignore[no-any-return]

    async def all(self, sql: str, *params: Any) -> list[Row]:
        return await self._send(self._connection.fetch, sql, *params)  # type: ignore[no-any-return]

    async def run(self, sql: str, *params: Any) -> int:
        status: str = await self._send(self._connection.execute, sql, *params)
        return int(status.rpartition(" ")[2])

    async def many(self, sql: str, batch: Iterable[Params]) -> list[Row]:
        rows = list(batch)
        return await self._send(self._connection.fetchmany, sql, rows) if rows else []

    async def _send(self, method: Any, sql: str, *params: Any) -> Any:
        if self.failed:
            raise NotDriven("an operation went on after a statement failed")
        try:
            return await method(for_postgres(sql), *params)
        except asyncpg.UniqueViolationError as error:
            self.failed = True
            raise UniqueViolation from error
        except BaseException:
            self.failed = True
            raise


def translated(error: Exception) -> Exception:
    """An error as a caller may see it: an operation's own refusal as it is, the database's in our words."""
    if isinstance(error, ClewError):
        return error
    if isinstance(error, AGAIN):
        return busy()
    if isinstance(error, LOST) and not isinstance(error, asyncpg.DataError):
        log.warning("PostgreSQL cannot be reached: %s", error)
        return unreachable()
    if isinstance(error, POOLED):
        log.error("A pooler in transaction mode loses prepared statements: add prepared_statements=off to the URL")
        return failed()
    if isinstance(error, (asyncpg.PostgresError, asyncpg.DataError)):
        log.error("PostgreSQL: %s", error, exc_info=error)
        return failed()
    return error


class Unreachable(Unavailable):
    """The way to the database is broken: no caller's fault, so none of them is tried again by itself."""


def unreachable() -> Unreachable:
    return Unreachable("The database cannot be reached now: try again")


def unknown_outcome() -> Unreachable:
    return Unreachable(
        "The connection to the database broke while this was being stored, so it may or may not be there: "
        "repeat the call with the same request_id, or look before you repeat it"
    )
