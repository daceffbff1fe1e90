"""`clew serve`: whom it lets in, how it says that it is well, and how it stops."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest
from mcp.client import Client
from mcp_types import TextContent

import clew
from clew.app import registry
from tests.contract.manifest import promise
from tests.support.servers import HttpServer, Reply, http_server, rpc, run_clew, tool_call
from tests.support.stores import PostgresStores, sqlite_url

MAKE = tool_call("create_conversation", {"user_id": "alice"})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    folder = tmp_path_factory.mktemp("http")
    with http_server(folder, sqlite_url(folder)) as started:
        yield started
    assert len(started.errors.splitlines()) == 1, started.errors


def made(reply: Reply) -> bool:
    return reply.status == 200 and reply.message()["result"]["isError"] is False


# The guard


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8377", "127.0.0.1.evil.example", "[::2]", "192.0.2.1", ""]
)
@pytest.mark.parametrize(("method", "path"), [("POST", "/mcp"), ("GET", "/healthz"), ("GET", "/readyz")])
def test_a_foreign_host_is_refused_on_every_route(server: HttpServer, host: str, method: str, path: str) -> None:
    assert server.request(method, path, json.dumps(MAKE).encode(), {"Host": host}).status == 421


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8377"])
def test_this_machine_may_be_called_by_any_of_its_names(server: HttpServer, host: str) -> None:
    assert made(server.post(MAKE, {"Host": host}))


@pytest.mark.parametrize("origin", ["http://evil.example", "https://localhost.evil.example", "null", "", "file://"])
def test_a_foreign_origin_is_refused(server: HttpServer, origin: str) -> None:
    assert server.post(MAKE, {"Origin": origin}).status == 403
    assert server.request("GET", "/healthz", None, {"Origin": origin}).status == 403


def test_a_page_of_this_machine_may_call(server: HttpServer) -> None:
    assert made(server.post(MAKE, {"Origin": "http://localhost:3000"}))


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "json"]
)
def test_a_body_that_does_not_say_that_it_is_json_is_refused(server: HttpServer, kind: str) -> None:
    assert server.post(MAKE, {"Content-Type": kind}).status == 415


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_json_is_taken_however_it_is_written(server: HttpServer, kind: str) -> None:
    assert made(server.post(MAKE, {"Content-Type": kind}))


def test_what_is_refused_at_the_door_does_nothing(server: HttpServer) -> None:
    call = tool_call("create_conversation", {"user_id": "nobody"})
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Content-Type": "text/plain"}):
        refused = server.post(call, headers)
        assert set(refused.json()["error"]) == {"code", "message"}
    assert server.call("list_conversations", {"user_id": "nobody"})["structuredContent"] == {"result": []}


def test_no_page_is_told_that_it_may_read(server: HttpServer) -> None:
    answer = server.post(MAKE, {"Origin": "http://localhost:3000"})
    assert not [name for name in answer.headers if name.startswith("access-control-")]


# Routes


@promise("001.path")
def test_mcp_is_served_at_mcp(server: HttpServer) -> None:
    assert made(server.post(MAKE))


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD"])
def test_there_is_no_stream_to_listen_to(server: HttpServer, method: str) -> None:
    refused = server.request(method, "/mcp")
    assert refused.status == 405
    assert refused.headers["allow"] == "POST"


def test_what_is_not_there_is_404_at_once(server: HttpServer) -> None:
    for path in ("/", "/mcp/x", "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"):
        assert server.request("GET", path).status == 404
    assert server.request("POST", "/register", b"{}").status == 404


def test_health_names_the_version(server: HttpServer) -> None:
    health = server.request("GET", "/healthz")
    assert (health.status, health.json()) == (200, {"status": "ok", "version": clew.__version__})


def test_it_is_ready_when_its_database_answers(server: HttpServer) -> None:
    ready = server.request("GET", "/readyz")
    assert (ready.status, ready.json()) == (200, {"status": "ready"})


@pytest.mark.postgres
def test_it_is_not_ready_when_its_database_is_gone(postgres_server: PostgresStores, tmp_path: Path) -> None:
    with postgres_server.store() as url:
        serving = http_server(tmp_path, url, CLEW_PG_WAIT="1")
        server = serving.__enter__()
        assert server.request("GET", "/readyz").status == 200
    try:
        gone = server.request("GET", "/readyz")
        assert (gone.status, gone.json()["status"]) == (503, "unavailable")
        assert "asyncpg" not in gone.json()["error"] and "clew_test" not in gone.json()["error"]
        assert server.request("GET", "/healthz").status == 200
    finally:
        serving.__exit__(None, None, None)


def test_the_server_does_not_say_what_it_is_made_of(server: HttpServer) -> None:
    assert "server" not in server.request("GET", "/healthz").headers


# Limits


def test_a_body_above_the_limit_is_refused(tmp_path: Path) -> None:
    with http_server(tmp_path, sqlite_url(tmp_path), CLEW_MAX_BODY="2048") as server:
        assert made(server.post(MAKE))
        large = tool_call("create_conversation", {"user_id": "alice", "title": "x" * 5000})
        refused = server.post(large)
        assert refused.status == 413
        assert b"pydantic" not in refused.body
        assert made(server.post(MAKE))


def test_a_body_above_the_limit_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Length: 1000000000\r\n\r\n"
    )
    with (
        http_server(tmp_path, sqlite_url(tmp_path), CLEW_MAX_BODY="2048") as server,
        socket.create_connection(("127.0.0.1", server.port), 10) as connection,
    ):
        connection.sendall(head.encode() + b"x" * 4096)
        assert connection.recv(64).startswith(b"HTTP/1.1 413")


# Starting


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_clew("serve", "--port", f"{port}", settings={"CLEW_DATABASE_URL": sqlite_url(tmp_path)})
    assert (done.returncode, done.stdout) == (1, b"")
    [line] = done.stderr.decode().splitlines()
    assert line.startswith(f"clew: Port {port} of 127.0.0.1 cannot be taken")
    assert "--port" in line


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])  # noqa: S104 - it is what must be refused
def test_an_address_that_others_reach_is_refused(host: str, tmp_path: Path) -> None:
    done = run_clew("serve", "--host", host, "--port", "0", settings={"CLEW_DATABASE_URL": sqlite_url(tmp_path)})
    assert (done.returncode, done.stdout) == (1, b"")
    [line] = done.stderr.decode().splitlines()
    assert "--insecure" in line
    assert host in line
    assert not list(tmp_path.iterdir())


def test_unless_it_is_said_to_be_insecure(tmp_path: Path) -> None:
    with http_server(tmp_path, sqlite_url(tmp_path), "--host", "0.0.0.0", "--insecure") as server:  # noqa: S104
        assert made(server.post(MAKE))


@pytest.mark.parametrize("url", ["sqlite:////proc/none/such/clew.db", "mysql://root@localhost/clew"])
def test_a_database_that_cannot_be_opened_is_told_in_one_line(url: str) -> None:
    done = run_clew("serve", "--port", "0", settings={"CLEW_DATABASE_URL": url})
    assert (done.returncode, done.stdout) == (1, b"")
    [line] = done.stderr.decode().splitlines()
    assert line.startswith("clew: ")


# Stopping


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_at_once_when_nothing_runs(number: signal.Signals, tmp_path: Path) -> None:
    with http_server(tmp_path, sqlite_url(tmp_path)) as server:
        assert made(server.post(MAKE))
        began = time.monotonic()
        server.process.send_signal(number)
        server.process.wait(10)
        assert time.monotonic() - began < 5
        assert "Traceback" not in server.errors


def test_a_call_that_runs_is_answered_before_it_stops(tmp_path: Path) -> None:
    with http_server(tmp_path, sqlite_url(tmp_path)) as server, ThreadPoolExecutor(1) as caller:
        with held(tmp_path / "clew.db"):
            call = caller.submit(server.post, MAKE)
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert server.process.poll() is None
            assert not call.done()
        assert made(call.result(20))
        server.process.wait(20)
        assert "Traceback" not in server.errors


def test_a_body_that_never_comes_does_not_hold_up_a_stop(tmp_path: Path) -> None:
    with http_server(tmp_path, sqlite_url(tmp_path)) as server:
        with socket.create_connection((server.host, server.port)) as half:
            half.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n")
            half.sendall(b"Content-Type: application/json\r\n\r\n{")
            time.sleep(0.3)
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(20)
        assert "Traceback" not in server.errors


def test_the_start_says_where_the_data_is(tmp_path: Path) -> None:
    with http_server(tmp_path, sqlite_url(tmp_path)) as server:
        assert server.errors.strip().endswith(f"keeps its data in {tmp_path / 'clew.db'}")


def test_a_server_that_has_stopped_leaves_one_whole_file(tmp_path: Path) -> None:
    with http_server(tmp_path, sqlite_url(tmp_path)) as server:
        assert made(server.post(MAKE))
    assert [file.name for file in tmp_path.glob("clew.db*")] == ["clew.db"]


class held:  # noqa: N801 - reads as what it does: `with held(file)`
    """While it lasts, nobody else writes to this SQLite file."""

    def __init__(self, file: Path) -> None:
        self._connection = apsw.Connection(str(file))

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, *_: object) -> None:
        self._connection.execute("ROLLBACK")
        self._connection.close()


# The official client


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_the_official_client_goes_the_whole_way(server: HttpServer, mode: str) -> None:
    async with Client(server.url, mode=mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == set(registry().tools)
        conversation = (await structured(client, "create_conversation", user_id="alice", title="Plans"))["id"]
        await structured(
            client,
            "record_interaction",
            conversation_id=conversation,
            user_message="When do I plant garlic?",
            assistant_response="In October 🧄",
        )
        history = await structured(client, "fetch_chat_history", conversation_id=conversation)
        assert [m["content"] for m in history["messages"]] == ["When do I plant garlic?", "In October 🧄"]
        refused = await client.call_tool("fetch_chat_history", {"conversation_id": "xyz"})
        assert refused.is_error
        assert isinstance(refused.content[0], TextContent)
        assert refused.content[0].text == "Error: Conversation xyz not found"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_reads_an_answer_of_several_megabytes(server: HttpServer, mode: str) -> None:
    async with Client(server.url, mode=mode) as client:
        conversation = (await structured(client, "create_conversation", user_id="alice"))["id"]
        text = "x" * 2_000_000
        await structured(client, "add_message", conversation_id=conversation, role="user", content=text)
        history = await structured(client, "fetch_chat_history", conversation_id=conversation)
        assert history["messages"][0]["content"] == text


async def structured(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments, read_timeout_seconds=20)
    assert not result.is_error, result.content
    return result.structured_content or {}


@promise("join.unknown_tool")
def test_an_unknown_tool_is_a_protocol_error(server: HttpServer) -> None:
    answer = server.post(tool_call("no_such_tool", {}, 5)).message()
    assert answer["id"] == 5
    assert answer["error"] == {"code": -32602, "message": "There is no tool named no_such_tool"}


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_version_with_this_transport_is_spoken(server: HttpServer, version: str) -> None:
    client = {"name": "tests", "version": "1"}
    hello = rpc("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})
    assert server.post(hello).message()["result"]["protocolVersion"] == version
    spoken = {"MCP-Protocol-Version": version}
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert server.post(initialized, spoken).status == 202
    assert made(server.post(MAKE, spoken))


@promise("000.stateless")
def test_a_call_needs_no_session(server: HttpServer) -> None:
    hello = server.post(rpc("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}))
    assert "mcp-session-id" not in hello.headers
    assert made(server.post(MAKE))
