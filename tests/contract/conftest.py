"""The ways in that every contract case runs through: Python on both engines, stdio and HTTP on SQLite.

Each way has one store and one server for the whole run; cases stand apart by users and conversations of their own.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.support.callers import Caller, Way, http_way, python_way, stdio_way
from tests.support.stores import PostgresStores, sqlite_url

WAYS = ("python_on_sqlite", pytest.param("python_on_postgres", marks=pytest.mark.postgres), "stdio", "http")


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture(scope="session")
def python_on_sqlite(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    with python_way(portal, sqlite_url(tmp_path_factory.mktemp("python"))) as opened:
        yield opened


@pytest.fixture(scope="session")
def python_on_postgres(portal: BlockingPortal, postgres_server: PostgresStores) -> Iterator[Way]:
    with postgres_server.store() as url, python_way(portal, url) as opened:
        yield opened


@pytest.fixture(scope="session")
def stdio(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    folder = tmp_path_factory.mktemp("stdio")
    with stdio_way(portal, sqlite_url(folder), folder) as opened:
        yield opened


@pytest.fixture(scope="session")
def http(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    folder = tmp_path_factory.mktemp("http")
    with http_way(portal, sqlite_url(folder), folder) as opened:
        yield opened


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    opened: Way = request.getfixturevalue(request.param)
    return opened


@pytest.fixture
def caller(way: Way) -> Caller:
    """Whoever calls, in trusted mode: each call says for whom."""
    return way.trusted


@pytest.fixture
def pinned(way: Way) -> Caller:
    """Whoever calls where `CLEW_USER` says for whom, over the same store."""
    return way.pinned


@pytest.fixture
def user() -> str:
    """A user whom nobody has heard of."""
    return f"user-{uuid.uuid4()}"


@pytest.fixture
def stranger() -> str:
    """Another one."""
    return f"stranger-{uuid.uuid4()}"
