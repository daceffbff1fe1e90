"""The body of a request: read up to a limit, looked at, and handed on."""

from __future__ import annotations

from starlette.types import Message, Receive, Scope

from clew.errors import TooLarge


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes | None:
    """The whole body, or None where the client went away before its end."""
    if _announced(scope) > limit:
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return b"".join(parts)


def handed_on(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body once more, and then whatever comes."""
    left = [body]

    async def again() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return again


def json_scope(scope: Scope) -> Scope:
    """The scope of a request whose body is known to be JSON, said in the one way that everybody understands."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
    return {**scope, "headers": [*headers, (b"content-type", b"application/json")]}


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body of a request has at most {limit:,} bytes here (CLEW_MAX_BODY)")
