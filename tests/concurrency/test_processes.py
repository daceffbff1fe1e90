"""Many at once: processes on one store, conversations in one process, callers with one request id."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

import clew
from clew.errors import Conflict
from tests.support import scribe
from tests.support.engines import opened
from tests.support.soundness import check_file, recorded

PROCESSES = 8
EACH = {"sqlite": (500, 1), "postgres": (200, 4)}  # interactions of a process, and its callers
CONVERSATIONS = 100
TURNS = 5
CALLERS = 16


async def test_eight_processes_write_hundreds_of_interactions_each_into_one_store(url: str, engine: str) -> None:
    count, callers = EACH[engine]
    conversations = await scribe.new_conversations(url, ["alice", "bob"], each=3)
    processes = [scribe.start(url, f"process {n}", count, callers, conversations) for n in range(PROCESSES)]
    try:
        await asyncio.to_thread(scribe.begin, processes)
        answers = await asyncio.gather(*[asyncio.to_thread(scribe.listen, process) for process in processes])
    finally:
        for process in processes:
            process.kill()
    assert [len(acknowledged) for acknowledged in answers] == [count] * PROCESSES
    async with opened(url) as database:
        assert sorted(await recorded(database)) == sorted(one for acknowledged in answers for one in acknowledged)
    check_file(url)


async def test_a_hundred_conversations_at_once_keep_their_own_order(memory: clew.Memory) -> None:
    async def converse(n: int) -> None:
        made = await memory.create_conversation(user_id=f"user {n % 10}", title=f"conversation {n}")
        said = []
        for turn in range(TURNS):
            said += [f"{n} asks {turn}", f"{n} hears {turn}"]
            await memory.record_interaction(
                conversation_id=made["id"], user_message=said[-2], assistant_response=said[-1]
            )
            history = await memory.fetch_chat_history(conversation_id=made["id"], limit=100)
            assert [message["content"] for message in history["messages"]] == said

    await asyncio.gather(*[converse(n) for n in range(CONVERSATIONS)])
    listed = await memory.list_conversations(user_id="user 7", limit=100)
    assert {one["title"] for one in listed} == {f"conversation {n}" for n in range(7, CONVERSATIONS, 10)}


@pytest.fixture
async def memories(url: str) -> AsyncIterator[list[clew.Memory]]:
    """One store, opened twice, as by two processes: as many callers as there are places in this list."""
    async with clew.connect(url) as first, clew.connect(url) as second:
        yield [first, second] * (CALLERS // 2)


async def test_an_interaction_with_one_request_id_from_many_callers_is_stored_once(
    memories: list[clew.Memory],
) -> None:
    made = await memories[0].create_conversation(user_id="alice")
    answers = await asyncio.gather(
        *[
            memory.record_interaction(
                conversation_id=made["id"], user_message="q", assistant_response="a", request_id="once"
            )
            for memory in memories
        ]
    )
    assert all(answer == answers[0] for answer in answers)
    assert (await memories[0].fetch_chat_history(conversation_id=made["id"]))["message_count"] == 2


async def test_a_conversation_with_one_request_id_from_many_callers_is_made_once(memories: list[clew.Memory]) -> None:
    answers = await asyncio.gather(
        *[memory.create_conversation(user_id="alice", title="one", request_id="once") for memory in memories]
    )
    assert all(answer == answers[0] for answer in answers)
    assert (await memories[0].list_user_conversations(user_id="alice"))["total_count"] == 1


async def test_an_edit_with_one_request_id_from_many_callers_is_made_once(memories: list[clew.Memory]) -> None:
    made = await memories[0].create_conversation(user_id="alice")
    added = await memories[0].add_message(conversation_id=made["id"], role="user", content="before")
    id = added["message_id"]
    await asyncio.gather(
        *[
            memory.update_message(message_id=id, content="after", user_id="alice", request_id="once")
            for memory in memories
        ]
    )
    revisions = await memories[0].list_message_revisions(message_id=id, user_id="alice")
    assert [revision["content"] for revision in revisions["revisions"]] == ["before"]


async def test_of_many_callers_who_mean_different_things_by_one_request_id_one_is_heard(
    memories: list[clew.Memory],
) -> None:
    made = await memories[0].create_conversation(user_id="alice")
    answers = await asyncio.gather(
        *[
            memory.add_message(conversation_id=made["id"], role="user", content=f"caller {n}", request_id="once")
            for n, memory in enumerate(memories)
        ],
        return_exceptions=True,
    )
    assert sum(isinstance(answer, Conflict) for answer in answers) == CALLERS - 1
    history = await memories[0].fetch_chat_history(conversation_id=made["id"])
    [heard] = [n for n, answer in enumerate(answers) if not isinstance(answer, BaseException)]
    assert [message["content"] for message in history["messages"]] == [f"caller {heard}"]


async def test_edits_of_one_message_at_once_keep_every_text(memories: list[clew.Memory]) -> None:
    made = await memories[0].create_conversation(user_id="alice")
    added = await memories[0].add_message(conversation_id=made["id"], role="user", content="the first")
    id = added["message_id"]
    texts = [f"text {n}" for n in range(CALLERS)]
    await asyncio.gather(
        *[
            memory.update_message(message_id=id, content=text, user_id="alice")
            for memory, text in zip(memories, texts, strict=True)
        ]
    )
    revisions = (await memories[0].list_message_revisions(message_id=id, user_id="alice"))["revisions"]
    history = await memories[0].fetch_chat_history(conversation_id=made["id"])
    kept = [*[revision["content"] for revision in revisions], history["messages"][0]["content"]]
    assert [revision["n"] for revision in revisions] == list(range(1, CALLERS + 1))
    assert kept[0] == "the first"
    assert sorted(kept[1:]) == sorted(texts)
