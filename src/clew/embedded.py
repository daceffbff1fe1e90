"""Clew inside a Python program: every tool is a method.

    async with clew.connect("sqlite:////var/lib/notes.db") as memory:
        history = await memory.fetch_chat_history(conversation_id="...", limit=10)

`embedded.pyi` beside this file types each method; it is made from the registry, and a test keeps it so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from clew.app import Clew, open_clew, registry
from clew.errors import Misconfigured
from clew.scope import Principal
from clew.settings import Settings, read_settings


class Memory:
    """A memory to be opened with `async with`, or with `await memory.open()`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._principal: Principal = settings.principal
        self._clew: Clew | None = None

    async def open(self) -> Self:
        if self._clew is None:
            self._clew = await open_clew(self._settings)
        return self

    async def close(self) -> None:
        clew, self._clew = self._clew, None
        if clew is not None:
            await clew.close()

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Call a tool by its name."""
        if self._clew is None:
            raise Misconfigured("This memory is not open: use `async with clew.connect(...) as memory`")
        return await self._clew.call(tool, arguments, self._principal)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name not in registry().tools:
            raise AttributeError(f"Memory has no tool named {name!r}")

        async def method(**arguments: Any) -> Any:
            return await self.call(name, arguments)

        method.__name__ = name
        return method

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        await self.close()


def connect(database_url: str | None = None, *, user: str | None = None) -> Memory:
    """A memory over this database (default: the one that the settings name), acting for one user or for any."""
    import msgspec

    settings = read_settings()
    given = {"database_url": database_url, "user": user}
    return Memory(msgspec.structs.replace(settings, **{k: v for k, v in given.items() if v is not None}))
