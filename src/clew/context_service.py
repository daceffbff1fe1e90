"""The synchronous form: every tool is a function, over the database that the settings name.

    from clew import ContextService
    messages = ContextService.fetch_chat_history(conversation_id="...", limit=10)["messages"]

It may be called from any thread. One event loop in a thread of its own serves all of them; it starts with the first
call, and ends with the program: what was answered is on disk, so there is nothing to finish. `context_service.pyi`
beside this file types each function.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any

from clew.app import registry
from clew.embedded import Memory, connect


class SyncMemory:
    """Every tool of a memory as a plain method that waits for its answer."""

    def __init__(self, database_url: str | None = None, *, user: str | None = None) -> None:
        self._database_url = database_url
        self._user = user
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Call a tool by its name."""
        with self._door:
            loop, memory = self._started()
            self._running += 1
        try:
            return asyncio.run_coroutine_threadsafe(memory.call(tool, arguments), loop).result()
        finally:
            with self._door:
                self._running -= 1
                self._door.notify_all()

    def close(self) -> None:
        """Let go of the database, once the calls that run are answered. A later call opens it again."""
        with self._door:
            self._door.wait_for(lambda: self._running == 0)
            if self._loop is not None and self._memory is not None:
                asyncio.run_coroutine_threadsafe(self._memory.close(), self._loop).result()
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = self._memory = None

    def _started(self) -> tuple[asyncio.AbstractEventLoop, Memory]:
        """The loop and the open memory. Behind the door only."""
        if self._loop is None or self._memory is None:
            memory = connect(self._database_url, user=self._user)
            loop = asyncio.new_event_loop()
            threading.Thread(target=_run, args=(loop,), name="clew-loop", daemon=True).start()
            try:
                asyncio.run_coroutine_threadsafe(memory.open(), loop).result()
            except BaseException:
                loop.call_soon_threadsafe(loop.stop)
                raise
            self._loop, self._memory = loop, memory
        return self._loop, self._memory

    def _forget(self) -> None:
        """Start from nothing: at first, and in a forked child, which has none of its parent's threads."""
        self._door = threading.Condition()
        self._running = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._memory: Memory | None = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in registry().tools:
            raise AttributeError(f"There is no tool named {name!r}")

        def method(*unnamed: Any, **arguments: Any) -> Any:
            if unnamed:
                raise TypeError(f"{name} takes its arguments by name")
            return self.call(name, arguments)

        method.__name__ = name
        return method

    def __call__(self) -> SyncMemory:
        """`ContextService()` is the service itself, for those who expect a class."""
        return self


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


ContextService = SyncMemory()
