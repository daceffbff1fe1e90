"""fetch_chat_history: the last messages, oldest first."""

from __future__ import annotations

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import CONVERSATION, MESSAGE, NOBODYS, assert_time, exchange, refusal, say, start
from tests.support.callers import Caller


async def fetched(caller: Caller, conversation: str, **more: object) -> list[str]:
    history = await caller.call("fetch_chat_history", {"conversation_id": conversation, **more})
    assert history["message_count"] == len(history["messages"])
    return [message["content"] for message in history["messages"]]


@promise("000.fetch.shape", "000.model.roles")
async def test_a_history_has_exactly_its_keys(caller: Caller, user: str) -> None:
    conversation = await start(caller, user, "Plans")
    recorded = await exchange(caller, conversation, metadata='{"tokens": 3}')
    history = await caller.call("fetch_chat_history", {"conversation_id": conversation})
    shown = await caller.call("get_conversation", {"conversation_id": conversation})
    assert history == {
        "conversation_id": conversation,
        **{key: shown[key] for key in CONVERSATION - {"id"}},
        "message_count": 2,
        "messages": [recorded["user_message"], recorded["assistant_message"]],
    }
    assert [set(message) for message in history["messages"]] == [MESSAGE, MESSAGE]
    assert [message["role"] for message in history["messages"]] == ["user", "assistant"]


@promise("000.cycle")
async def test_a_request_finds_what_the_ones_before_it_recorded(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    for n in range(3):
        assert len(await fetched(caller, conversation)) == 2 * n
        await exchange(caller, conversation, f"question {n}", f"answer {n}")
    assert (await fetched(caller, conversation))[-2:] == ["question 2", "answer 2"]


@promise("000.fetch.last", "000.fetch.limit")
async def test_it_has_the_last_messages_oldest_first(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    for n in range(6):
        await exchange(caller, conversation, f"{2 * n}", f"{2 * n + 1}")
    everything = [str(n) for n in range(12)]
    assert await fetched(caller, conversation) == everything[-10:]
    assert await fetched(caller, conversation, limit=1) == everything[-1:]
    assert await fetched(caller, conversation, limit=3) == everything[-3:]
    assert await fetched(caller, conversation, limit=100) == everything


@promise("000.fetch.limit")
async def test_it_has_at_most_100(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    for n in range(51):
        await exchange(caller, conversation, f"question {n}", f"answer {n}")
    last = await fetched(caller, conversation, limit=100)
    assert len(last) == 100
    assert (last[0], last[-1]) == ("question 1", "answer 50")


@promise("000.fetch.limit")
@pytest.mark.parametrize("limit", [0, -5, 101, 1.5, "many", True, [], 2**64])
async def test_a_limit_outside_1_to_100_is_refused(caller: Caller, user: str, limit: object) -> None:
    arguments = {"conversation_id": await start(caller, user), "limit": limit}
    refused = await refusal(caller, "fetch_chat_history", arguments)
    assert (refused.code, refused.message) == ("invalid_params", "limit must be a whole number from 1 to 100")


@promise("000.fetch.unknown")
async def test_an_unknown_conversation_is_not_found(caller: Caller) -> None:
    refused = await refusal(caller, "fetch_chat_history", {"conversation_id": NOBODYS})
    assert (refused.code, refused.message) == ("conversation_not_found", f"Conversation {NOBODYS} not found")


async def test_the_conversation_must_be_named(caller: Caller) -> None:
    refused = await refusal(caller, "fetch_chat_history", {})
    assert refused.code == "invalid_params"
    assert "conversation_id" in refused.message


@promise("join.update.touches")
async def test_the_times_of_a_history_are_its_conversations(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    await say(caller, conversation, user)
    history = await caller.call("fetch_chat_history", {"conversation_id": conversation})
    assert_time(history["updated_at"])
    assert history["created_at"] < history["updated_at"]
    assert history["messages"][0]["created_at"] == history["updated_at"]
