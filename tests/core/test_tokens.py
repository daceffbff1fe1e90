"""The token estimate, and what a window pays for an entry."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from clew.core.model import Kind
from clew.core.tokens import ESTIMATE, MESSAGE_OVERHEAD, estimate_tokens, tokens_of_size, utf8_size, weight


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("\u00e9\u00e9", 1), ("\u4e2d\u6587", 2), ("\U0001f525", 1)],
)
def test_four_bytes_of_utf_8_are_a_token_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_the_estimate_is_named() -> None:
    assert ESTIMATE == "utf8/4"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_size_is_that_of_the_text_in_utf_8(text: str) -> None:
    assert utf8_size(text) == len(text.encode())


def test_a_lone_surrogate_has_a_size_so_that_its_refusal_can_come_later() -> None:
    assert utf8_size("a\ud800") == 4


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(one: str, other: str) -> None:
    both = estimate_tokens(one + other)
    assert max(estimate_tokens(one), estimate_tokens(other)) <= both <= estimate_tokens(one) + estimate_tokens(other)


@given(st.integers(0, 10_000_000))
def test_a_counted_size_gives_the_same_estimate(size: int) -> None:
    assert 4 * tokens_of_size(size) - 4 < size <= 4 * tokens_of_size(size)


@pytest.mark.parametrize("kind", Kind)
def test_a_window_pays_for_content_arguments_and_frame_but_not_for_what_it_never_shows(kind: Kind) -> None:
    free = kind in (Kind.META, Kind.CONTEXT)
    assert weight(kind, 10, 5) == (0 if free else 15 + MESSAGE_OVERHEAD)
    assert weight(kind, 0) == (0 if free else MESSAGE_OVERHEAD)
