"""For whom a call acts: as it says, as the conversation's owner, or as `CLEW_USER`; and what it never sees."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import NOBODYS, contents, everything, exchange, refusal, say, start
from tests.support.callers import PINNED, Caller

OF_A_CONVERSATION: dict[str, dict[str, Any]] = {
    "get_conversation": {},
    "fetch_chat_history": {},
    "get_conversation_history": {},
    "record_interaction": {"user_message": "Hi", "assistant_response": "Hello"},
    "add_message": {"role": "user", "content": "Hi"},
    "update_conversation": {"title": "Another"},
}
OF_A_MESSAGE: dict[str, dict[str, Any]] = {"update_message": {"content": "Another"}, "list_message_revisions": {}}


@promise("join.identity.local")
async def test_a_call_without_a_user_acts_for_local(caller: Caller) -> None:
    made = await caller.call("create_conversation", {})
    assert made["user_id"] == "local"
    assert await caller.call("list_conversations", {"limit": 1}) == await caller.call(
        "list_conversations", {"limit": 1, "user_id": "local"}
    )
    assert (await caller.call("list_user_conversations", {"limit": 1}))["conversations"][0]["id"] == made["id"]


@promise("join.identity.lookup")
@pytest.mark.parametrize("tool", OF_A_CONVERSATION)
async def test_naming_a_conversation_acts_for_its_owner(caller: Caller, user: str, tool: str) -> None:
    conversation = await start(caller, user)
    await caller.call(tool, {"conversation_id": conversation, **OF_A_CONVERSATION[tool]})
    assert (await caller.call("get_conversation", {"conversation_id": conversation}))["user_id"] == user
    [listed] = await caller.call("list_conversations", {"user_id": user})
    assert listed["id"] == conversation


@promise("join.identity.lookup")
@pytest.mark.parametrize("tool", OF_A_MESSAGE)
async def test_naming_a_message_does_not(caller: Caller, user: str, tool: str) -> None:
    message = await say(caller, await start(caller, user), user)
    refused = await refusal(caller, tool, {"message_id": message, **OF_A_MESSAGE[tool]})
    assert refused.code == "message_not_found"


@promise("001.add.not_found", "001.history.not_found", "000.isolation", "join.foreign_is_missing")
@pytest.mark.parametrize("tool", OF_A_CONVERSATION)
async def test_a_foreign_conversation_and_a_missing_one_get_the_same_answer(
    caller: Caller, user: str, stranger: str, tool: str
) -> None:
    foreign = await start(caller, user, "Private")
    await exchange(caller, foreign)
    before = await everything(caller, user)
    for known in (False, True):  # a stranger whom nobody knows, and one with data of their own
        if known:
            await start(caller, stranger)
        answers = [
            await refusal(caller, tool, {"conversation_id": id, "user_id": stranger, **OF_A_CONVERSATION[tool]})
            for id in (foreign, NOBODYS)
        ]
        assert [a.code for a in answers] == ["conversation_not_found"] * 2
        assert answers[0].message.replace(foreign, NOBODYS) == answers[1].message
    assert await everything(caller, user) == before


@promise("001.update.not_found", "000.isolation", "join.foreign_is_missing")
@pytest.mark.parametrize("tool", OF_A_MESSAGE)
async def test_a_foreign_message_and_a_missing_one_get_the_same_answer(
    caller: Caller, user: str, stranger: str, tool: str
) -> None:
    foreign = await say(caller, await start(caller, user), user)
    await start(caller, stranger)
    before = await everything(caller, user)
    answers = [
        await refusal(caller, tool, {"message_id": id, "user_id": stranger, **OF_A_MESSAGE[tool]})
        for id in (foreign, NOBODYS)
    ]
    assert [a.code for a in answers] == ["message_not_found"] * 2
    assert answers[0].message.replace(foreign, NOBODYS) == answers[1].message
    assert await everything(caller, user) == before


@promise("join.foreign_is_missing")
async def test_a_page_cannot_begin_behind_a_foreign_message(caller: Caller, user: str, stranger: str) -> None:
    foreign = await say(caller, await start(caller, user), user)
    own = await start(caller, stranger)
    answers = [
        await refusal(caller, "get_conversation_history", {"conversation_id": own, "user_id": stranger, "after": id})
        for id in (foreign, NOBODYS)
    ]
    assert [a.code for a in answers] == ["message_not_found"] * 2
    assert answers[0].message.replace(foreign, NOBODYS) == answers[1].message


@promise("join.identity.pinned")
async def test_a_pinned_call_acts_for_its_user(pinned: Caller) -> None:
    made = await pinned.call("create_conversation", {})
    assert made["user_id"] == PINNED
    conversation = made["id"]
    message = await say(pinned, conversation, PINNED)
    await exchange(pinned, conversation, user_id=PINNED)
    await pinned.call("update_message", {"message_id": message, "content": "Edited"})
    assert (await contents(pinned, conversation))[0] == "Edited"
    assert (await pinned.call("list_conversations", {"user_id": PINNED, "limit": 1}))[0]["id"] == conversation


@promise("join.identity.pinned", "001.create.user")
@pytest.mark.parametrize("tool", ["create_conversation", "list_conversations", "list_user_conversations"])
async def test_a_pinned_call_refuses_every_other_user(pinned: Caller, user: str, tool: str) -> None:
    for other in (user, "local", PINNED.upper()):
        refused = await refusal(pinned, tool, {"user_id": other})
        assert refused.code == "invalid_user_id"
        assert PINNED not in refused.message


@promise("join.identity.pinned", "join.foreign_is_missing")
@pytest.mark.parametrize("tool", OF_A_CONVERSATION)
async def test_a_pinned_call_never_looks_up_an_owner(caller: Caller, pinned: Caller, user: str, tool: str) -> None:
    foreign = await start(caller, user)
    answers = [
        await refusal(pinned, tool, {"conversation_id": id, **OF_A_CONVERSATION[tool]}) for id in (foreign, NOBODYS)
    ]
    assert [a.code for a in answers] == ["conversation_not_found"] * 2
    assert answers[0].message.replace(foreign, NOBODYS) == answers[1].message
    assert await contents(caller, foreign) == []


@promise("000.stateless")
async def test_what_one_process_stored_another_finds(caller: Caller, pinned: Caller) -> None:
    conversation = await start(pinned, PINNED)
    await exchange(pinned, conversation, "From one", "to another")
    assert await contents(caller, conversation, user_id=PINNED) == ["From one", "to another"]
    await exchange(caller, conversation, "And", "back")
    assert await contents(pinned, conversation) == ["From one", "to another", "And", "back"]
