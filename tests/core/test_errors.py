"""The taxonomy of refusals: codes, statuses, and what Python sees."""

from __future__ import annotations

import pytest

from clew.errors import (
    BadValue,
    ClewError,
    Conflict,
    Forbidden,
    Misconfigured,
    NotFound,
    TooLarge,
    Unavailable,
    conversation_not_found,
    message_not_found,
    unknown_tool,
)


@pytest.mark.parametrize(
    ("kind", "code", "status"),
    [
        (BadValue, "invalid_params", 422),
        (NotFound, "not_found", 404),
        (Forbidden, "invalid_user_id", 403),
        (TooLarge, "too_large", 413),
        (Conflict, "conflict", 409),
        (Unavailable, "unavailable", 503),
        (Misconfigured, "unavailable", 503),
    ],
)
def test_every_refusal_has_a_code_and_a_status(kind: type[ClewError], code: str, status: int) -> None:
    refused = kind("why")
    assert (refused.code, refused.status, refused.message, str(refused)) == (code, status, "why", "why")
    assert isinstance(refused, ClewError)


@pytest.mark.parametrize("kind", [BadValue, NotFound, Forbidden, TooLarge])
def test_what_a_caller_can_put_right_is_a_value_error(kind: type[ClewError]) -> None:
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize("kind", [Conflict, Unavailable, Misconfigured])
def test_the_state_of_the_world_is_no_value_error(kind: type[ClewError]) -> None:
    assert not issubclass(kind, ValueError)


def test_a_code_of_its_own_leaves_those_of_others_alone() -> None:
    assert BadValue("why", "invalid_role").code == "invalid_role"
    assert BadValue("why").code == "invalid_params"


@pytest.mark.parametrize(
    ("refused", "code", "message"),
    [
        (conversation_not_found("xyz"), "conversation_not_found", "Conversation xyz not found"),
        (message_not_found("xyz"), "message_not_found", "Message xyz not found"),
        (unknown_tool("xyz"), "unknown_method", "There is no tool named xyz"),
    ],
)
def test_what_is_not_found_is_named(refused: NotFound, code: str, message: str) -> None:
    assert (refused.code, refused.status, refused.message) == (code, 404, message)


def test_a_long_id_is_cut_in_messages() -> None:
    assert conversation_not_found("x" * 80).message == f"Conversation {'x' * 80} not found"
    assert conversation_not_found("x" * 81).message == f"Conversation {'x' * 80}... not found"


@pytest.mark.parametrize("id", ["a\nb", "\x1b[31mred", "\ud800", "\u202eabc", "\x00"])
def test_an_id_in_a_message_is_always_printable(id: str) -> None:
    assert conversation_not_found(id).message.isprintable()
