"""Databases for the tests of one engine alone, beside those of `engine`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clew.db.database import Database
from clew.db.engines import open_database
from tests.support.engines import POOL
from tests.support.stores import PostgresStores, sqlite_url


@pytest.fixture
async def other(url: str, database: Database) -> AsyncIterator[Database]:
    """The same store, opened a second time: other connections."""
    opened = await open_database(url, pool=2, wait=10)
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_database(sqlite_url(tmp_path), pool=1, wait=10)
    yield opened
    await opened.close()


@pytest.fixture
async def in_memory() -> AsyncIterator[Database]:
    opened = await open_database("sqlite:///:memory:", pool=1, wait=10)
    yield opened
    await opened.close()


@pytest.fixture
def postgres_url(postgres_server: PostgresStores) -> Iterator[str]:
    with postgres_server.store() as url:
        yield url


@pytest.fixture
async def postgres(postgres_url: str) -> AsyncIterator[Database]:
    opened = await open_database(postgres_url, pool=POOL, wait=10)
    yield opened
    await opened.close()
