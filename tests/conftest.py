"""What tests share. `engine` runs a test on both databases; `url`, `database` and `memory` follow it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

import clew
from clew.db.database import Database
from clew.db.engines import open_database
from tests.support.stores import PostgresStores, postgres_stores, sqlite_url


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings of whoever runs it."""
    import os

    for name in [name for name in os.environ if name.startswith("CLEW_") and not name.startswith("CLEW_TEST_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresStores]:
    with postgres_stores() as stores:
        yield stores


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty store on the test's engine."""
    if engine == "sqlite":
        yield sqlite_url(tmp_path)
        return
    server: PostgresStores = request.getfixturevalue("postgres_server")
    with server.store() as store:
        yield store


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    opened = await open_database(url, pool=5, wait=10)
    yield opened
    await opened.close()


@pytest.fixture
async def memory(url: str) -> AsyncIterator[clew.Memory]:
    async with clew.connect(url) as opened:
        yield opened
