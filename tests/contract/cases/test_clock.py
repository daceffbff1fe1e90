"""What the clock cannot disturb: equal times and times that go back."""

from __future__ import annotations

import time

import pytest

import clew
from tests.contract.manifest import promise


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time that calls see, in microseconds, as a test sets it."""
    now = [1_700_000_000_000_000]
    monkeypatch.setattr(time, "time_ns", lambda: now[0] * 1000)
    return now


@promise("join.order")
async def test_messages_of_one_moment_never_swap(memory: clew.Memory, clock: list[int]) -> None:
    made = await memory.create_conversation()
    for n in range(20):
        await memory.add_message(conversation_id=made["id"], role="user", content=f"{n}")
    history = await memory.get_conversation_history(conversation_id=made["id"])
    assert [message["content"] for message in history["messages"]] == [f"{n}" for n in range(20)]
    assert len({message["created_at"] for message in history["messages"]}) == 1
    last = await memory.fetch_chat_history(conversation_id=made["id"], limit=3)
    assert [message["content"] for message in last["messages"]] == ["17", "18", "19"]


@promise("join.order")
async def test_a_clock_that_goes_back_changes_no_order(memory: clew.Memory, clock: list[int]) -> None:
    made = await memory.create_conversation()
    for n in range(5):
        clock[0] -= 1_000_000
        await memory.add_message(conversation_id=made["id"], role="user", content=f"{n}")
    history = await memory.get_conversation_history(conversation_id=made["id"])
    assert [message["content"] for message in history["messages"]] == ["0", "1", "2", "3", "4"]
    assert history["conversation_info"]["updated_at"] >= made["updated_at"]


@promise("000.list.order")
async def test_conversations_of_one_moment_are_paged_latest_made_first(memory: clew.Memory, clock: list[int]) -> None:
    made = [(await memory.create_conversation())["id"] for _ in range(9)]
    pages = [await memory.list_user_conversations(limit=2, offset=offset) for offset in range(0, 10, 2)]
    shown = [conversation["id"] for page in pages for conversation in page["conversations"]]
    assert shown == made[::-1]


@promise("join.times")
async def test_a_whole_second_still_has_six_decimals(memory: clew.Memory, clock: list[int]) -> None:
    made = await memory.create_conversation()
    assert made["created_at"] == "2023-11-14T22:13:20.000000+00:00"
    clock[0] += 7
    assert (await memory.create_conversation())["created_at"] == "2023-11-14T22:13:20.000007+00:00"
