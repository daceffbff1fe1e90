"""The metadata of an interaction: a JSON object or its text, and the title in it."""

from __future__ import annotations

import json

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import everything, exchange, refusal, start
from tests.support.callers import Caller


async def title(caller: Caller, conversation: str) -> object:
    return (await caller.call("get_conversation", {"conversation_id": conversation}))["title"]


@promise("000.record.metadata")
async def test_metadata_stands_on_both_messages(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    recorded = await exchange(caller, conversation, metadata='{"model": "claude-opus", "tokens": 150}')
    history = await caller.call("fetch_chat_history", {"conversation_id": conversation})
    shown = [recorded["user_message"], recorded["assistant_message"], *history["messages"]]
    assert {message["metadata"] for message in shown} == {'{"model": "claude-opus", "tokens": 150}'}


@promise("000.record.metadata")
async def test_without_metadata_it_is_null(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    for recorded in (await exchange(caller, conversation), await exchange(caller, conversation, metadata=None)):
        assert recorded["user_message"]["metadata"] is recorded["assistant_message"]["metadata"] is None


@promise("join.metadata")
@pytest.mark.parametrize(
    "given",
    [
        "{}",
        ' { "b":1,\n"a" : 2.50 } ',
        '{"a": 1, "a": 2}',
        '{"big": 123456789012345678901234567890, "e": 1E+2, "z": -0.0}',
        r'{"escaped": "\u00e9\ud83e\uddf5\/\t"}',
        '{"plain": "é🧵 \u202eright to left\u202c"}',
        '{"deep": {"list": [1, [2, [null, true, {"x": ""}]]]}}',
    ],
)
async def test_a_string_comes_back_as_it_was_given(caller: Caller, user: str, given: str) -> None:
    recorded = await exchange(caller, await start(caller, user), metadata=given)
    assert recorded["user_message"]["metadata"] == given


@promise("join.metadata")
async def test_an_object_comes_back_as_its_json_text(caller: Caller, user: str) -> None:
    given = {"b": 1, "a": [2.5, None, True], "é": {"🧵": "\"'\\\n"}, "": "", "big": 2**60}
    recorded = await exchange(caller, await start(caller, user), metadata=given)
    shown = recorded["user_message"]["metadata"]
    assert isinstance(shown, str)
    assert json.loads(shown) == given
    assert list(json.loads(shown)) == list(given)


@promise("join.metadata")
@pytest.mark.parametrize(
    "bad",
    ["", " ", "null", "5", "[]", '"text"', "{", "{'a': 1}", '{"a": NaN}', '{"a": 1} trailing', [], ["a"], 5, 1.5, True],
)
async def test_anything_else_is_refused_and_nothing_is_stored(caller: Caller, user: str, bad: object) -> None:
    conversation = await start(caller, user)
    before = await everything(caller, user)
    arguments = {"conversation_id": conversation, "user_message": "Hi", "assistant_response": "Hello", "metadata": bad}
    refused = await refusal(caller, "record_interaction", arguments)
    assert refused.code == "invalid_params"
    assert "metadata" in refused.message
    assert await everything(caller, user) == before


@promise("000.create.title_later")
@pytest.mark.parametrize("given", ['{"title": "Given later"}', {"title": "Given later", "tokens": 3}])
async def test_a_title_in_metadata_names_the_conversation(caller: Caller, user: str, given: object) -> None:
    conversation = await start(caller, user, "At first")
    recorded = await exchange(caller, conversation, metadata=given)
    assert await title(caller, conversation) == "Given later"
    assert json.loads(recorded["user_message"]["metadata"])["title"] == "Given later"


@promise("join.title", "000.create.title_later")
async def test_a_title_of_200_characters_in_metadata_names_it_too(caller: Caller, user: str) -> None:
    conversation = await start(caller, user)
    await exchange(caller, conversation, metadata={"title": "é" * 200})
    assert await title(caller, conversation) == "é" * 200


@promise("join.metadata.title")
@pytest.mark.parametrize("bad", ["", " \n", "x" * 201, None, 5, ["Plans"], {"text": "Plans"}])
async def test_a_title_that_cannot_be_one_stays_metadata(caller: Caller, user: str, bad: object) -> None:
    conversation = await start(caller, user, "At first")
    recorded = await exchange(caller, conversation, metadata={"title": bad})
    assert await title(caller, conversation) == "At first"
    assert json.loads(recorded["user_message"]["metadata"]) == {"title": bad}


@promise("000.create.title_later")
async def test_a_title_deeper_in_metadata_names_nothing(caller: Caller, user: str) -> None:
    conversation = await start(caller, user, "At first")
    await exchange(caller, conversation, metadata={"page": {"title": "Another"}})
    assert await title(caller, conversation) == "At first"
