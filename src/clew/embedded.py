"""Clew inside a Python program: every tool is a method.

    async with clew.connect("sqlite:////var/lib/notes.db") as memory:
        history = await memory.fetch_chat_history(conversation_id="...", limit=10)

`embedded.pyi` beside this file types each method; it is made from the registry, and a test keeps it so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

import msgspec

from clew.app import Clew, open_clew, registry
from clew.errors import Misconfigured
from clew.scope import Principal, check_user_id
from clew.settings import Settings, read_settings


class Memory:
    """A memory to be opened with `async with`, or with `await memory.open()`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._principal: Principal = settings.principal
        self._opening: asyncio.Task[Clew] | None = None

    async def open(self) -> Self:
        """Open it, once, however often this is called."""
        if self._opening is None:
            self._opening = asyncio.create_task(open_clew(self._settings))
        opening = self._opening
        try:
            await asyncio.shield(opening)
        except Exception:
            if self._opening is opening:
                self._opening = None  # the next call tries again
            raise
        return self

    async def close(self) -> None:
        """Finish what has begun, and let go of the database."""
        opening, self._opening = self._opening, None
        if opening is not None:
            await (await opening).close()

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Call a tool by its name."""
        if self._opening is None or not self._opening.done():
            raise Misconfigured("This memory is not open: use `async with clew.connect(...) as memory`")
        return await self._opening.result().call(tool, arguments, self._principal)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name not in registry().tools:
            raise AttributeError(f"Memory has no tool named {name!r}")

        async def method(*unnamed: Any, **arguments: Any) -> Any:
            if unnamed:
                raise TypeError(f"{name} takes its arguments by name")
            return await self.call(name, arguments)

        method.__name__ = name
        return method

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        await self.close()


def connect(database_url: str | None = None, *, user: str | None = None) -> Memory:
    """A memory over this database (default: the one that the settings name), acting for one user or for any."""
    if user is not None:
        check_user_id(user)
    given = {"database_url": database_url, "user": user}
    settings: Settings = msgspec.structs.replace(
        read_settings(), **{name: value for name, value in given.items() if value is not None}
    )
    return Memory(settings)
