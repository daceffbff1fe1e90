"""Bad input that only a wire can carry: bytes that are no text, nesting without end, messages that are none.

As raw lines over standard input and as raw bodies over HTTP; beside it, what must go through a wire whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import FULL, KEPT
from tests.support.callers import assert_in_our_words
from tests.support.servers import HttpServer, StdioServer, http_server, stdio_server, tool_call
from tests.support.stores import sqlite_url


class Wire:
    """A server and how to hand it raw bytes: what it answers is a JSON-RPC message."""

    def __init__(self, send: Callable[[bytes], dict[str, Any]]) -> None:
        self.send = send

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A tool's result."""
        answered = self.send(json.dumps(tool_call(tool, arguments)).encode())
        result: dict[str, Any] = answered["result"]
        return result

    def start(self) -> str:
        """A new conversation; its id."""
        made = self.call("create_conversation", {})
        return str(made["structuredContent"]["id"])

    def messages(self, conversation: str) -> list[dict[str, Any]]:
        result = self.call("get_conversation_history", {"conversation_id": conversation})
        messages: list[dict[str, Any]] = result["structuredContent"]["messages"]
        return messages


@pytest.fixture(scope="module")
def stdio_wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    with stdio_server(sqlite_url(tmp_path_factory.mktemp("stdio"))) as server:
        yield Wire(lambda raw: answer_of_line(server, raw))


@pytest.fixture(scope="module")
def http_wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    folder: Path = tmp_path_factory.mktemp("http")
    with http_server(folder, sqlite_url(folder)) as server:
        yield Wire(lambda raw: answer_of_body(server, raw))
    assert "Traceback" not in server.errors


def answer_of_line(server: StdioServer, raw: bytes) -> dict[str, Any]:
    return server.ask(raw)


def answer_of_body(server: HttpServer, raw: bytes) -> dict[str, Any]:
    return server.post(raw).message()


@pytest.fixture(params=["stdio_wire", "http_wire"])
def wire(request: pytest.FixtureRequest) -> Wire:
    opened: Wire = request.getfixturevalue(request.param)
    return opened


def raw_call(arguments: str) -> bytes:
    """A call of record_interaction with these arguments as raw JSON."""
    call = '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "record_interaction", "arguments": '
    return call.encode() + arguments.encode("utf-8", "surrogatepass") + b"}}"


def told(answer: dict[str, Any]) -> str:
    """In which words a call was refused: as a result with `isError`, or as a JSON-RPC error."""
    if "error" in answer:
        assert answer["error"]["code"] in (-32700, -32600, -32602)
        message = str(answer["error"]["message"])
    else:
        assert answer["result"]["isError"] is True
        [block] = answer["result"]["content"]
        message = block["text"]
    assert_in_our_words(message)
    return message


UNREADABLE = {
    "a lone surrogate": raw_call(r'{"conversation_id": "\ud800"}'),
    "surrogates the wrong way round": raw_call(r'{"conversation_id": "\udfff\ud800"}'),
    "a raw surrogate": raw_call('{"conversation_id": "\ud800"}'),
    "nesting without end": raw_call('{"metadata": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    "objects without end": raw_call('{"metadata": ' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}"),
    "nesting that never closes": raw_call('{"metadata": ' + "[" * 100_000),
    "Latin-1": raw_call('{"conversation_id": "X"}').replace(b"X", b"\xe9"),
    "bytes of no encoding": raw_call('{"conversation_id": "X"}').replace(b"X", b"\xff\xfe\x80"),
    "an overlong character": raw_call('{"conversation_id": "X"}').replace(b"X", b"\xc0\x80"),
    "half a message": raw_call('{"conversation_id"'),
    "no JSON": b"hello",
    "a list": b"[]",
    "a batch": b"[" + raw_call("{}") + b"]",
    "a number": b"5",
    "null": b"null",
    "an empty object": b"{}",
    "no method": b'{"jsonrpc": "2.0", "id": 7}',
    "a method that is no text": b'{"jsonrpc": "2.0", "id": 7, "method": 5}',
    "parameters that are a list": b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": [1]}',
    "an id that is no id": b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
    "another version": b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}',
}


@promise("join.errors.words", "join.text")
@pytest.mark.parametrize("raw", UNREADABLE.values(), ids=UNREADABLE)
def test_a_message_that_cannot_be_read_is_answered_in_our_words(wire: Wire, raw: bytes) -> None:
    answer = wire.send(raw)
    assert answer["jsonrpc"] == "2.0"
    assert answer["id"] in (7, None)
    told(answer)


@promise("join.errors.words")
def test_the_server_goes_on_behind_one(wire: Wire) -> None:
    for raw in UNREADABLE.values():
        wire.send(raw)
    assert wire.messages(wire.start()) == []


@promise("join.arguments.types")
@pytest.mark.parametrize("arguments", ["[]", "[1]", '"x"', "5", "true"])
def test_arguments_that_are_no_object_are_refused_on_the_wire(wire: Wire, arguments: str) -> None:
    told(wire.send(raw_call(arguments)))


@promise("join.text", "000.errors")
def test_a_nul_character_on_the_wire_is_refused(wire: Wire) -> None:
    conversation = wire.start()
    said = {"conversation_id": conversation, "role": "user", "content": "a\x00b"}
    result = wire.call("add_message", said)
    assert result["_meta"]["clew/code"] == "invalid_params"
    assert result["content"] == [
        {"type": "text", "text": "Error: content holds a NUL character at position 1: remove it"}
    ]
    assert "structuredContent" not in result
    assert wire.messages(conversation) == []


@promise("join.metadata")
@pytest.mark.parametrize("metadata", ['{"a": NaN}', '{"a": Infinity}', '{"a": -Infinity}', '{"a": 1e999}'])
def test_what_json_cannot_say_is_refused_on_the_wire(wire: Wire, metadata: str) -> None:
    named = f'"conversation_id": "{wire.start()}", "user_message": "Hi", "assistant_response": "Hello"'
    for request_id in ("", ', "request_id": "r"'):
        told(wire.send(raw_call(f'{{{named}, "metadata": {metadata}{request_id}}}')))


@promise("join.arguments.unknown")
def test_an_unknown_argument_on_the_wire_is_refused_by_name(wire: Wire) -> None:
    result = wire.call("create_conversation", {"nonsense": 1})
    assert result["_meta"]["clew/code"] == "invalid_params"
    assert "'nonsense'" in told({"result": result})


@promise("join.text.kept")
@pytest.mark.parametrize("letter", ["x", "é", "🧵", '"'])
def test_a_full_text_goes_both_ways_over_the_wire(wire: Wire, letter: str) -> None:
    conversation = wire.start()
    text = letter * (FULL // len(letter.encode()))
    wire.call("add_message", {"conversation_id": conversation, "role": "user", "content": text})
    [message] = wire.messages(conversation)
    assert message["content"] == text


@promise("join.text")
def test_a_text_above_the_limit_is_refused_on_the_wire(wire: Wire) -> None:
    conversation = wire.start()
    said = {"conversation_id": conversation, "role": "user", "content": "x" * (FULL + 1)}
    result = wire.call("add_message", said)
    assert result["_meta"]["clew/code"] == "too_large"
    assert "10,000,000" in told({"result": result})
    assert wire.messages(conversation) == []


@promise("join.text.kept")
@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_raw_and_escaped_characters_are_the_same_text(wire: Wire, text: str) -> None:
    conversation = wire.start()
    for ascii in (True, False):
        said = {"conversation_id": conversation, "role": "user", "content": text}
        wire.send(json.dumps(tool_call("add_message", said), ensure_ascii=ascii).encode())
    assert [message["content"] for message in wire.messages(conversation)] == [text, text]
