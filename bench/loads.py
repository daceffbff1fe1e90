"""What callers of the Python interface get: so many callers at once, each waiting for its answer."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

from bench.stores import BUSY, LISTER, TEXT, Store
from clew import Memory

Call = Callable[[], Awaitable[object]]


async def rate(call: Call, callers: int, seconds: float) -> float:
    """Calls a second that this many callers get answered."""
    done = 0
    end = time.perf_counter() + seconds

    async def caller() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await call()
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return done / (time.perf_counter() - began)


def record(memory: Memory, store: Store, chance: random.Random) -> Call:
    """Record an exchange of 2 x 500 characters in a conversation chosen at random."""

    async def call() -> None:
        owner, id = store.any(chance)
        await memory.record_interaction(conversation_id=id, user_message=TEXT, assistant_response=TEXT, user_id=owner)

    return call


def fetch(memory: Memory, store: Store, chance: random.Random) -> Call:
    """Fetch the last ten messages of a conversation chosen at random."""

    async def call() -> None:
        owner, id = store.any(chance)
        await memory.fetch_chat_history(conversation_id=id, limit=10, user_id=owner)

    return call


def fetch_noisy(memory: Memory, store: Store) -> Call:
    """Fetch the last ten messages of the conversation whose latest entries are all of other kinds."""
    return lambda: memory.fetch_chat_history(conversation_id=store.noisy, limit=10, user_id=BUSY)


def list_many(memory: Memory) -> Call:
    """List the latest conversations of the user who has the most."""
    return lambda: memory.list_conversations(user_id=LISTER, limit=20)
