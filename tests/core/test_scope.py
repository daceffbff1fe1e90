"""Whose data a call may touch: every mode, and what can be a user."""

from __future__ import annotations

import pytest

from clew.errors import BadValue, Forbidden
from clew.scope import LOCAL, TRUSTED, Principal, Scope, check_user_id, pinned

USERS = [
    "a",
    "x" * 255,
    "\U0001f9f6" * 255,
    "alice@example.org",
    "'; DROP TABLE owner; --",
    "a b",
    " ",
    "\\ \" '",
    "\u05d0\u0628\u202e",
    "\u2028",
]
NO_USERS = ["", "x" * 256, "a\x00", "\n", "a\tb", "\x7f", "\x85", "\x9f", "\ud800", "\udfff", "x" * 300 + "\x00"]


def test_a_trusted_call_that_names_nobody_acts_for_local() -> None:
    assert TRUSTED.trusted
    assert TRUSTED.scope(None) == Scope(LOCAL) == Scope("local")


@pytest.mark.parametrize("user", USERS)
def test_a_trusted_call_acts_for_whom_it_names(user: str) -> None:
    assert TRUSTED.scope(user) == Scope(user)


@pytest.mark.parametrize("user_id", [None, "alice"])
def test_a_pinned_call_acts_for_its_user(user_id: str | None) -> None:
    assert pinned("alice").scope(user_id) == Scope("alice")
    assert not pinned("alice").trusted


@pytest.mark.parametrize("user_id", ["bob", "Alice", "alice ", "local", "a"])
def test_a_pinned_call_for_someone_else_is_refused(user_id: str) -> None:
    with pytest.raises(Forbidden) as refused:
        pinned("alice").scope(user_id)
    assert (refused.value.code, refused.value.status) == ("invalid_user_id", 403)
    assert user_id not in refused.value.message.replace("user_id", "").split()


@pytest.mark.parametrize("user", NO_USERS)
def test_what_cannot_be_a_user_is_refused_in_every_mode(user: str) -> None:
    for refuse in (check_user_id, pinned, TRUSTED.scope, Principal("alice").scope):
        with pytest.raises(BadValue) as refused:
            refuse(user)
        assert refused.value.code == "invalid_user_id"
        assert refused.value.status == 422
        assert refused.value.message.isprintable()


def test_the_length_is_named_where_it_is_wrong() -> None:
    with pytest.raises(BadValue, match="1 to 255 characters, this one has 256"):
        check_user_id("x" * 256)
