"""Callers that wait for the same operation share a transaction.

Whatever has queued up while earlier batches run goes into the next one, so a lone caller waits for nobody and many
share one commit. A batch that fails whole is run again one by one, so that one caller's fault is never another's;
where the way to the database broke, it is not, since the batch may have been stored.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Generic

from clew.db.database import BatchOperation, I, NotDriven, Operation, T, Transaction
from clew.db.postgres_connection import Unreachable
from clew.errors import Unavailable

LARGEST_BATCH = 128
AT_ONCE = 2

Write = Callable[[Operation[Any]], Coroutine[Any, Any, Any]]


class Waiter(Generic[I, T]):
    """A caller and its item."""

    __slots__ = ("future", "item")

    def __init__(self, item: I) -> None:
        self.item = item
        self.future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def answer(self, outcome: Any) -> None:
        if self.future.done():
            return
        if isinstance(outcome, BaseException):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)


class Batcher:
    """Collects the items of one operation. `write` carries out an operation in a transaction of its own."""

    def __init__(self, operation: BatchOperation[Any, Any], write: Write) -> None:
        self._operation = operation
        self._write = write
        self._waiting: deque[Waiter[Any, Any]] = deque()
        self._running: set[asyncio.Task[None]] = set()

    async def submit(self, item: Any) -> Any:
        waiter: Waiter[Any, Any] = Waiter(item)
        self._waiting.append(waiter)
        asyncio.get_running_loop().call_soon(self._start)
        return await waiter.future

    async def finish(self) -> None:
        """Wait until everything that was submitted is done."""
        while self._waiting or self._running:
            self._start()
            await asyncio.wait(self._running)

    def _start(self) -> None:
        if self._waiting and len(self._running) < AT_ONCE:
            task = asyncio.get_running_loop().create_task(self._run())
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._start()

    async def _run(self) -> None:
        group: list[Waiter[Any, Any]] = []

        async def together(tx: Transaction) -> Any:
            """Taken only now, with a connection in hand: who went away meanwhile is left out, who came is in."""
            group.extend(self._take(LARGEST_BATCH - len(group)))
            return await self._operation(tx, [waiter.item for waiter in group]) if group else []

        try:
            outcomes = await self._write(together)
        except Unreachable as error:  # nobody's fault, and perhaps it was stored: nothing is run again
            group = group or self._take(LARGEST_BATCH)
            outcomes = [Unavailable(error.message) for _ in group]
        except Exception as error:
            group = group or self._take(LARGEST_BATCH)
            outcomes = [error] if len(group) == 1 else [await self._alone(waiter) for waiter in group]
        if len(outcomes) != len(group):
            outcomes = [NotDriven("a batch operation did not answer each of its items") for _ in group]
        for waiter, outcome in zip(group, outcomes, strict=True):
            waiter.answer(outcome)

    async def _alone(self, waiter: Waiter[Any, Any]) -> Any:
        """The outcome of one waiter, which is its error where it has one."""

        async def one(tx: Transaction) -> Any:
            return await self._operation(tx, [waiter.item])

        try:
            [outcome] = await self._write(one)
        except Exception as error:
            return error
        return outcome

    def _take(self, most: int) -> list[Waiter[Any, Any]]:
        taken: list[Waiter[Any, Any]] = []
        while self._waiting and len(taken) < most:
            waiter = self._waiting.popleft()
            if not waiter.future.cancelled():
                taken.append(waiter)
        return taken
