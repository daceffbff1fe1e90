"""JSON-RPC messages: read, or answered with the error that they deserve.

What the SDK cannot read it drops in silence over stdio, and over HTTP it answers in the words of its libraries. So
messages are read here first, and only what is one goes on to the SDK.
"""

from __future__ import annotations

import json
import re
from typing import Any

import mcp_types as types
from pydantic import ValidationError

PARSE_ERROR, INVALID_REQUEST = types.PARSE_ERROR, types.INVALID_REQUEST
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


class Unreadable(Exception):
    """What came is no message; holds the answer to send."""

    def __init__(self, code: int, message: str, id: object) -> None:
        super().__init__(message)
        error = {"code": code, "message": message}
        self.answer = json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode()


def read_message(raw: bytes) -> types.JSONRPCMessage:
    """The message in these bytes."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(raw, by_name=False)
    except ValidationError:
        raise _why(raw) from None
    if isinstance(message, types.JSONRPCNotification) and b'"id"' in raw and "id" in json.loads(raw):
        raise Unreadable(INVALID_REQUEST, "The id of a request must be a string or a whole number", None)
    return message


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


def _why(raw: bytes) -> Unreadable:
    """What is wrong with bytes that are no message."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return Unreadable(PARSE_ERROR, "The message is not UTF-8", find_id(raw.decode(errors="replace")))
    id = find_id(text)
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        return Unreadable(INVALID_REQUEST, "The message is nested too deeply", id)
    except UnicodeEncodeError:
        return Unreadable(INVALID_REQUEST, "The message holds a lone surrogate: remove it", id)
    except ValueError:
        return Unreadable(PARSE_ERROR, "The message is not JSON", id)
    if not isinstance(value, dict):
        return Unreadable(INVALID_REQUEST, "A message must be a JSON object; batches are not taken", None)
    return Unreadable(INVALID_REQUEST, "The message is not a JSON-RPC 2.0 request, notification or response", id)


def _identifier(token: str) -> str | int | None:
    try:
        value: Any = json.loads(token)
    except ValueError:
        return None
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None
