"""A process that records interactions and says each one that was acknowledged: for tests that start many, or kill some.

    python -m tests.support.scribe URL NAME COUNT CALLERS CONVERSATION...

It says `ready`, waits for a line, and then goes round the conversations; a count of 0 means until it is killed.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec

import clew

ROOT = Path(__file__).parents[2]
KILLED = -9


class Interaction(NamedTuple):
    """One that was acknowledged, or found."""

    conversation: str
    user_message_id: str
    assistant_message_id: str
    text: str

    @property
    def asked(self) -> str:
        return f"asked {self.text}"

    @property
    def answered(self) -> str:
        return f"answered {self.text}"


async def record(url: str, name: str, count: int, callers: int, conversations: list[str]) -> None:
    numbers = iter(range(count)) if count else itertools.count()

    async def call(memory: clew.Memory) -> None:
        for n in numbers:
            wanted = Interaction(conversations[n % len(conversations)], "", "", f"{name} {n}")
            said = await memory.record_interaction(
                conversation_id=wanted.conversation, user_message=wanted.asked, assistant_response=wanted.answered
            )
            done = wanted._replace(
                user_message_id=said["user_message"]["id"], assistant_message_id=said["assistant_message"]["id"]
            )
            os.write(1, msgspec.json.encode(done) + b"\n")  # at once, and whole

    async with clew.connect(url) as memory:
        os.write(1, b"ready\n")
        sys.stdin.readline()
        await asyncio.gather(*[call(memory) for _ in range(callers)])


async def new_conversations(url: str, users: list[str], each: int) -> list[str]:
    """Make some conversations for some users; their ids."""
    async with clew.connect(url) as memory:
        made = [await memory.create_conversation(user_id=user) for user in users for _ in range(each)]
    return [conversation["id"] for conversation in made]


def start(url: str, name: str, count: int, callers: int, conversations: list[str]) -> subprocess.Popen[bytes]:
    """Start such a process; it waits for the word of `begin`."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.scribe", url, name, str(count), str(callers), *conversations],
        cwd=ROOT,
        bufsize=0,  # what one reader has not taken is left for the next
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def begin(processes: list[subprocess.Popen[bytes]]) -> None:
    """Let them all begin at once."""
    for process in processes:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"ready\n", process.stderr.read().decode()
    for process in processes:
        assert process.stdin
        process.stdin.write(b"go\n")
        process.stdin.flush()


def listen_once(process: subprocess.Popen[bytes]) -> Interaction:
    """The first that a process gets acknowledged."""
    assert process.stdout
    assert process.stderr
    line = process.stdout.readline()
    assert line, process.stderr.read().decode()
    return msgspec.json.decode(line, type=Interaction)


def listen(process: subprocess.Popen[bytes]) -> list[Interaction]:
    """What a process gets acknowledged from now until it ends, which must be well or by a kill."""
    output, errors = process.communicate(timeout=100)
    assert process.returncode in (0, KILLED), errors.decode()
    assert errors == b""
    return [msgspec.json.decode(line, type=Interaction) for line in output.splitlines()]


if __name__ == "__main__":
    url, name, count, callers, *conversations = sys.argv[1:]
    asyncio.run(record(url, name, int(count), int(callers), conversations))
