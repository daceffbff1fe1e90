"""Opening a store: what cannot be one is refused with a clear error, and many processes may start at once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw
import pytest

import clew
from clew.db import sqlite
from clew.db.engines import open_database
from clew.db.migrate import migrations
from clew.errors import Misconfigured
from tests.support.engines import LONGEST_WAIT, opened
from tests.support.stores import PostgresStores, sqlite_url

NOBODY = 65534
PROCESSES = 8

STARTER = """
import asyncio, sys
import clew
from clew.db import postgres, sqlite

async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    async with clew.connect(sys.argv[1]) as memory:
        made = await memory.create_conversation(user_id="alice")
        await memory.record_interaction(conversation_id=made["id"], user_message="hi", assistant_response="hello")

asyncio.run(main())
"""


async def refusal(url: str) -> str:
    """Why this URL is refused."""
    with pytest.raises(Misconfigured) as refused:
        await open_database(url, pool=1, wait=0)
    return refused.value.message


@contextmanager
def nobody_in_particular() -> Iterator[None]:
    """Permissions mean nothing to root: stop being root for a while."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    """A folder with a store that anyone may look into and nobody may write. (pytest's own cannot even be entered.)"""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sqlite.prepare(str(folder / "clew.db")).close()
        (folder / "clew.db").chmod(0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


async def test_a_file_that_is_no_sqlite_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "clew.db").write_text("Dear diary, " * 1000)
    assert "is not a SQLite database: name another file" in await refusal(sqlite_url(tmp_path))
    assert (tmp_path / "clew.db").read_text() == "Dear diary, " * 1000


async def test_a_sqlite_file_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    with closing(apsw.Connection(str(tmp_path / "clew.db"))) as connection:
        connection.execute("CREATE TABLE bookmark (url); INSERT INTO bookmark VALUES ('example.org')").fetchall()
    assert "holds something else than a Clew store" in await refusal(sqlite_url(tmp_path))
    with closing(apsw.Connection(str(tmp_path / "clew.db"))) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("bookmark",)]
        assert connection.pragma("application_id") == 0


async def test_a_damaged_store_is_refused_in_our_own_words(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    sqlite.prepare(str(path)).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes(range(256)) * (len(whole) // 256))
    assert str(path) in await refusal(sqlite_url(tmp_path))


async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "clew.db").touch()
    async with opened(sqlite_url(tmp_path)) as database:
        assert await database.read(lambda tx: tx.all("SELECT * FROM clew.messages")) == []


async def test_folders_that_are_not_there_are_made(tmp_path: Path) -> None:
    async with opened(f"sqlite:///{tmp_path}/a/b/clew.db"):
        assert (tmp_path / "a" / "b" / "clew.db").exists()


async def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "clew.db").mkdir()
    assert "clew.db" in await refusal(sqlite_url(tmp_path))


async def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").touch()
    assert "folder" in await refusal(f"sqlite:///{tmp_path}/folder/clew.db")


async def test_a_folder_that_cannot_be_written_is_refused(closed_folder: Path) -> None:
    with nobody_in_particular():
        assert "check the folder and its permissions" in await refusal(f"sqlite:///{closed_folder}/another.db")


async def test_a_folder_that_cannot_be_made_is_refused(closed_folder: Path) -> None:
    with nobody_in_particular():
        assert "check the folder and its permissions" in await refusal(f"sqlite:///{closed_folder}/new/clew.db")


async def test_a_store_that_may_only_be_read_is_refused(closed_folder: Path) -> None:
    with nobody_in_particular():
        assert "clew.db" in await refusal(sqlite_url(closed_folder))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A store that nobody has opened yet, on either engine."""
    if request.param == "sqlite":
        yield sqlite_url(tmp_path)
        return
    server: PostgresStores = request.getfixturevalue("postgres_server")
    with server.empty() as url:
        yield url


async def test_eight_processes_may_start_at_once_on_an_empty_database(empty_url: str) -> None:
    started = [start(empty_url) for _ in range(PROCESSES)]
    try:
        for process in started:
            assert process.stdout and process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin
            process.stdin.write("go\n")
            process.stdin.flush()
        outcomes = [finish(process) for process in started]
    finally:
        for process in started:
            with suppress(ProcessLookupError):
                process.kill()
    assert outcomes == [(0, "")] * PROCESSES
    async with clew.connect(empty_url) as memory:
        assert (await memory.list_user_conversations(user_id="alice"))["total_count"] == PROCESSES
    async with opened(empty_url) as database:
        versions = await database.read(lambda tx: tx.all("SELECT number FROM clew.migration"))
        assert len(versions) == len(migrations("sqlite"))


def test_threads_that_open_one_empty_file_at_the_same_moment_all_find_a_store(tmp_path: Path) -> None:
    together = threading.Barrier(PROCESSES)

    def open_and_close(path: Path) -> None:
        together.wait(LONGEST_WAIT)
        sqlite.prepare(str(path)).close()

    with ThreadPoolExecutor(PROCESSES) as threads:
        for n in range(10):
            list(threads.map(open_and_close, [tmp_path / f"{n}.db"] * PROCESSES))


def start(url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", STARTER, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=LONGEST_WAIT)
    return process.returncode, errors
