"""add_message, get_conversation_history, update_message, list_message_revisions and update_conversation."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import (
    CONVERSATION,
    MESSAGE,
    NOBODYS,
    assert_time,
    contents,
    everything,
    exchange,
    refusal,
    say,
    start,
)
from tests.support.callers import Caller


@promise("001.add.shape", "000.model.ids")
async def test_an_added_message_is_answered_with_its_id_and_time(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    arguments = {"conversation_id": conversation, "user_id": user, "role": "assistant", "content": "Hello"}
    added = await caller.call("add_message", arguments)
    assert set(added) == {"message_id", "created_at"}
    assert uuid.UUID(added["message_id"]).version == 7
    assert_time(added["created_at"])
    [stored] = (await caller.call("get_conversation_history", {"conversation_id": conversation}))["messages"]
    assert stored == {
        "id": added["message_id"],
        "conversation_id": conversation,
        "role": "assistant",
        "content": "Hello",
        "metadata": None,
        "created_at": added["created_at"],
    }


@promise("000.record.updated")
async def test_an_added_message_moves_the_conversations_updated_at(caller: Caller, user: str) -> None:
    made = await caller.call("create_conversation", {"user_id": user})
    await say(caller, made["id"], user)
    shown = await caller.call("get_conversation", {"conversation_id": made["id"]})
    assert shown["updated_at"] > made["updated_at"]


@promise("001.add.role", "000.model.roles")
@pytest.mark.parametrize("role", ["", "system", "tool", "User", "ASSISTANT", " user", "user\n", "agent"])
async def test_a_role_that_does_not_exist_is_refused(caller: Caller, user: str, role: str) -> None:
    conversation = await start(caller, user)
    before = await everything(caller, user)
    arguments = {"conversation_id": conversation, "user_id": user, "role": role, "content": "Hi"}
    refused = await refusal(caller, "add_message", arguments)
    assert (refused.code, refused.message) == ("invalid_role", "role must be one of user, assistant")
    assert await everything(caller, user) == before


@promise("001.add.empty")
@pytest.mark.parametrize("empty", ["", " ", "\r\n\t", "\u00a0\u2028"])
async def test_an_added_message_must_say_something(caller: Caller, user: str, empty: str) -> None:
    conversation = await start(caller, user)
    before = await everything(caller, user)
    arguments = {"conversation_id": conversation, "user_id": user, "role": "user", "content": empty}
    refused = await refusal(caller, "add_message", arguments)
    assert (refused.code, refused.message) == ("empty_content", "content must not be empty or only white space")
    assert await everything(caller, user) == before


@promise("001.add.not_found")
async def test_nothing_is_added_to_an_unknown_conversation(caller: Caller, user: str) -> None:
    arguments = {"conversation_id": NOBODYS, "user_id": user, "role": "user", "content": "Hi"}
    assert (await refusal(caller, "add_message", arguments)).code == "conversation_not_found"


@promise("001.history.shape")
async def test_a_full_history_has_its_messages_and_its_conversation(caller: Caller, user: str) -> None:
    conversation = await start(caller, user, "Plans")
    await exchange(caller, conversation, metadata='{"n": 1}')
    asked = {"conversation_id": conversation, "user_id": user}
    history = await caller.call("get_conversation_history", asked)
    assert set(history) == {"messages", "conversation_info", "next_after"}
    assert history["conversation_info"] == await caller.call("get_conversation", asked)
    assert set(history["conversation_info"]) == CONVERSATION
    assert [set(message) for message in history["messages"]] == [MESSAGE, MESSAGE]
    assert history["messages"] == (await caller.call("fetch_chat_history", asked))["messages"]
    assert history["next_after"] is None


@promise("001.history.shape")
async def test_a_full_history_leaves_nothing_out(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    await asyncio.gather(*(exchange(caller, conversation) for _ in range(60)))
    assert len(await contents(caller, conversation)) == 120


@promise("001.history.shape")
async def test_the_history_of_an_empty_conversation_is_empty(caller: Caller, user: str) -> None:
    history = await caller.call("get_conversation_history", {"conversation_id": await start(caller, user)})
    assert (history["messages"], history["next_after"]) == ([], None)


@promise("join.history.page")
async def test_pages_of_a_history_show_everything_once_in_order(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    said = [await say(caller, conversation, user, f"{n}") for n in range(7)]
    seen: list[str] = []
    after = None
    while True:
        asked = {"conversation_id": conversation, "limit": 3, "after": after}
        page = await caller.call("get_conversation_history", asked)
        seen += [message["id"] for message in page["messages"]]
        after = page["next_after"]
        if after is None:
            break
        assert after == seen[-1]
        assert len(page["messages"]) == 3
    assert seen == said


@promise("join.history.page")
async def test_a_page_that_ends_with_the_last_message_has_no_next(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    first, second = [await say(caller, conversation, user) for _ in range(2)]
    whole = await caller.call("get_conversation_history", {"conversation_id": conversation, "limit": 2})
    assert whole["next_after"] is None
    rest = await caller.call("get_conversation_history", {"conversation_id": conversation, "after": first})
    assert [message["id"] for message in rest["messages"]] == [second]
    nothing = await caller.call("get_conversation_history", {"conversation_id": conversation, "after": second})
    assert (nothing["messages"], nothing["next_after"]) == ([], None)


@promise("join.history.page")
async def test_a_page_cannot_begin_behind_a_message_of_another_conversation(caller: Caller, user: str) -> None:
    conversation, other = await start(caller, user), await start(caller, user)
    elsewhere = await say(caller, other, user)
    for after in (elsewhere, NOBODYS, "x", ""):
        refused = await refusal(caller, "get_conversation_history", {"conversation_id": conversation, "after": after})
        assert refused.code == "message_not_found"


@promise("join.history.page")
@pytest.mark.parametrize("limit", [0, -1, 1.5, "all"])
async def test_a_page_must_have_room_for_a_message(caller: Caller, user: str, limit: object) -> None:
    asked = {"conversation_id": await start(caller, user), "limit": limit}
    refused = await refusal(caller, "get_conversation_history", asked)
    assert refused.code == "invalid_params"
    assert "limit" in refused.message


@promise("001.history.not_found")
async def test_the_history_of_an_unknown_conversation_is_not_found(caller: Caller, user: str) -> None:
    for asked in ({"conversation_id": NOBODYS}, {"conversation_id": NOBODYS, "user_id": user}):
        assert (await refusal(caller, "get_conversation_history", asked)).code == "conversation_not_found"


@promise("001.update.shape", "001.update.text", "join.update.touches")
async def test_an_edit_puts_another_text_in_place(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    message = await say(caller, conversation, user, "At first")
    await say(caller, conversation, user, "Behind")
    before = await caller.call("get_conversation_history", {"conversation_id": conversation})
    edit = {"message_id": message, "user_id": user, "content": "Edited"}
    updated = await caller.call("update_message", edit)
    assert set(updated) == {"updated_at"}
    assert_time(updated["updated_at"])
    after = await caller.call("get_conversation_history", {"conversation_id": conversation})
    assert [m["content"] for m in after["messages"]] == ["Edited", "Behind"]
    assert after["messages"][0] == {**before["messages"][0], "content": "Edited"}
    assert after["conversation_info"]["updated_at"] == updated["updated_at"]
    assert updated["updated_at"] > before["conversation_info"]["updated_at"]


@promise("001.update.empty")
@pytest.mark.parametrize("empty", ["", " ", "\n"])
async def test_an_edit_must_say_something(caller: Caller, user: str, empty: str) -> None:
    message = await say(caller, await start(caller, user), user)
    before = await everything(caller, user)
    refused = await refusal(caller, "update_message", {"message_id": message, "user_id": user, "content": empty})
    assert refused.code == "empty_content"
    assert await everything(caller, user) == before


@promise("001.update.not_found")
@pytest.mark.parametrize("tool", ["update_message", "list_message_revisions"])
async def test_an_unknown_message_is_not_found(caller: Caller, user: str, tool: str) -> None:
    content = {"content": "Edited"} if tool == "update_message" else {}
    refused = await refusal(caller, tool, {"message_id": NOBODYS, "user_id": user, **content})
    assert (refused.code, refused.message) == ("message_not_found", f"Message {NOBODYS} not found")


@promise("join.revisions")
async def test_earlier_texts_are_kept_oldest_first(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    recorded = await exchange(caller, conversation, "First")
    message = recorded["user_message"]["id"]
    named = {"message_id": message, "user_id": user}
    assert await caller.call("list_message_revisions", named) == {"message_id": message, "revisions": []}
    second = await caller.call("update_message", {**named, "content": "Second"})
    await caller.call("update_message", {**named, "content": "Third"})
    shown = await caller.call("list_message_revisions", named)
    assert shown == {
        "message_id": message,
        "revisions": [
            {"n": 1, "content": "First", "created_at": recorded["recorded_at"]},
            {"n": 2, "content": "Second", "created_at": second["updated_at"]},
        ],
    }
    assert (await contents(caller, conversation))[0] == "Third"


@promise("join.revisions")
async def test_an_edit_keeps_role_metadata_and_place(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    recorded = await exchange(caller, conversation, metadata='{"n": 1}')
    answered = recorded["assistant_message"]
    await caller.call("update_message", {"message_id": answered["id"], "user_id": user, "content": "Edited"})
    history = await caller.call("fetch_chat_history", {"conversation_id": conversation})
    assert history["messages"] == [recorded["user_message"], {**answered, "content": "Edited"}]


@promise("join.update_conversation")
async def test_a_conversation_gets_another_title(caller: Caller, user: str) -> None:
    made = await caller.call("create_conversation", {"user_id": user, "title": "At first"})
    renamed = await caller.call("update_conversation", {"conversation_id": made["id"], "title": "Later"})
    assert set(renamed) == CONVERSATION
    assert (renamed["id"], renamed["title"], renamed["created_at"]) == (made["id"], "Later", made["created_at"])
    assert renamed["updated_at"] > made["updated_at"]
    assert await caller.call("get_conversation", {"conversation_id": made["id"]}) == renamed


@promise("join.update_conversation", "join.title")
@pytest.mark.parametrize("title", ["", " \t", "x" * 201, None, 5])
async def test_a_title_that_cannot_be_one_is_refused(caller: Caller, user: str, title: object) -> None:
    conversation = await start(caller, user, "At first")
    before = await everything(caller, user)
    refused = await refusal(caller, "update_conversation", {"conversation_id": conversation, "title": title})
    assert refused.code == "invalid_params"
    assert "title" in refused.message
    assert await everything(caller, user) == before


@promise("join.update_conversation")
async def test_an_unknown_conversation_gets_no_title(caller: Caller) -> None:
    refused = await refusal(caller, "update_conversation", {"conversation_id": NOBODYS, "title": "Later"})
    assert refused.code == "conversation_not_found"
