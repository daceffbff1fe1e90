"""Stores to measure on: many conversations of many users, and two that are hard.

A store of 1,000,000 messages has 10,000 conversations of 100 users, which take turns at random until each has about a
hundred messages. Beside them stand a user with 10,000 conversations, and a conversation of ten messages followed by
10,000 entries of other kinds.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass, field

from clew.core.append import Append
from clew.core.drafts import draft_message
from clew.core.ids import new_id
from clew.core.model import Draft, Kind
from clew.db.database import Database, Operation, Transaction
from clew.memory import log, threads
from clew.scope import Scope

USERS = 100
PER_CONVERSATION = 100
TEXT = ("Where did we leave the thread? " * 20)[:500]
LISTER, BUSY = "lister", "busy"
TOGETHER = 500


@dataclass
class Store:
    """A filled database, and what is in it."""

    database: Database
    name: str
    messages: int
    conversations: list[tuple[str, str]] = field(default_factory=list)
    noisy: str = ""

    def any(self, chance: random.Random) -> tuple[str, str]:
        """An owner and a conversation, at random."""
        return chance.choice(self.conversations)


async def fill(database: Database, name: str, messages: int, hard: int) -> Store:
    """A store of this many messages; `hard` says how hard the two hard cases are."""
    store = Store(database, name, messages)
    store.conversations = [conversation(n) for n in range(messages // PER_CONVERSATION)]
    for first in range(0, len(store.conversations), TOGETHER):
        await database.write(_conversations(store.conversations[first : first + TOGETHER]))
    chance = random.Random(messages)  # noqa: S311 - which conversation speaks next, no secret
    began = time.monotonic()
    for done in range(0, messages, 2 * TOGETHER):
        await database.write(_exchanges([store.any(chance) for _ in range(TOGETHER)]))
        _progress(done, messages, began)
    await _fill_lister(database, hard)
    store.noisy = await _fill_noisy(database, hard)
    return store


def conversation(n: int) -> tuple[str, str]:
    """The owner and the id of the n-th conversation: such that pgbench can say them too."""
    return f"user-{n % USERS}", f"00000000-0000-7000-8000-{n:012d}"


def _conversations(keys: list[tuple[str, str]]) -> Operation[None]:
    async def operation(tx: Transaction) -> None:
        for owner, id in keys:
            await threads.create(tx, Scope(owner), id, None, _now(), None)

    return operation


def _exchanges(keys: list[tuple[str, str]]) -> Operation[None]:
    """One exchange in each of these conversations, so that what a conversation holds lies far apart, as in life."""
    batch = [_said(owner, id, 2) for owner, id in keys]

    async def operation(tx: Transaction) -> None:
        await log.append(tx, batch)

    return operation


async def _fill_lister(database: Database, conversations: int) -> None:
    ids = [new_id() for _ in range(conversations)]

    async def operation(tx: Transaction) -> None:
        for n, id in enumerate(ids):
            await threads.create(tx, Scope(LISTER), id, f"Conversation {n}", _now() + n, None)

    await database.write(operation)


async def _fill_noisy(database: Database, others: int) -> str:
    id = new_id()
    drafts = [_tool_result() for _ in range(others)]

    async def operation(tx: Transaction) -> None:
        await threads.create(tx, Scope(BUSY), id, None, _now(), None)
        await log.append(tx, [_said(BUSY, id, 10), Append(BUSY, id, drafts, _now())])

    await database.write(operation)
    return id


def _said(owner: str, id: str, messages: int) -> Append:
    roles = ("user", "assistant")
    return Append(owner, id, [draft_message(roles[n % 2], TEXT) for n in range(messages)], _now())


def _tool_result() -> Draft:
    return Draft(
        uid=new_id(),
        kind=Kind.TOOL_RESULT,
        role=None,
        content="42",
        metadata=None,
        size=2,
        token_count=1,
        weight=5,
        shown=False,
    )


def _now() -> int:
    return time.time_ns() // 1000


def _progress(done: int, all: int, began: float) -> None:
    if sys.stderr.isatty() or done % 100_000 == 0:
        print(f"\r  filling: {done:,} of {all:,} messages, {time.monotonic() - began:.0f} s", end="", file=sys.stderr)
        if done + 2 * TOGETHER >= all:
            print(file=sys.stderr)
