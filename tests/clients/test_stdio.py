"""`clew stdio`, as clients start it: every version of the protocol, and nothing but protocol on standard output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

import clew
from clew.app import registry
from tests.contract.manifest import promise
from tests.support.callers import assert_in_our_words
from tests.support.servers import (
    clew_command,
    environment,
    handshake,
    rpc,
    run_clew,
    stdio_server,
    tool_call,
)
from tests.support.stores import sqlite_url

HANDSHAKE_ERA = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def piped(url: str, *messages: object) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the answers of a server whose whole input is there at once."""
    lines = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    done = run_clew("stdio", settings={"CLEW_DATABASE_URL": url}, input=b"".join(line + b"\n" for line in lines))
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("version", HANDSHAKE_ERA)
def test_every_version_of_the_handshake_era_is_spoken(version: str, tmp_path: Path) -> None:
    code, (hello, listed, made) = piped(
        sqlite_url(tmp_path),
        *handshake(version),
        rpc("tools/list", {}, "list"),
        tool_call("create_conversation", {"title": "Plans"}, "make"),
    )
    assert (code, hello["id"], listed["id"], made["id"]) == (0, "hello", "list", "make")
    assert hello["result"]["protocolVersion"] == version
    assert (hello["result"]["serverInfo"]["name"], hello["result"]["serverInfo"]["version"]) == (
        "clew",
        clew.__version__,
    )
    assert hello["result"]["capabilities"]["tools"] == {"listChanged": False}
    assert {tool["name"] for tool in listed["result"]["tools"]} == set(registry().tools)
    assert json.loads(made["result"]["content"][0]["text"])["title"] == "Plans"


def test_a_client_of_no_known_version_is_offered_the_newest_handshake(tmp_path: Path) -> None:
    _, (hello,) = piped(sqlite_url(tmp_path), handshake("1999-12-31")[0])
    assert hello["result"]["protocolVersion"] == HANDSHAKE_ERA[-1]


async def test_the_newest_version_is_spoken(tmp_path: Path) -> None:
    command = StdioServerParameters(
        command=clew_command(), args=["stdio"], env={"CLEW_DATABASE_URL": sqlite_url(tmp_path)}
    )
    async with Client(command, mode="2026-07-28") as client:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == set(registry().tools)
        result = await client.call_tool("create_conversation", {"title": "Plans"})
        assert (result.structured_content or {})["title"] == "Plans"
        assert client.protocol_version == "2026-07-28"


async def test_a_client_that_asks_first_finds_the_newest_version(tmp_path: Path) -> None:
    command = StdioServerParameters(
        command=clew_command(), args=["stdio"], env={"CLEW_DATABASE_URL": sqlite_url(tmp_path)}
    )
    async with Client(command) as client:
        assert client.protocol_version == "2026-07-28"
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("clew", clew.__version__)


def test_the_first_answer_comes_soon(tmp_path: Path) -> None:
    began = time.monotonic()
    with stdio_server(sqlite_url(tmp_path)):
        assert time.monotonic() - began < 5


@promise("000.errors", "001.errors.code", "join.list_answer")
def test_answers_and_refusals_have_the_shape_that_clients_read(tmp_path: Path) -> None:
    with stdio_server(sqlite_url(tmp_path)) as server:
        refused = server.call("get_conversation", {"conversation_id": "xyz"})
        assert refused == {
            "_meta": {"clew/code": "conversation_not_found"},
            "content": [{"type": "text", "text": "Error: Conversation xyz not found"}],
            "isError": True,
        }
        assert server.call("list_conversations", {}) == {
            "content": [{"type": "text", "text": "[]"}],
            "structuredContent": {"result": []},
            "isError": False,
        }
        made = server.call("create_conversation", {})
        assert json.loads(made["content"][0]["text"]) == made["structuredContent"]
        assert made["isError"] is False


@promise("join.unknown_tool")
def test_an_unknown_tool_is_a_protocol_error(tmp_path: Path) -> None:
    with stdio_server(sqlite_url(tmp_path)) as server:
        answer = server.ask(tool_call("no_such_tool", {}, 5))
        assert answer == {
            "jsonrpc": "2.0",
            "id": 5,
            "error": {"code": -32602, "message": "There is no tool named no_such_tool"},
        }


def test_tools_are_listed_with_what_a_model_must_know(tmp_path: Path) -> None:
    with stdio_server(sqlite_url(tmp_path)) as server:
        listed = {tool["name"]: tool for tool in server.ask(rpc("tools/list"))["result"]["tools"]}
    for name, tool in registry().tools.items():
        schema = listed[name]["inputSchema"]
        assert listed[name]["description"]
        assert listed[name]["annotations"]["readOnlyHint"] is tool.read_only
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert list(schema["properties"]) == list(tool.signature.parameters)
        assert all(shape.get("description") for shape in schema["properties"].values())


# The server with a tool that prints, as some library may.
NOISY = """
import functools, os, sys
from clew.app import registry
from clew.cli.main import main

tool = registry().tools["list_conversations"]
quiet = tool.function

@functools.wraps(quiet)
async def noisy(*args, **kwargs):
    print("noise", flush=True)
    os.write(1, b"noise")
    os.system("echo noise")
    return await quiet(*args, **kwargs)

object.__setattr__(tool, "function", noisy)
sys.argv = ["clew", "stdio"]
main()
"""


def test_nothing_but_protocol_is_on_standard_output(tmp_path: Path) -> None:
    messages = [*handshake("2025-11-25"), tool_call("list_conversations", {}, 2), tool_call("nonsense", {}, 3)]
    done = subprocess.run(
        [sys.executable, "-c", NOISY],
        input="\n".join(json.dumps(message) for message in messages).encode(),
        capture_output=True,
        timeout=60,
        env=environment({"CLEW_DATABASE_URL": sqlite_url(tmp_path)}),
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {answer["id"] for answer in answers} == {"hello", 2, 3}
    assert done.stderr.count(b"noise") == 3


def test_lines_that_cannot_be_read_are_answered_with_their_id_where_it_is_found(tmp_path: Path) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    code, answers = piped(
        sqlite_url(tmp_path),
        rb'{"jsonrpc": "2.0", "id": "surrogate", "method": "ping", "params": {"a": "\ud800"}}',
        b'{"jsonrpc": "2.0", "id": "depth", "method": "ping", "params": {"a": ' + deep + b"}}",
        b'{"jsonrpc": "2.0", "method": "ping", "params": {"id": "not this", "a": "\xff"}, "id": "bytes"}',
        b'{"jsonrpc": "2.0", "id": "half", "method": "pi',
        b'{"id": "version", "method": "ping"}',
        b"hello",
        b"[]",
        b"\xff\xfe",
    )
    told = [(answer["id"], answer["error"]["code"]) for answer in answers]
    assert code == 0
    assert told == [
        ("surrogate", -32600),
        ("depth", -32600),
        ("bytes", -32700),
        ("half", -32700),
        ("version", -32600),
        (None, -32700),
        (None, -32600),
        (None, -32700),
    ]
    for answer in answers:
        assert_in_our_words(answer["error"]["message"])


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    code, answers = piped(sqlite_url(tmp_path), b"", b"  \t", *handshake("2025-11-25"), b"\r", rpc("ping", {}, 2))
    assert (code, [answer["id"] for answer in answers]) == (0, ["hello", 2])


def test_what_is_piped_in_at_once_is_answered_to_the_last_call(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    _, (_, made) = piped(url, *handshake("2025-11-25"), tool_call("create_conversation", {}))
    conversation = made["result"]["structuredContent"]["id"]
    calls = [
        tool_call("add_message", {"conversation_id": conversation, "role": "user", "content": f"{n}"}, n)
        for n in range(200)
    ]
    code, answers = piped(url, *handshake("2025-11-25"), *calls)
    assert code == 0
    assert {answer["id"] for answer in answers} == {"hello", *range(200)}
    assert all(answer["result"].get("isError") is False for answer in answers[1:])


def test_the_last_line_needs_no_line_end(tmp_path: Path) -> None:
    lines = b"\n".join(json.dumps(message).encode() for message in [*handshake("2025-11-25"), rpc("ping", {}, 2)])
    done = run_clew("stdio", settings={"CLEW_DATABASE_URL": sqlite_url(tmp_path)}, input=lines)
    assert (done.returncode, json.loads(done.stdout.splitlines()[-1])["id"]) == (0, 2)


def test_no_input_at_all_is_a_quiet_end(tmp_path: Path) -> None:
    done = run_clew("stdio", settings={"CLEW_DATABASE_URL": sqlite_url(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_sigterm_ends_it_with_success(tmp_path: Path) -> None:
    with stdio_server(sqlite_url(tmp_path)) as server:
        server.call("create_conversation", {})
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0


def test_a_client_that_stops_reading_is_survived(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [clew_command(), "stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"CLEW_DATABASE_URL": sqlite_url(tmp_path)}),
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    for message in [*handshake("2025-11-25"), rpc("ping", {}, 2)]:
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.close()
    assert process.wait(20) == 0
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()


@pytest.mark.parametrize("url", ["sqlite:////proc/none/such/clew.db", "mysql://root@localhost/clew", "sqlite:///{dir}"])
def test_a_database_that_cannot_be_opened_is_told_by_the_call(url: str, tmp_path: Path) -> None:
    with stdio_server(url.format(dir=tmp_path)) as server:
        result = server.call("list_conversations", {})
        text = result["content"][0]["text"]
        assert (result["isError"], result["_meta"]["clew/code"]) == (True, "unavailable")
        assert text.startswith("Error: ")
        assert "Errno" not in text and "Traceback" not in text
        assert "CLEW_DATABASE_URL" in text or "cannot be opened" in text
        assert server.call("list_conversations", {}) == result
        assert server.process.poll() is None


def test_a_file_that_is_no_store_is_told_by_the_call_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("These are my notes.\n" * 1000)
    code, (hello, refused) = piped(f"sqlite:///{file}", *handshake("2025-11-25"), tool_call("list_conversations", {}))
    assert (code, hello["id"]) == (0, "hello")
    assert "is not a SQLite database" in refused["result"]["content"][0]["text"]
    assert file.read_text() == "These are my notes.\n" * 1000
    assert os.listdir(tmp_path) == ["notes.txt"]  # noqa: PTH208 - names are what is compared


@promise("join.identity.pinned")
def test_a_user_that_cannot_be_one_is_told_at_start(tmp_path: Path) -> None:
    done = run_clew("stdio", settings={"CLEW_DATABASE_URL": sqlite_url(tmp_path), "CLEW_USER": "x" * 256})
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().splitlines() == [
        "clew: CLEW_USER cannot be used: user_id must have 1 to 255 characters, this one has 256"
    ]
