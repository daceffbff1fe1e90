"""Lines of JSON-RPC: read as messages, or answered with the error that they deserve.

The SDK's own reader drops a line that it cannot read, and the client waits for ever. Here such a line is answered,
with its id where one can be found.
"""

from __future__ import annotations

import json
import re
from typing import Any

import mcp_types as types
from pydantic import ValidationError

PARSE_ERROR, INVALID_REQUEST = types.PARSE_ERROR, types.INVALID_REQUEST
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


class Unreadable(Exception):
    """A line that is no message; holds the answer to send."""

    def __init__(self, code: int, message: str, id: object) -> None:
        super().__init__(message)
        error = {"code": code, "message": message}
        self.answer = json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode()


def read_message(line: bytes) -> types.JSONRPCMessage:
    """The message in a line."""
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        pass
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode(errors="replace")
        raise Unreadable(PARSE_ERROR, "The message is not UTF-8", find_id(text)) from None
    raise _why(text)


def find_id(text: str) -> str | int | None:
    """The id of a request, from a text that may not be JSON or may be nested without end."""
    depth, key, expected = 0, "", False
    for found in TOKEN.finditer(text):
        token = found[0]
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        elif depth == 1 and expected and key == '"id"':
            return _identifier(token)
        if depth == 1 and token.startswith('"'):
            key = token
        expected = token == ":"
    return None


def _why(text: str) -> Unreadable:
    """What is wrong with a line that is UTF-8."""
    id = find_id(text)
    try:
        value = json.loads(text)
    except RecursionError:
        return Unreadable(INVALID_REQUEST, "The message is nested too deeply", id)
    except ValueError:
        return Unreadable(PARSE_ERROR, "The message is not JSON", id)
    if not isinstance(value, dict):
        return Unreadable(INVALID_REQUEST, "A message must be a JSON object; batches are not taken", None)
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return Unreadable(INVALID_REQUEST, "The message holds a lone surrogate: remove it", id)
    except RecursionError:
        return Unreadable(INVALID_REQUEST, "The message is nested too deeply", id)
    return Unreadable(INVALID_REQUEST, "The message is not a JSON-RPC 2.0 request, notification or response", id)


def _identifier(token: str) -> str | int | None:
    try:
        value: Any = json.loads(token)
    except ValueError:
        return None
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None
