"""create_conversation, which both seeds have."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import CONVERSATION, assert_time, everything, refusal, start
from tests.support.callers import Caller


@promise("000.create.shape", "001.create.shape", "join.create", "join.times", "000.model.times")
async def test_a_new_conversation_is_answered_with_exactly_its_keys(caller: Caller, user: str) -> None:
    made = await caller.call("create_conversation", {"user_id": user, "title": "Plans"})
    assert set(made) == CONVERSATION | {"conversation_id"}
    assert made["conversation_id"] == made["id"]
    assert (made["user_id"], made["title"]) == (user, "Plans")
    assert made["created_at"] == made["updated_at"]
    assert_time(made["created_at"])


@promise("000.model.ids")
async def test_its_id_is_a_uuid(caller: Caller, user: str) -> None:
    assert uuid.UUID(await start(caller, user)).version == 7


@promise("000.create.title")
async def test_a_conversation_needs_no_title(caller: Caller, user: str) -> None:
    assert (await caller.call("create_conversation", {"user_id": user}))["title"] is None
    assert (await caller.call("create_conversation", {"user_id": user, "title": None}))["title"] is None


@promise("000.create.title", "000.create.succeeds")
async def test_a_blank_title_is_none(caller: Caller, user: str) -> None:
    assert (await caller.call("create_conversation", {"user_id": user, "title": " \n"}))["title"] is None


@promise("join.title")
async def test_a_title_may_have_200_characters(caller: Caller, user: str) -> None:
    title = "🧵" * 200
    assert (await caller.call("create_conversation", {"user_id": user, "title": title}))["title"] == title


@promise("join.title")
async def test_a_longer_title_is_refused_and_nothing_is_made(caller: Caller, user: str) -> None:
    refused = await refusal(caller, "create_conversation", {"user_id": user, "title": "x" * 201})
    assert refused.code == "invalid_params"
    assert "title" in refused.message
    assert "200" in refused.message
    assert (await everything(caller, user))[0]["total_count"] == 0


@promise("000.create.succeeds")
async def test_a_user_may_start_any_number_of_conversations(caller: Caller, user: str) -> None:
    made = await asyncio.gather(*(start(caller, user, "The same") for _ in range(5)))
    assert len(set(made)) == 5


@promise("000.create.empty")
async def test_it_has_no_messages(caller: Caller, user: str) -> None:
    history = await caller.call("fetch_chat_history", {"conversation_id": await start(caller, user)})
    assert (history["message_count"], history["messages"]) == (0, [])


@promise("001.create.user", "join.user_id")
@pytest.mark.parametrize("bad", ["", "x" * 256, "a\nb", "a\x7fb", "a\x85b", 5, ["alice"], {}])
async def test_a_malformed_user_id_is_refused(caller: Caller, bad: object) -> None:
    assert (await refusal(caller, "create_conversation", {"user_id": bad})).code == "invalid_user_id"


@promise("join.user_id")
@pytest.mark.parametrize("good", ["a", "é", "alice@example.com", "Ωmega user", "用户", "🧵", "a'b\"c\\d;--"])
async def test_any_other_user_id_is_kept(caller: Caller, good: str, user: str) -> None:
    named = good + user if len(good) > 1 else good
    assert (await caller.call("create_conversation", {"user_id": named}))["user_id"] == named


@promise("join.user_id")
async def test_a_user_id_of_255_characters_is_kept(caller: Caller, user: str) -> None:
    long = user + "ü" * (255 - len(user))
    conversation = await start(caller, long)
    [listed] = await caller.call("list_conversations", {"user_id": long})
    assert (listed["id"], listed["user_id"]) == (conversation, long)
