"""record_interaction: what was said and what was answered, both or neither."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import MESSAGE, NOBODYS, assert_time, contents, everything, exchange, refusal, start
from tests.support.callers import Caller


@promise("000.record.shape", "000.model.ids", "join.times")
async def test_both_messages_are_answered_as_stored(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    recorded = await exchange(caller, conversation, "What about OAuth?", "OAuth 2.0 is...")
    assert set(recorded) == {"conversation_id", "user_message", "assistant_message", "recorded_at"}
    assert recorded["conversation_id"] == conversation
    said, answered = recorded["user_message"], recorded["assistant_message"]
    assert set(said) == set(answered) == MESSAGE
    assert (said["role"], said["content"]) == ("user", "What about OAuth?")
    assert (answered["role"], answered["content"]) == ("assistant", "OAuth 2.0 is...")
    assert {said["conversation_id"], answered["conversation_id"]} == {conversation}
    assert uuid.UUID(said["id"]) != uuid.UUID(answered["id"])
    assert_time(recorded["recorded_at"])


@promise("join.order")
async def test_two_messages_with_one_time_keep_their_order(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    recorded = [await exchange(caller, conversation, f"q{n}", f"a{n}") for n in range(5)]
    assert all(r["user_message"]["created_at"] == r["assistant_message"]["created_at"] for r in recorded)
    assert await contents(caller, conversation) == [text for n in range(5) for text in (f"q{n}", f"a{n}")]


@promise("000.record.updated")
async def test_recording_moves_the_conversations_updated_at(caller: Caller, user: str) -> None:
    made = await caller.call("create_conversation", {"user_id": user})
    recorded = await exchange(caller, made["id"])
    shown = await caller.call("get_conversation", {"conversation_id": made["id"]})
    assert shown["updated_at"] == recorded["recorded_at"] > made["updated_at"]
    assert shown["created_at"] == made["created_at"]


@promise("000.record.unknown")
async def test_an_unknown_conversation_is_not_found(caller: Caller) -> None:
    arguments = {"conversation_id": NOBODYS, "user_message": "Hi", "assistant_response": "Hello"}
    refused = await refusal(caller, "record_interaction", arguments)
    assert (refused.code, refused.message) == ("conversation_not_found", f"Conversation {NOBODYS} not found")


@promise("000.record.empty", "000.record.atomic")
@pytest.mark.parametrize("empty", ["", " ", "\n\t ", "\u2003\u3000"])
@pytest.mark.parametrize("which", ["user_message", "assistant_response"])
async def test_both_messages_must_say_something(caller: Caller, user: str, which: str, empty: str) -> None:
    conversation = await start(caller, user)
    before = await everything(caller, user)
    arguments = {"conversation_id": conversation, "user_message": "Hi", "assistant_response": "Hello", which: empty}
    refused = await refusal(caller, "record_interaction", arguments)
    assert refused.code == "empty_content"
    assert which in refused.message
    assert await everything(caller, user) == before


@promise("000.record.atomic")
async def test_interactions_at_once_never_mix(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    await asyncio.gather(*(exchange(caller, conversation, f"q{n}", f"a{n}") for n in range(20)))
    texts = await contents(caller, conversation)
    pairs = list(zip(texts[::2], texts[1::2], strict=True))
    assert sorted(pairs) == sorted((f"q{n}", f"a{n}") for n in range(20))


@promise("000.scale.conversations")
async def test_a_hundred_conversations_are_held_at_once(caller: Caller, user: str) -> None:
    conversations = await asyncio.gather(*(start(caller, user) for _ in range(100)))
    await asyncio.gather(*(exchange(caller, c, f"q {c}", f"a {c}") for c in conversations))
    shown = await asyncio.gather(*(contents(caller, c) for c in conversations))
    assert shown == [[f"q {c}", f"a {c}"] for c in conversations]
