"""Retry safety: every tool that writes takes a request_id, and the same request is carried out once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from clew.app import registry
from tests.contract.manifest import promise
from tests.contract.steps import NOBODYS, contents, everything, exchange, refusal, say, start
from tests.support.callers import Caller

WRITES = ("create_conversation", "record_interaction", "add_message", "update_message", "update_conversation")


@dataclass
class Target:
    """A conversation with a message, of one user."""

    user: str
    conversation: str
    message: str

    def arguments(self, tool: str, text: str = "Hi", request_id: str = "r-1") -> dict[str, Any]:
        """A call of this tool, with this text wherever it takes one."""
        named = {"conversation_id": self.conversation}
        own: dict[str, dict[str, Any]] = {
            "create_conversation": {"title": text},
            "record_interaction": named | {"user_message": text, "assistant_response": "Hello", "metadata": {"n": 1}},
            "add_message": named | {"role": "user", "content": text},
            "update_message": {"message_id": self.message, "content": text},
            "update_conversation": named | {"title": text},
        }
        return {"user_id": self.user, "request_id": request_id, **own[tool]}


@pytest.fixture
async def target(caller: Caller, user: str) -> Target:
    return await made(caller, user)


async def made(caller: Caller, user: str) -> Target:
    conversation = await start(caller, user)
    return Target(user, conversation, await say(caller, conversation, user, "At first"))


def test_every_tool_that_writes_is_tried_here() -> None:
    assert set(WRITES) == {tool.name for tool in registry().tools.values() if not tool.read_only}


@promise("join.request.same")
@pytest.mark.parametrize("tool", WRITES)
async def test_the_same_request_gets_the_first_answer_and_writes_nothing(
    caller: Caller, target: Target, tool: str
) -> None:
    first = await caller.call(tool, target.arguments(tool))
    before = await everything(caller, target.user)
    for _ in range(2):
        assert await caller.call(tool, target.arguments(tool)) == first
    assert await everything(caller, target.user) == before


@promise("join.request.same")
@pytest.mark.parametrize("tool", WRITES)
async def test_the_same_request_many_times_at_once_is_carried_out_once(
    caller: Caller, target: Target, tool: str
) -> None:
    answers = await asyncio.gather(*(caller.call(tool, target.arguments(tool)) for _ in range(8)))
    assert all(answer == answers[0] for answer in answers)
    before = await everything(caller, target.user)
    assert await caller.call(tool, target.arguments(tool)) == answers[0]
    assert await everything(caller, target.user) == before
    once = {"create_conversation": (2, 1), "record_interaction": (1, 3), "add_message": (1, 2)}
    shown = await contents(caller, target.conversation)
    assert (before[0]["total_count"], len(shown)) == once.get(tool, (1, 1))


@promise("join.request.conflict")
@pytest.mark.parametrize("tool", WRITES)
async def test_other_arguments_under_the_same_id_are_a_conflict(caller: Caller, target: Target, tool: str) -> None:
    await caller.call(tool, target.arguments(tool))
    before = await everything(caller, target.user)
    refused = await refusal(caller, tool, target.arguments(tool, "Something else"))
    assert refused.code == "conflict"
    assert "r-1" in refused.message
    assert await everything(caller, target.user) == before


@promise("join.request.conflict")
async def test_another_tool_under_the_same_id_is_a_conflict(caller: Caller, target: Target) -> None:
    await caller.call("record_interaction", target.arguments("record_interaction"))
    for tool in ("add_message", "update_conversation"):
        assert (await refusal(caller, tool, target.arguments(tool))).code == "conflict"


@promise("join.request.same")
@pytest.mark.parametrize("tool", WRITES)
async def test_another_id_is_another_request(caller: Caller, target: Target, tool: str) -> None:
    first = await caller.call(tool, target.arguments(tool))
    second = await caller.call(tool, target.arguments(tool, request_id="r-2"))
    assert second != first


@promise("join.request.scope")
@pytest.mark.parametrize("tool", ["record_interaction", "add_message", "update_conversation"])
async def test_a_request_counts_within_its_conversation(caller: Caller, target: Target, tool: str) -> None:
    elsewhere = await made(caller, target.user)
    await caller.call(tool, target.arguments(tool))
    await caller.call(tool, elsewhere.arguments(tool, "Another text"))
    assert len(await contents(caller, target.conversation)) == len(await contents(caller, elsewhere.conversation))


@promise("join.request.scope")
async def test_where_no_conversation_is_named_it_counts_for_the_tool(caller: Caller, target: Target) -> None:
    for tool in WRITES[:1] + WRITES[3:4] + WRITES[4:]:  # each has a scope of its own
        await caller.call(tool, target.arguments(tool))


@promise("join.request.scope", "000.isolation")
@pytest.mark.parametrize("tool", WRITES)
async def test_a_request_of_another_user_is_another_request(
    caller: Caller, target: Target, stranger: str, tool: str
) -> None:
    theirs = await made(caller, stranger)
    await caller.call(tool, target.arguments(tool))
    before = await everything(caller, target.user)
    await caller.call(tool, theirs.arguments(tool, "Another text"))
    assert await everything(caller, target.user) == before


@promise("join.request.same", "join.identity.lookup")
async def test_a_retry_that_leaves_the_user_to_be_looked_up_is_the_same_request(caller: Caller, target: Target) -> None:
    arguments = target.arguments("record_interaction")
    first = await caller.call("record_interaction", arguments)
    del arguments["user_id"]
    assert await caller.call("record_interaction", arguments) == first


@promise("join.request.refused")
@pytest.mark.parametrize("tool", ["record_interaction", "add_message", "update_message", "update_conversation"])
async def test_a_refused_call_is_not_remembered(caller: Caller, target: Target, tool: str) -> None:
    await refusal(caller, tool, target.arguments(tool, " "))
    lost = Target(target.user, NOBODYS, NOBODYS)
    await refusal(caller, tool, lost.arguments(tool))
    await caller.call(tool, target.arguments(tool, "Now it says something"))


@promise("join.request.refused")
async def test_a_refused_title_is_not_remembered(caller: Caller, target: Target) -> None:
    await refusal(caller, "create_conversation", target.arguments("create_conversation", "x" * 201))
    made = await caller.call("create_conversation", target.arguments("create_conversation", "Short"))
    assert made["title"] == "Short"


@promise("join.request.refused")
async def test_a_conflict_leaves_the_first_request_as_it_was(caller: Caller, target: Target) -> None:
    first = await caller.call("add_message", target.arguments("add_message"))
    await refusal(caller, "add_message", target.arguments("add_message", "Something else"))
    assert await caller.call("add_message", target.arguments("add_message")) == first


@promise("join.request.now")
async def test_a_repeated_answer_shows_what_stands_now(caller: Caller, target: Target) -> None:
    arguments = target.arguments("record_interaction")
    first = await caller.call("record_interaction", arguments)
    said = first["user_message"]
    await caller.call("update_message", {"user_id": target.user, "message_id": said["id"], "content": "Edited"})
    again = await caller.call("record_interaction", arguments)
    assert again == {**first, "user_message": {**said, "content": "Edited"}}
    assert len(await contents(caller, target.conversation)) == 3


@promise("join.request.now")
async def test_a_repeated_rename_does_not_bring_the_old_title_back(caller: Caller, target: Target) -> None:
    arguments = target.arguments("update_conversation", "Old")
    await caller.call("update_conversation", arguments)
    await caller.call("update_conversation", {"conversation_id": target.conversation, "title": "New"})
    assert (await caller.call("update_conversation", arguments))["title"] == "New"


@promise("join.request.same")
async def test_without_a_request_id_every_call_counts(caller: Caller, target: Target) -> None:
    first = await exchange(caller, target.conversation)
    assert (await exchange(caller, target.conversation, request_id=None))["user_message"] != first["user_message"]
    assert len(await contents(caller, target.conversation)) == 5


@promise("join.request.same")
@pytest.mark.parametrize("good", ["x", "x" * 255, "é🧵 'q' \\ \n", "550e8400-e29b-41d4-a716-446655440000"])
async def test_a_request_id_is_any_text_of_1_to_255_characters(caller: Caller, target: Target, good: str) -> None:
    first = await caller.call("add_message", target.arguments("add_message", request_id=good))
    assert await caller.call("add_message", target.arguments("add_message", request_id=good)) == first


@promise("join.arguments.types")
@pytest.mark.parametrize("bad", ["", "x" * 256, "a\x00b", 5, True, [], {}])
@pytest.mark.parametrize("tool", WRITES)
async def test_any_other_request_id_is_refused(caller: Caller, target: Target, tool: str, bad: object) -> None:
    before = await everything(caller, target.user)
    refused = await refusal(caller, tool, {**target.arguments(tool), "request_id": bad})
    assert refused.code == "invalid_params"
    assert "request_id" in refused.message
    assert await everything(caller, target.user) == before


@promise("join.arguments.unknown")
async def test_a_tool_that_only_reads_takes_no_request_id(caller: Caller, target: Target) -> None:
    refused = await refusal(caller, "get_conversation", {"conversation_id": target.conversation, "request_id": "r-1"})
    assert refused.code == "invalid_params"
    assert "request_id" in refused.message
