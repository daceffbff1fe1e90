"""Databases for tests: a URL for each test, on either engine, empty and at the present schema."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg

from clew.db.postgres import open_postgres
from tests.support import postgres

ENGINES = ("sqlite", "postgres")
TEMPLATE = "clew_template"


class PostgresStores:
    """A PostgreSQL server that hands out databases. Each is a copy of one that was brought to the present schema."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._names = (f"clew_test_{os.getpid()}_{n}" for n in itertools.count())
        self._template = f"{TEMPLATE}_{os.getpid()}"

    def url_of(self, database: str) -> str:
        before, slash, after = self._url.rpartition("/postgres")
        return f"{before}/{database}{after}" if slash else self._url

    def prepare(self) -> None:
        """Make the database that the others are copies of."""
        self._run(f"CREATE DATABASE {self._template}")

        async def migrate() -> None:
            await (await open_postgres(self.url_of(self._template), pool=1, wait=10)).close()

        asyncio.run(migrate())

    @contextmanager
    def store(self) -> Iterator[str]:
        """A database at the present schema."""
        with self.empty(f"TEMPLATE {self._template} STRATEGY file_copy") as url:
            yield url

    @contextmanager
    def empty(self, how: str = "") -> Iterator[str]:
        """A database with nothing in it."""
        name = next(self._names)
        self._run(f"CREATE DATABASE {name} {how}")
        try:
            yield self.url_of(name)
        finally:
            self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self) -> None:
        self._run(f"DROP DATABASE {self._template} WITH (FORCE)")

    def _run(self, sql: str) -> None:
        async def run() -> None:
            connection = await asyncpg.connect(self._url)
            try:
                await connection.execute(sql)
            finally:
                await connection.close()

        asyncio.run(run())


@contextmanager
def postgres_stores() -> Iterator[PostgresStores]:
    """The server that `CLEW_TEST_DATABASE_URL` names (its URL ends in `/postgres`), or one of our own."""
    given = os.environ.get("CLEW_TEST_DATABASE_URL")
    if given:
        yield from _prepared(given)
        return
    with postgres.start(None, int(os.environ.get("CLEW_TEST_PG_VERSION", "18"))) as server:
        yield from _prepared(server.url)


def _prepared(url: str) -> Iterator[PostgresStores]:
    stores = PostgresStores(url)
    stores.prepare()
    try:
        yield stores
    finally:
        stores.close()


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'clew.db'}"
