"""get_conversation."""

from __future__ import annotations

from tests.contract.manifest import promise
from tests.contract.steps import CONVERSATION, NOBODYS, exchange, refusal, start
from tests.support.callers import Caller


@promise("000.get.shape")
async def test_a_conversation_is_shown_with_exactly_its_keys(caller: Caller, user: str) -> None:
    made = await caller.call("create_conversation", {"user_id": user, "title": "Plans"})
    shown = await caller.call("get_conversation", {"conversation_id": made["id"]})
    assert set(shown) == CONVERSATION
    assert shown == {key: made[key] for key in CONVERSATION}


@promise("000.get.shape")
async def test_it_is_shown_without_its_messages(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    await exchange(caller, conversation)
    assert set(await caller.call("get_conversation", {"conversation_id": conversation})) == CONVERSATION


@promise("000.get.unknown")
async def test_an_unknown_conversation_is_not_found(caller: Caller) -> None:
    refused = await refusal(caller, "get_conversation", {"conversation_id": NOBODYS})
    assert (refused.code, refused.message) == ("conversation_not_found", f"Conversation {NOBODYS} not found")


@promise("000.errors")
async def test_an_id_of_any_form_is_only_not_found(caller: Caller) -> None:
    refused = await refusal(caller, "get_conversation", {"conversation_id": "xyz"})
    assert (refused.code, refused.message) == ("conversation_not_found", "Conversation xyz not found")


async def test_a_long_unknown_id_is_repeated_in_part(caller: Caller) -> None:
    refused = await refusal(caller, "get_conversation", {"conversation_id": "x" * 255})
    assert refused.code == "conversation_not_found"
    assert len(refused.message) < 150


@promise("join.thread_id")
async def test_an_id_of_more_than_255_characters_is_refused(caller: Caller) -> None:
    refused = await refusal(caller, "get_conversation", {"conversation_id": "x" * 256})
    assert refused.code == "invalid_params"
    assert "255" in refused.message
