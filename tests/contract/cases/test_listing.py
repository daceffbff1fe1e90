"""list_conversations and list_user_conversations: the same conversations in the same order, in two shapes."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import CONVERSATION, exchange, refusal, say, start
from tests.support.callers import Caller

LISTS = ("list_conversations", "list_user_conversations")


async def listed(caller: Caller, tool: str, user: str, **more: int) -> list[str]:
    """The ids that a list shows, in its order."""
    answer = await caller.call(tool, {"user_id": user, **more})
    shown = answer if tool == "list_conversations" else answer["conversations"]
    return [conversation["id"] for conversation in shown]


@promise("000.list.shape", "join.list_answer")
async def test_the_list_of_000_is_an_array_of_conversations(caller: Caller, user: str) -> None:
    conversation = await start(caller, user, "Plans")
    await exchange(caller, conversation)
    answer = await caller.call("list_conversations", {"user_id": user})
    assert answer == [await caller.call("get_conversation", {"conversation_id": conversation})]
    assert set(answer[0]) == CONVERSATION


@promise("001.list.shape")
async def test_the_list_of_001_has_conversations_and_their_count(caller: Caller, user: str) -> None:
    conversation = await start(caller, user, "Plans")
    answer = await caller.call("list_user_conversations", {"user_id": user})
    assert set(answer) == {"conversations", "total_count"}
    assert answer["total_count"] == 1
    assert answer["conversations"] == [await caller.call("get_conversation", {"conversation_id": conversation})]


@promise("000.list.empty")
async def test_a_user_without_conversations_has_empty_lists(caller: Caller, user: str) -> None:
    assert await caller.call("list_conversations", {"user_id": user}) == []
    empty = {"conversations": [], "total_count": 0}
    assert await caller.call("list_user_conversations", {"user_id": user}) == empty


@promise("000.list.order")
@pytest.mark.parametrize("tool", LISTS)
async def test_the_latest_updated_comes_first(caller: Caller, user: str, tool: str) -> None:
    first, second, third = [await start(caller, user) for _ in range(3)]
    assert await listed(caller, tool, user) == [third, second, first]
    await exchange(caller, first)
    assert await listed(caller, tool, user) == [first, third, second]
    message = await say(caller, second, user)
    assert await listed(caller, tool, user) == [second, first, third]
    await caller.call("update_conversation", {"conversation_id": third, "title": "Later"})
    assert await listed(caller, tool, user) == [third, second, first]
    await caller.call("update_message", {"user_id": user, "message_id": message, "content": "Edited"})
    assert await listed(caller, tool, user) == [second, third, first]


@promise("000.list.limit", "001.list.page")
async def test_a_page_has_20_when_nothing_is_said_and_at_most_100(caller: Caller, user: str) -> None:
    await asyncio.gather(*(start(caller, user) for _ in range(101)))
    for tool in LISTS:
        everyone = await listed(caller, tool, user, limit=100)
        assert (len(everyone), len(set(everyone))) == (100, 100)
        assert await listed(caller, tool, user) == everyone[:20]
        assert await listed(caller, tool, user, limit=1) == everyone[:1]
    assert (await caller.call("list_user_conversations", {"user_id": user}))["total_count"] == 101


@promise("000.list.limit", "001.list.page")
@pytest.mark.parametrize("tool", LISTS)
@pytest.mark.parametrize("limit", [0, -1, 101, 2**40, 2**70])
async def test_a_limit_outside_1_to_100_is_refused(caller: Caller, user: str, tool: str, limit: int) -> None:
    refused = await refusal(caller, tool, {"user_id": user, "limit": limit})
    assert refused.code == "invalid_params"
    assert refused.message == "limit must be a whole number from 1 to 100"


@promise("001.list.page")
async def test_pages_show_everything_once(caller: Caller, user: str) -> None:
    await asyncio.gather(*(start(caller, user) for _ in range(7)))
    tool = "list_user_conversations"
    pages = [await listed(caller, tool, user, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert [id for page in pages for id in page] == await listed(caller, tool, user)


@promise("001.list.page")
async def test_behind_the_last_page_the_count_is_still_that_of_all(caller: Caller, user: str) -> None:
    await start(caller, user)
    behind = await caller.call("list_user_conversations", {"user_id": user, "offset": 10**9})
    assert behind == {"conversations": [], "total_count": 1}


@promise("001.list.page")
async def test_a_negative_offset_is_refused(caller: Caller, user: str) -> None:
    refused = await refusal(caller, "list_user_conversations", {"user_id": user, "offset": -1})
    assert refused.code == "invalid_params"
    assert "offset" in refused.message


@promise("000.isolation")
@pytest.mark.parametrize("tool", LISTS)
async def test_a_user_sees_their_own_only(caller: Caller, user: str, stranger: str, tool: str) -> None:
    mine, theirs = await start(caller, user), await start(caller, stranger)
    assert await listed(caller, tool, user) == [mine]
    assert await listed(caller, tool, stranger) == [theirs]


@promise("000.isolation")
async def test_users_are_told_apart_to_the_letter(caller: Caller, user: str) -> None:
    await start(caller, user)
    for other in (user.upper(), user + " ", " " + user, user[:-1], user + "%", user.replace("-", "_")):
        assert await listed(caller, "list_conversations", other) == []


@promise("001.list.user")
@pytest.mark.parametrize("tool", LISTS)
@pytest.mark.parametrize("bad", ["", "x" * 256, "a\tb", 7])
async def test_a_malformed_user_id_is_refused(caller: Caller, tool: str, bad: object) -> None:
    assert (await refusal(caller, tool, {"user_id": bad})).code == "invalid_user_id"
