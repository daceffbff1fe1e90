"""The one writing connection of a process, and the thread that owns it.

Callers queue up; the thread takes all that wait, runs each in a savepoint of its own, commits once, and then wakes all
of them together. So an answer always comes after its commit, and a commit is shared by as many as can share it. When
SQLite rolls the whole group back, it is run again one by one, so that one caller's fault is never another's.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import apsw

from clew.db.database import Operation, closed, failed, operating
from clew.db.sqlite_connection import operate, patiently, translated

T = TypeVar("T")
log = logging.getLogger(__name__)

LARGEST_GROUP = 256


class Job(Generic[T]):
    """A caller that waits for its operation."""

    __slots__ = ("begun", "error", "future", "operation", "reads", "settled", "value")

    def __init__(self, operation: Operation[T], reads: bool) -> None:
        self.operation = operation
        self.reads = reads
        self.future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.begun = self.settled = False
        self.value: T | None = None
        self.error: BaseException | None = None

    def begin(self) -> bool:
        """Whether to run it: a caller that went away before its turn is left out, for good."""
        self.begun = self.begun or not self.future.cancelled()
        return self.begun

    def settle(self, error: BaseException | None) -> None:
        """The outcome is final: what was stored is on disk, or nothing was."""
        self.error = error
        self.settled = True

    def answer(self) -> None:
        """Wake the caller, if it still waits. On its own loop only."""
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.value)  # type: ignore[arg-type]
        else:
            self.future.set_exception(self.error)


class GroupLost(Exception):
    """SQLite rolled back more than the operation that failed."""


class Writer:
    """Runs write operations one after another, in groups that share a commit."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._jobs: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self._door = threading.Lock()
        self._open = True
        self._ended = False
        self._thread = threading.Thread(target=self._live, name="clew-writer", daemon=True)
        self._thread.start()

    def submit(self, operation: Operation[T], *, reads: bool = False) -> asyncio.Future[T]:
        """Queue an operation up; the future gets its answer after the commit. One that reads cannot write."""
        job = Job(operation, reads)
        with self._door:
            if not self._open:
                raise closed()
            self._jobs.put(job)
        return job.future

    def close(self) -> None:
        """Finish what is queued, then stop. Blocks until that is done."""
        self._shut()
        self._thread.join()

    def _shut(self) -> None:
        with self._door:
            if self._open:
                self._open = False
                self._jobs.put(None)

    def _live(self) -> None:
        group: list[Job[Any]] = []
        try:
            with operating():
                while not self._ended:
                    group = self._take()
                    if group:
                        self._carry_out(group)
                        _answer(group)
        except BaseException:
            log.exception("The writer stopped; every waiting and later write is refused")
            self._shut()
            self._refuse(group)
        finally:
            self._connection.close()

    def _take(self) -> list[Job[Any]]:
        """Wait for a job, and take what else is there. Behind the last one stands the end."""
        group: list[Job[Any]] = []
        while not self._ended and len(group) < LARGEST_GROUP and not (group and self._jobs.empty()):
            job = self._jobs.get()
            if job is None:
                self._ended = True
            else:
                group.append(job)
        return group

    def _refuse(self, group: list[Job[Any]]) -> None:
        """Fail whatever waits. No job can come in behind: the door is shut."""
        while not self._ended:
            group = group + self._take()
        for job in group:
            if not job.settled:
                job.settle(failed())
        _answer(group)

    def _carry_out(self, group: list[Job[Any]]) -> None:
        """Give every job of the group its outcome, on disk."""
        try:
            patiently(lambda: self._connection.execute("BEGIN IMMEDIATE"))
        except Exception as error:  # nobody's fault: nobody is tried again
            for job in group:
                job.settle(translated(error))
            return
        try:
            self._together(group)
        except Exception as error:
            self._roll_back()
            if len(group) == 1:
                group[0].settle(translated(error))
                return
            for job in group:
                self._carry_out([job])

    def _together(self, group: list[Job[Any]]) -> None:
        run = self._alone if len(group) == 1 else self._in_savepoint
        for job in group:
            if job.begin():
                run(job)
        self._connection.execute("COMMIT")
        for job in group:
            job.settle(job.error)

    def _alone(self, job: Job[Any]) -> None:
        """The only job of a transaction: its failure ends the transaction."""
        job.error = None
        job.value = self._operate(job)

    def _in_savepoint(self, job: Job[Any]) -> None:
        """One job among others: its failure takes back its own work only."""
        self._connection.execute("SAVEPOINT one")
        job.error = None
        try:
            job.value = self._operate(job)
        except Exception as error:
            if not self._connection.in_transaction:
                raise GroupLost from error
            job.error = translated(error)
            self._connection.execute("ROLLBACK TO one")
        self._connection.execute("RELEASE one")

    def _operate(self, job: Job[T]) -> T:
        if not job.reads:
            return operate(self._connection, job.operation)
        self._connection.pragma("query_only", True)
        try:
            return operate(self._connection, job.operation)
        finally:
            self._connection.pragma("query_only", False)

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def _answer(group: list[Job[Any]]) -> None:
    """Wake the callers of a group: one wake-up for each loop, which nearly always is one."""
    loops: dict[asyncio.AbstractEventLoop, list[Callable[[], None]]] = {}
    for job in group:
        loops.setdefault(job.future.get_loop(), []).append(job.answer)
    for loop, answers in loops.items():
        try:
            loop.call_soon_threadsafe(_each, answers)
        except RuntimeError:  # the loop is closed: nobody waits any more
            continue


def _each(answers: list[Callable[[], None]]) -> None:
    for answer in answers:
        answer()
