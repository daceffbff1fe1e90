"""One way to call Clew, over every way in, so that a case is written once.

A `Caller` answers as the interface's own documentation says, or raises `Refused`. What an interface owes every call is
checked here: over MCP one text block with the same JSON as the structured content, `isError` with `Error: ...` and the
code in `_meta`; in Python plain values and a `ClewError`; and never a stack, SQL or a library's wording.

The official clients live on a loop of their own in another thread (a portal), so that one connection serves a whole
run of tests.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

from anyio.from_thread import BlockingPortal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

import clew
from tests.support.servers import clew_command, http_server

PINNED = "the-pinned-user"
NOT_OURS = re.compile(
    r"traceback|pydantic|msgspec|sqlite|apsw|asyncpg|postgres|uvicorn|starlette"
    r"|\bat line \d+|\bline \d+ column|validation error|input should be|\bExpected `|\berrno\b|0x[0-9a-f]{6}"
    r"|(?-i:\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|WHERE|CONSTRAINT|SQLSTATE)\b)"
    r"|(?-i:\b[A-Z]\w+(Error|Exception)\b)|\.py\b",
    re.IGNORECASE,
)


class Refused(Exception):
    """A call was refused, with this code and in these words."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Caller(Protocol):
    """Whoever calls Clew's tools."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The tool's answer; raises `Refused`."""


class Way(Protocol):
    """A way in, over one store: as whom each call says, or as `PINNED`."""

    @property
    def trusted(self) -> Caller: ...

    @property
    def pinned(self) -> Caller: ...


def refused(code: str, message: str) -> Refused:
    """A refusal, after a look at its words."""
    assert_in_our_words(message)
    assert code != "unavailable", f"a bad call must not look like a server's trouble: {message}"
    return Refused(code, message)


def refused_in_python(error: clew.ClewError) -> Refused:
    """The same, where it was raised: what was given and cannot be used is a `ValueError`."""
    assert str(error) == error.message
    assert isinstance(error, ValueError) is (error.code != "conflict")
    return refused(error.code, error.message)


def assert_in_our_words(text: str) -> None:
    """No stack, no SQL, no library's wording."""
    assert text.strip()
    assert len(text) < 1000
    found = NOT_OURS.search(text)
    assert not found, f"{found[0]!r} is not for callers: {text}"


class PythonCaller:
    """`clew.connect`, in the same process."""

    def __init__(self, portal: BlockingPortal, memory: clew.Memory) -> None:
        self._portal = portal
        self._memory = memory

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        method: Callable[..., Awaitable[Any]] = getattr(self._memory, tool)
        try:
            answer = await _await(self._portal, partial(method, **arguments))
        except clew.ClewError as error:
            raise refused_in_python(error) from None
        assert json.loads(json.dumps(answer)) == answer
        return answer


class McpCaller:
    """The official MCP client."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        result = await _await(self._portal, partial(self._client.call_tool, tool, arguments))
        [block] = result.content
        assert isinstance(block, TextContent)
        if result.is_error:
            assert result.structured_content is None
            assert block.text.startswith("Error: ")
            raise refused((result.meta or {})["clew/code"], block.text.removeprefix("Error: "))
        answer = json.loads(block.text)
        assert result.structured_content == (answer if isinstance(answer, dict) else {"result": answer})
        return answer


class OpenWay:
    """Both callers of a way in; the pinned one is opened when it is first needed."""

    def __init__(self, stack: ExitStack, opening: Callable[[str | None], AbstractContextManager[Caller]]) -> None:
        self._open: Callable[[str | None], Caller] = lambda user: stack.enter_context(opening(user))
        self.trusted = self._open(None)

    @cached_property
    def pinned(self) -> Caller:
        return self._open(PINNED)


@contextmanager
def python_way(portal: BlockingPortal, url: str) -> Iterator[Way]:
    """`clew.connect` over a database."""

    @contextmanager
    def opening(user: str | None) -> Iterator[Caller]:
        with portal.wrap_async_context_manager(clew.connect(url, user=user)) as memory:
            yield PythonCaller(portal, memory)

    with ExitStack() as stack:
        yield OpenWay(stack, opening)


@contextmanager
def stdio_way(portal: BlockingPortal, url: str, folder: Path) -> Iterator[Way]:
    """`clew stdio` over a database, through the handshake."""

    @contextmanager
    def opening(user: str | None) -> Iterator[Caller]:
        command = StdioServerParameters(
            command=clew_command(), args=["stdio"], env={"CLEW_DATABASE_URL": url, **_pinning(user)}
        )
        log = folder / f"stdio-{user}.log"
        with log.open("w+") as errors:
            client = Client(stdio_client(command, errlog=errors), mode="legacy")
            with portal.wrap_async_context_manager(client) as connected:
                yield McpCaller(portal, connected)
        assert log.read_text() == "", "a call left something in the server's log"

    with ExitStack() as stack:
        yield OpenWay(stack, opening)


@contextmanager
def http_way(portal: BlockingPortal, url: str, folder: Path) -> Iterator[Way]:
    """`clew serve` over a database, through the newest protocol that both sides speak."""

    @contextmanager
    def opening(user: str | None) -> Iterator[Caller]:
        with (
            http_server(folder, url, **_pinning(user)) as server,
            portal.wrap_async_context_manager(Client(server.url)) as connected,
        ):
            yield McpCaller(portal, connected)
        assert len(server.errors.splitlines()) == 1, f"a call left something in the server's log: {server.errors}"

    with ExitStack() as stack:
        yield OpenWay(stack, opening)


def _pinning(user: str | None) -> dict[str, str]:
    """The setting that pins a server to a user; without one it is trusting."""
    return {} if user is None else {"CLEW_USER": user}


async def _await(portal: BlockingPortal, work: Callable[[], Awaitable[Any]]) -> Any:
    """Run on the portal's loop, wait on this one."""
    return await asyncio.wrap_future(portal.start_task_soon(work))
