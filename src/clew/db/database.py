"""The interface of an engine: what an operation may do, and what it may rely on.

An *operation* is one async function over a transaction's four methods. It awaits nothing but its transaction and can
be run again from its start, so its ids and times are made before it. A *read* sees one snapshot. A *write* is atomic,
durable when it answers, and runs to its end once it has begun: the engine owns it and the caller only waits; cancelled
before it has begun, it never happens.

SQL is written once, for both engines: parameters are `$1`, `$2`, tables are named with the schema (`clew.thread`), and
the few words that differ are the closed list in `dialect`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from clew.errors import ClewError, Unavailable

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741 - the item of a batch
Row = Sequence[Any]
Params = Sequence[Any]


class Transaction(Protocol):
    """What an operation may do."""

    async def one(self, sql: str, *params: Any) -> Row | None:
        """The first row, or None."""

    async def all(self, sql: str, *params: Any) -> list[Row]:
        """All rows."""

    async def run(self, sql: str, *params: Any) -> int:
        """Carry out a statement that gives no rows; how many rows it touched."""

    async def many(self, sql: str, batch: Iterable[Params]) -> list[Row]:
        """Carry out one statement for each set of parameters; the rows of all of them, in order."""


Operation = Callable[[Transaction], Coroutine[Any, Any, T]]
BatchOperation = Callable[[Transaction, list[I]], Coroutine[Any, Any, list[T | ClewError]]]

_inside: ContextVar[bool] = ContextVar("clew_inside_an_operation", default=False)


class Database(Protocol):
    """An engine that is open."""

    async def read(self, operation: Operation[T], *, short: bool = False) -> T:
        """Run an operation that only reads. A short one touches few rows by an index and may be run at once."""

    async def write(self, operation: Operation[T]) -> T:
        """Run an operation in a transaction of its own, and answer when it is on disk."""

    async def write_together(self, operation: BatchOperation[I, T], item: I) -> T:
        """Run an operation over this item and whatever others wait for the same operation, in one transaction."""

    async def close(self) -> None:
        """Finish what has begun, then let go of the database."""


class UniqueViolation(Exception):
    """A row with this key is there already. For operations: it never leaves them untranslated."""


class NotDriven(Exception):
    """An operation awaited something other than its transaction: a mistake in the program."""


@contextmanager
def operating() -> Iterator[None]:
    """Marks what runs inside an operation, which must not start another."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def refuse_nested() -> None:
    """An operation inside an operation would wait for itself."""
    if _inside.get():
        raise NotDriven("an operation started another one inside its transaction")


def busy() -> Unavailable:
    return Unavailable("The database is busy with other writers: try again")


def closed() -> Unavailable:
    return Unavailable("The database is closed")


def failed() -> Unavailable:
    return Unavailable("The database could not carry this out; the reason is in the server's log")
