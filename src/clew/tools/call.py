"""One call of a tool: whose data, when, under which request id, and the way to the store.

A tool does everything through its call, so that no operation ever runs without the caller's scope.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from clew.core.append import Append
from clew.core.model import Draft, Entry
from clew.core.requests import Request
from clew.db.database import Database, Transaction
from clew.memory import log
from clew.scope import Scope

P = ParamSpec("P")
T = TypeVar("T")
Operation = Callable[Concatenate[Transaction, Scope, P], Coroutine[Any, Any, T]]


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool is given beside its arguments."""

    database: Database
    scope: Scope
    now: int
    request: Request | None

    async def read(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read a few rows."""
        return await self.database.read(lambda tx: operation(tx, self.scope, *args, **kwargs), short=True)

    async def read_long(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read what may be many rows, out of the way of others."""
        return await self.database.read(lambda tx: operation(tx, self.scope, *args, **kwargs))

    async def write(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Change what is stored; it is on disk when this answers."""
        return await self.database.write(lambda tx: operation(tx, self.scope, *args, **kwargs))

    async def append(self, thread_id: str, drafts: list[Draft], *, title: str | None = None) -> list[Entry]:
        """Add entries to the end of a thread, all or none; they are on disk when this answers."""
        addition = Append(self.scope.owner, thread_id, drafts, self.now, title, self.request)
        return await self.database.write_together(log.append, addition)
