"""In Python a refusal is a `ClewError`, and a `ValueError` where it is about what was given."""

from __future__ import annotations

import pytest

import clew
from tests.contract.manifest import promise
from tests.contract.steps import NOBODYS


@promise("000.errors.python")
async def test_what_is_not_found_is_a_value_error_in_the_seeds_words(memory: clew.Memory) -> None:
    with pytest.raises(ValueError, match=f"^Conversation {NOBODYS} not found$") as caught:
        await memory.fetch_chat_history(conversation_id=NOBODYS)
    assert isinstance(caught.value, clew.ClewError)
    assert caught.value.code == "conversation_not_found"


@promise("000.errors.python", "001.errors.code")
async def test_a_bad_value_is_a_value_error_with_a_code(memory: clew.Memory) -> None:
    made = await memory.create_conversation(user_id="alice")
    for limit in (0, 101):
        with pytest.raises(ValueError, match="limit") as caught:
            await memory.fetch_chat_history(conversation_id=made["id"], limit=limit)
        assert isinstance(caught.value, clew.ClewError)
        assert caught.value.code == "invalid_params"


@promise("000.errors.python")
async def test_a_conflict_is_no_value_error(memory: clew.Memory) -> None:
    await memory.create_conversation(title="One", request_id="r")
    with pytest.raises(clew.ClewError) as caught:
        await memory.create_conversation(title="Two", request_id="r")
    assert caught.value.code == "conflict"
    assert not isinstance(caught.value, ValueError)


async def test_a_memory_that_is_not_open_says_so() -> None:
    with pytest.raises(clew.ClewError, match="not open"):
        await clew.connect("sqlite:///:memory:").list_conversations()


async def test_an_error_shows_no_trace_of_where_it_came_from(memory: clew.Memory) -> None:
    with pytest.raises(clew.ClewError) as caught:
        await memory.fetch_chat_history(conversation_id="x", limit=0)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
