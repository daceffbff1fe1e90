"""How arguments are read: as they were meant where models write them so, else refused by name."""

from __future__ import annotations

import json

import pytest

from clew.app import registry
from tests.contract.manifest import promise
from tests.contract.steps import exchange, refusal, say, start
from tests.support.callers import Caller

TOOLS = tuple(registry().tools)


@promise("join.arguments.as_meant")
@pytest.mark.parametrize("two", [2, 2.0, "2", "2.0", " 2 "])
async def test_a_whole_number_may_come_as_its_text_or_with_a_point(caller: Caller, user: str, two: object) -> None:
    conversation = await start(caller, user)
    for n in range(3):
        await say(caller, conversation, user, f"{n}")
    history = await caller.call("fetch_chat_history", {"conversation_id": conversation, "limit": two})
    assert [message["content"] for message in history["messages"]] == ["1", "2"]
    page = await caller.call("get_conversation_history", {"conversation_id": conversation, "limit": two})
    assert len(page["messages"]) == 2
    rest = await caller.call("list_user_conversations", {"user_id": user, "offset": two})
    assert rest == {"conversations": [], "total_count": 1}


@promise("join.arguments.as_meant")
async def test_an_object_may_come_as_its_text(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    await exchange(caller, conversation, metadata=json.dumps({"title": "As text"}))
    assert (await caller.call("get_conversation", {"conversation_id": conversation}))["title"] == "As text"


@promise("join.arguments.types")
@pytest.mark.parametrize("text", ["2", "true", "[]", "{}", "null", '"2"', "5.0"])
async def test_a_text_that_looks_like_something_else_stays_a_text(caller: Caller, user: str, text: str) -> None:
    conversation = await start(caller, user, text)
    await say(caller, conversation, user, text)
    history = await caller.call("fetch_chat_history", {"conversation_id": conversation})
    assert (history["title"], history["messages"][0]["content"]) == (text, text)


@promise("join.arguments.unknown")
@pytest.mark.parametrize("tool", TOOLS)
async def test_an_unknown_argument_is_refused_by_name(caller: Caller, tool: str) -> None:
    refused = await refusal(caller, tool, {"no_such_thing": 1})
    assert refused.code == "invalid_params"
    assert "'no_such_thing'" in refused.message
    assert all(name in refused.message for name in registry().tools[tool].signature.parameters)


@promise("join.arguments.unknown")
async def test_names_are_taken_to_the_letter(caller: Caller) -> None:
    for wrong in ("Title", "title ", "userId"):
        refused = await refusal(caller, "create_conversation", {wrong: "x"})
        assert repr(wrong) in refused.message


@promise("join.arguments.types")
@pytest.mark.parametrize("tool", TOOLS)
async def test_a_missing_argument_is_named(caller: Caller, tool: str) -> None:
    needed = [p.name for p in registry().tools[tool].signature.parameters.values() if p.default is p.empty]
    if needed:
        refused = await refusal(caller, tool, {})
        assert refused.code == "invalid_params"
        assert needed[0] in refused.message
