"""Clew killed in the middle of a stream of writes: what was acknowledged is there, whole, and nothing is half."""

from __future__ import annotations

import asyncio
import os
import random
import threading

import pytest

import clew
from tests.support import scribe
from tests.support.engines import opened
from tests.support.scribe import Interaction
from tests.support.soundness import check_file, recorded

CALLERS = 8
LONGEST_LIFE = 0.4  # seconds from the first answer to the kill
KILLS = 5 if os.environ.get("SOAK") == "short" else 20


@pytest.mark.parametrize("kills", [2, pytest.param(KILLS, marks=pytest.mark.soak)], ids=["twice", "campaign"])
async def test_what_was_acknowledged_before_a_kill_is_there_and_nothing_is_half(url: str, kills: int) -> None:
    conversations = await scribe.new_conversations(url, ["alice", "bob"], each=2)
    acknowledged: list[Interaction] = []
    for n in range(kills):
        acknowledged += await asyncio.to_thread(write_until_killed, url, f"life {n}", conversations)
        async with opened(url) as database:
            found = await recorded(database)
        assert set(acknowledged) <= set(found)
        assert len(found) <= len(acknowledged) + CALLERS * (n + 1)  # beside them, at most what was on its way
        check_file(url)
    assert len(acknowledged) >= kills
    await still_works(url, conversations[0])


def write_until_killed(url: str, name: str, conversations: list[str]) -> list[Interaction]:
    """Let a process write, and kill it at some moment; what it had acknowledged."""
    process = scribe.start(url, name, 0, CALLERS, conversations)
    try:
        scribe.begin([process])
        first = scribe.listen_once(process)
        life = random.uniform(0, LONGEST_LIFE)  # noqa: S311 - any moment will do
        threading.Timer(life, process.kill).start()
        rest = scribe.listen(process)
        assert process.returncode == scribe.KILLED
        return [first, *rest]
    finally:
        process.kill()


async def still_works(url: str, conversation: str) -> None:
    async with clew.connect(url) as memory:
        said = await memory.record_interaction(
            conversation_id=conversation, user_message="still there?", assistant_response="of course"
        )
        history = await memory.fetch_chat_history(conversation_id=conversation, limit=2)
        assert [message["id"] for message in history["messages"]] == [
            said["user_message"]["id"],
            said["assistant_message"]["id"],
        ]
