"""The engine for PostgreSQL 14 and newer, also behind a pooler in transaction mode.

Connections come from the driver's pool and carry no state from one transaction to the next. Everything stands in the
schema `clew` and is named with it.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import Any, TypeVar

import asyncpg

from clew.db.database import BatchOperation, I, NotDriven, Operation, closed, operating, refuse_nested
from clew.db.dialect import postgres_words
from clew.db.migrate import bring_up_to_date
from clew.db.postgres_batch import Batcher
from clew.db.postgres_connection import (
    AGAIN,
    LOST,
    Connector,
    PostgresTransaction,
    Unreachable,
    translated,
    unknown_outcome,
)
from clew.db.postgres_url import read_url
from clew.errors import Misconfigured

T = TypeVar("T")

OLDEST = 140_000
STATEMENT_SECONDS = 60  # a server that says nothing for so long is taken for gone
MIGRATION_LOCK = int.from_bytes(b"clew-mig", "big")
TRIES = 5
PATIENCE = 30.0


class Postgres:
    """A PostgreSQL database that is open. Made by `open_postgres`."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._writes: set[asyncio.Task[Any]] = set()
        self._batchers: dict[BatchOperation[Any, Any], Batcher] = {}
        self._closing: asyncio.Task[None] | None = None

    async def read(self, operation: Operation[T], *, short: bool = False) -> T:
        refuse_nested()
        self._refuse_closed()
        try:
            async with (
                self._pool.acquire() as connection,
                connection.transaction(isolation="repeatable_read", readonly=True),
            ):
                with operating():
                    return await operation(PostgresTransaction(connection))
        except (asyncpg.PostgresError, *LOST) as error:
            raise translated(error) from error

    async def write(self, operation: Operation[T]) -> T:
        refuse_nested()
        self._refuse_closed()
        return await self._begin(operation)

    async def _begin(self, operation: Operation[T]) -> T:
        """Start a write that goes on by itself once it has begun, and wait for it."""
        begun = asyncio.Event()
        task = asyncio.create_task(self._write(operation, begun))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not begun.is_set():
                task.cancel()
            task.add_done_callback(_seen)
            raise

    async def write_together(self, operation: BatchOperation[I, T], item: I) -> T:
        refuse_nested()
        self._refuse_closed()
        if operation not in self._batchers:
            self._batchers[operation] = Batcher(operation, self._begin)
        outcome: T = await self._batchers[operation].submit(item)
        return outcome

    async def close(self) -> None:
        self._closing = self._closing or asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        """Finish what has begun; what a silent server keeps from ending is given up after a while."""
        for batcher in self._batchers.values():
            await batcher.finish()
        if self._writes:
            await asyncio.wait(self._writes)
        try:
            await asyncio.wait_for(self._pool.close(), PATIENCE)
        except TimeoutError:
            self._pool.terminate()

    def _refuse_closed(self) -> None:
        if self._closing is not None:
            raise closed()

    async def _write(self, operation: Operation[T], begun: asyncio.Event) -> T:
        """Carry an operation out, again where the database asks for that."""
        try:
            for attempt in range(TRIES):
                try:
                    return await self._transact(operation, begun)
                except AGAIN:
                    if attempt + 1 == TRIES:
                        raise
                    await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))  # noqa: S311 - jitter, no secret
        except (asyncpg.PostgresError, *LOST) as error:
            raise translated(error) from error
        raise AssertionError("the loop ends by itself")

    async def _transact(self, operation: Operation[T], begun: asyncio.Event) -> T:
        async with self._pool.acquire() as connection:
            begun.set()
            transaction = connection.transaction()
            await transaction.start()
            remote = PostgresTransaction(connection)
            try:
                with operating():
                    outcome = await operation(remote)
                if remote.failed:
                    raise NotDriven("an operation went on after a statement failed")
            except BaseException:
                with suppress(*LOST):
                    await transaction.rollback()
                raise
            try:
                await transaction.commit()
            except LOST as error:
                raise unknown_outcome() from error
            return outcome


class PostgresMigrator:
    """What migrations need, over a connection in a transaction."""

    engine = "postgres"

    def __init__(self, connection: Any, server_version: int) -> None:
        self._connection = connection
        self.words = postgres_words(server_version)

    async def versions(self) -> set[int] | None:
        await self._connection.execute(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
        if await self._connection.fetchval("SELECT to_regclass('clew.migration')") is not None:
            return {row[0] for row in await self._connection.fetch("SELECT number FROM clew.migration")}
        if await self._connection.fetchval("SELECT to_regnamespace('clew')") is None:
            await self._connection.execute("CREATE SCHEMA clew")
        return None

    async def script(self, sql: str) -> None:
        await self._connection.execute(sql)

    async def record(self, number: int, name: str) -> None:
        await self._connection.execute("INSERT INTO clew.migration VALUES ($1, $2)", number, name)


async def open_postgres(url: str, *, pool: int, wait: float) -> Postgres:
    """Open a database at the present schema, waiting for one that sleeps."""
    target = read_url(url)
    connections = asyncpg.create_pool(
        **target.connect,
        min_size=0,
        max_size=pool,
        statement_cache_size=100 if target.prepared else 0,
        command_timeout=STATEMENT_SECONDS,
        connect=Connector(wait),
        reset=_leave,
    )
    try:
        await connections
        async with connections.acquire() as connection:
            await prepare(connection)
    except BaseException as error:
        connections.terminate()
        raise (_not_opened(error, wait) if isinstance(error, Exception) else error) from error
    return Postgres(connections)


def _not_opened(error: Exception, wait: float) -> Exception:
    """Why a database does not open, and what to do about it."""
    match error:
        case asyncpg.InvalidAuthorizationSpecificationError():
            return Misconfigured("PostgreSQL refused the user or the password in CLEW_DATABASE_URL")
        case asyncpg.InvalidCatalogNameError():
            return Misconfigured("The database that CLEW_DATABASE_URL names is not there: create it first")
        case asyncpg.InsufficientPrivilegeError():
            return Misconfigured(
                "The user in CLEW_DATABASE_URL may not make the schema `clew`: grant CREATE on the database to it, or "
                "have an administrator run CREATE SCHEMA clew AUTHORIZATION for it"
            )
        case asyncpg.ClientConfigurationError():
            return Misconfigured(
                "TLS cannot be set up as CLEW_DATABASE_URL asks: put the certificate of the server's authority into "
                "~/.postgresql/root.crt, or choose another sslmode"
            )
        case Unreachable():
            return Misconfigured(
                f"PostgreSQL could not be reached within {wait:g} s: check the host and port in CLEW_DATABASE_URL "
                "and that the server runs, or wait longer with CLEW_PG_WAIT"
            )
    return translated(error)


async def prepare(connection: Any, *, from_schema: bool = True) -> None:
    """Bring the database behind a connection to the present schema."""
    version = int(await connection.fetchval("SHOW server_version_num"))
    encoding = await connection.fetchval("SHOW server_encoding")
    if version < OLDEST:
        raise Misconfigured(f"Clew needs PostgreSQL 14 or newer; this server is version {version // 10_000}")
    if encoding != "UTF8":
        raise Misconfigured(f"Clew needs a database in UTF8; this one is in {encoding}: create another")
    async with connection.transaction():
        await bring_up_to_date(PostgresMigrator(connection, version), from_schema=from_schema)


async def _leave(connection: Any) -> None:
    """Nothing to reset when a connection goes back to the pool: no transaction leaves anything behind."""


def _seen(task: asyncio.Task[Any]) -> None:
    """Look at the outcome that nobody waits for any more, so that it is not reported as forgotten."""
    if not task.cancelled():
        task.exception()
