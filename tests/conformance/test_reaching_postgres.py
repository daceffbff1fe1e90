"""PostgreSQL that sleeps, starts late, goes away, or is not there: what is waited for, and what is said."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest

import clew
from clew.app import registry
from clew.db.database import Transaction
from clew.db.engines import open_database
from clew.errors import ClewError, Misconfigured, Unavailable
from tests.support import postgres
from tests.support.engines import LONGEST_WAIT, add, add_together, names_in, opened
from tests.support.postgres import Postgres
from tests.support.stores import PostgresStores

pytestmark = pytest.mark.postgres

VERSION = int(os.environ.get("CLEW_TEST_PG_VERSION", "18"))
WHAT_TO_CHECK = r"could not be reached within .* s: check the host and port .* server runs, or .* CLEW_PG_WAIT"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server of our own, reached over TCP and without TLS."""
    with postgres.start(version=VERSION) as started:
        yield started


@pytest.fixture
def folder() -> Iterator[str]:
    """Where a server keeps its data while it is stopped and started again."""
    with tempfile.TemporaryDirectory(prefix="pg-", dir=postgres.base(fsync=False)) as name:
        yield name


def url_of_nobody() -> str:
    return f"postgresql://postgres@127.0.0.1:{postgres.free_port()}/postgres"


@asynccontextmanager
async def silent_listener() -> AsyncIterator[int]:
    """A port where connections are taken and nothing is ever said."""
    gone = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.close()

    listener = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        gone.set()
        listener.close()


async def test_a_server_that_is_not_there_is_refused_with_what_to_check() -> None:
    with pytest.raises(Misconfigured, match=WHAT_TO_CHECK):
        await asyncio.wait_for(open_database(url_of_nobody(), pool=1, wait=0.4), LONGEST_WAIT)


async def test_clew_pg_wait_says_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_PG_WAIT", "0.2")
    with pytest.raises(Misconfigured, match=r"within 0\.2 s"):
        await asyncio.wait_for(clew.connect(url_of_nobody()).open(), LONGEST_WAIT)


async def test_a_server_that_takes_connections_and_says_nothing_is_not_waited_for_longer() -> None:
    async with silent_listener() as port:
        opening = open_database(f"postgresql://postgres@127.0.0.1:{port}/postgres", pool=1, wait=0.4)
        with pytest.raises(Misconfigured, match=WHAT_TO_CHECK):
            await asyncio.wait_for(opening, 5)


async def test_a_host_that_has_no_address_is_refused_with_what_to_check() -> None:
    opening = open_database("postgresql://postgres@nowhere.invalid/postgres", pool=1, wait=0.4)
    with pytest.raises(Misconfigured, match=WHAT_TO_CHECK):
        await asyncio.wait_for(opening, LONGEST_WAIT)


async def test_a_server_that_starts_late_is_waited_for() -> None:
    port = postgres.free_port()
    opening = asyncio.create_task(
        open_database(f"postgresql://postgres@127.0.0.1:{port}/postgres", pool=1, wait=LONGEST_WAIT)
    )
    await asyncio.sleep(1)
    assert not opening.done()
    server = await asyncio.to_thread(postgres.start, version=VERSION, port=port)
    try:
        database = await asyncio.wait_for(opening, LONGEST_WAIT)
        await add(database, "in time")
        assert await database.read(names_in) == ["in time"]
        await database.close()
    finally:
        await asyncio.to_thread(server.stop)


async def test_a_server_that_was_restarted_between_calls_costs_at_most_one_call(folder: str) -> None:
    server = await asyncio.to_thread(postgres.start, folder, VERSION)
    try:
        async with clew.connect(server.tcp_url) as memory:
            made = await memory.create_conversation(user_id="alice")
            await asyncio.gather(*[memory.get_conversation(conversation_id=made["id"]) for _ in range(8)])
            await asyncio.to_thread(server.stop, "fast")
            server = await asyncio.to_thread(postgres.start, folder, VERSION, port=server.port)
            with suppress(Unavailable):
                await memory.add_message(conversation_id=made["id"], role="user", content="perhaps")
            await memory.add_message(conversation_id=made["id"], role="user", content="surely")
            history = await memory.fetch_chat_history(conversation_id=made["id"])
            assert history["messages"][-1]["content"] == "surely"
    finally:
        await asyncio.to_thread(server.stop)


async def test_a_call_while_the_server_is_away_says_so_and_later_ones_work(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_PG_WAIT", "0.3")
    server = await asyncio.to_thread(postgres.start, folder, VERSION)
    try:
        async with clew.connect(server.tcp_url) as memory:
            made = await memory.create_conversation(user_id="alice")
            await asyncio.to_thread(server.stop, "immediate")
            with pytest.raises(Unavailable):
                await memory.add_message(conversation_id=made["id"], role="user", content="lost")
            with pytest.raises(Unavailable):
                await memory.fetch_chat_history(conversation_id=made["id"])
            server = await asyncio.to_thread(postgres.start, folder, VERSION, port=server.port)
            await memory.add_message(conversation_id=made["id"], role="user", content="kept")
            history = await memory.fetch_chat_history(conversation_id=made["id"])
            assert [message["content"] for message in history["messages"]] == ["kept"]
    finally:
        await asyncio.to_thread(server.stop)


async def test_many_calls_while_the_server_is_away_are_all_answered_within_the_wait(folder: str) -> None:
    server = await asyncio.to_thread(postgres.start, folder, VERSION)
    try:
        database = await open_database(server.tcp_url, pool=5, wait=0.3)
        await asyncio.to_thread(server.stop, "immediate")
        calls = asyncio.gather(*[add_together(database, str(n)) for n in range(60)], return_exceptions=True)
        outcomes = await asyncio.wait_for(calls, 5)
        assert [type(outcome) for outcome in outcomes] == [Unavailable] * 60
        await database.close()
    finally:
        await asyncio.to_thread(server.stop)


WRITES = (b"INSERT INTO clew.entry", b"UPDATE clew.owner SET next_id")  # as each connection hears them first


class Cutter:
    """A way to a server that cuts a connection when its commit has been carried out and before that is said."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.armed = False

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            asking = asyncio.create_task(self._ask(reader, to_server))
            while (data := await from_server.read(65536)) and not asking.done():
                writer.write(data)
            asking.cancel()
        finally:
            to_server.close()
            writer.close()

    async def _ask(self, reader: asyncio.StreamReader, to_server: asyncio.StreamWriter) -> None:
        """Hand over what the client says; ends with the commit of a write, where that is to be cut."""
        wrote = False
        while data := await reader.read(65536):
            to_server.write(data)
            wrote = wrote or any(statement in data for statement in WRITES)
            if self.armed and wrote and b"COMMIT" in data:
                self.armed = False
                return
        to_server.close()


@asynccontextmanager
async def cutter(server: Postgres) -> AsyncIterator[tuple[Cutter, str]]:
    between = Cutter(server.port)
    listener = await asyncio.start_server(between.pass_on, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    try:
        yield between, f"postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=disable"
    finally:
        listener.close()


@pytest.mark.parametrize("callers", [1, 5])
async def test_writes_whose_commit_was_not_heard_of_say_so_and_are_never_carried_out_twice(
    server: Postgres, callers: int
) -> None:
    name = f"counter of {callers}"

    async def count(tx: Transaction, items: list[int]) -> list[int | ClewError]:
        for _ in items:
            await tx.run("UPDATE clew.owner SET next_id = next_id + 1 WHERE id = $1", name)
        return list(items)

    async with cutter(server) as (between, url), opened(url) as database:
        await add(database, name)
        between.armed = True
        calls = [database.write_together(count, n) for n in range(callers)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        row = await database.read(lambda tx: tx.one("SELECT next_id FROM clew.owner WHERE id = $1", name))
    assert row is not None and row[0] == 1 + callers
    unsure = [outcome for outcome in outcomes if isinstance(outcome, Unavailable)]
    assert unsure and all("may or may not be there" in error.message for error in unsure)
    assert all(isinstance(outcome, Unavailable | int) for outcome in outcomes)


async def test_interactions_whose_commit_was_not_heard_of_are_stored_once(server: Postgres) -> None:
    async with cutter(server) as (between, url), clew.connect(url, user="alice") as memory:
        made = await memory.create_conversation()
        between.armed = True
        calls = [
            memory.record_interaction(conversation_id=made["id"], user_message=f"q{n}", assistant_response="a")
            for n in range(5)
        ]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} <= {dict, Unavailable}
        assert (await memory.fetch_chat_history(conversation_id=made["id"], limit=100))["message_count"] == 10


async def test_interactions_whose_commit_was_not_heard_of_may_be_repeated(server: Postgres) -> None:
    async with cutter(server) as (between, url), clew.connect(url, user="alice") as memory:
        made = await memory.create_conversation()

        async def record(n: int) -> object:
            return await memory.record_interaction(
                conversation_id=made["id"], user_message=f"q{n}", assistant_response="a", request_id=str(n)
            )

        between.armed = True
        await asyncio.gather(*[record(n) for n in range(5)], return_exceptions=True)
        await asyncio.gather(*[record(n) for n in range(5)])
        assert (await memory.fetch_chat_history(conversation_id=made["id"], limit=100))["message_count"] == 10


async def test_a_database_that_is_not_there_is_refused(server: Postgres) -> None:
    with pytest.raises(Misconfigured, match="The database that CLEW_DATABASE_URL names is not there: create it"):
        await open_database(server.dsn("nowhere", tcp=True), pool=1, wait=5)


async def test_a_user_that_the_server_does_not_know_is_refused(server: Postgres) -> None:
    with pytest.raises(Misconfigured, match="refused the user or the password"):
        await open_database(server.tcp_url.replace("postgres@", "stranger@"), pool=1, wait=5)


async def test_a_user_who_may_not_make_the_schema_is_refused(server: Postgres) -> None:
    administrator = await asyncpg.connect(server.url)
    try:
        await administrator.execute("CREATE ROLE guest LOGIN")
        await administrator.execute("CREATE DATABASE of_others")
    finally:
        await administrator.close()
    with pytest.raises(Misconfigured):
        await open_database(server.dsn("of_others", tcp=True).replace("postgres@", "guest@"), pool=1, wait=5)


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer"])
async def test_a_server_without_tls_does_for_modes_that_do_not_insist(server: Postgres, mode: str) -> None:
    async with opened(f"{server.tcp_url}?sslmode={mode}") as database:
        assert await database.read(lambda tx: tx.one("SELECT 1")) is not None


@pytest.mark.parametrize("option", ["sslmode=require", "sslmode=verify-full", "channel_binding=require"])
async def test_a_server_without_tls_is_refused_where_the_url_insists(
    server: Postgres, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # no certificates of whoever runs this
    with pytest.raises(Misconfigured):
        await open_database(f"{server.tcp_url}?{option}", pool=1, wait=0.2)


async def call_every_tool(memory: Any) -> None:
    made = await memory.create_conversation(user_id="alice", title="before", request_id="r1")
    here = {"conversation_id": made["id"], "user_id": "alice"}
    said = await memory.record_interaction(**here, user_message="q", assistant_response="a", request_id="r2")
    again = await memory.record_interaction(**here, user_message="q", assistant_response="a", request_id="r2")
    assert again == said
    added = await memory.add_message(**here, role="user", content="more")
    await memory.update_message(message_id=added["message_id"], user_id="alice", content="more and more")
    assert (await memory.update_conversation(**here, title="after"))["title"] == "after"
    assert (await memory.get_conversation(**here))["title"] == "after"
    revisions = await memory.list_message_revisions(message_id=added["message_id"], user_id="alice")
    assert [revision["content"] for revision in revisions["revisions"]] == ["more"]
    contents = ["q", "a", "more and more"]
    assert [m["content"] for m in (await memory.fetch_chat_history(**here))["messages"]] == contents
    assert [m["content"] for m in (await memory.get_conversation_history(**here))["messages"]] == contents
    assert [c["id"] for c in await memory.list_conversations(user_id="alice")] == [made["id"]]
    assert (await memory.list_user_conversations(user_id="alice"))["total_count"] == 1


@pytest.fixture
def unprepared_url(postgres_server: PostgresStores) -> Iterator[str]:
    """A store as one behind a pooler in transaction mode is named."""
    with postgres_server.store() as url:
        yield url + ("&" if "?" in url else "?") + "prepared_statements=off"


async def test_without_prepared_statements_every_tool_works(unprepared_url: str) -> None:
    async with clew.connect(unprepared_url) as memory:
        watched = Watched(memory)
        await call_every_tool(watched)
    assert watched.called == set(registry().tools)


class Watched:
    """A memory that knows which of its tools were called."""

    def __init__(self, memory: clew.Memory) -> None:
        self._memory = memory
        self.called: set[str] = set()

    def __getattr__(self, tool: str) -> Any:
        self.called.add(tool)
        return getattr(self._memory, tool)


async def test_without_prepared_statements_none_is_left_on_the_server(unprepared_url: str) -> None:
    database = await open_database(unprepared_url, pool=1, wait=5)
    try:
        await add(database, "one")
        assert await database.read(names_in) == ["one"]
        rows = await database.read(lambda tx: tx.all("SELECT count(*) FROM pg_prepared_statements"))
        assert [tuple(row) for row in rows] == [(0,)]
    finally:
        await database.close()
