"""What may be stored: texts, titles and metadata, to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from clew.core.drafts import (
    JSON_DEPTH,
    TEXT_BYTES,
    check_characters,
    check_size,
    check_title,
    checked,
    draft_message,
    read_metadata,
    title_in,
)
from clew.core.model import Kind
from clew.errors import BadValue, TooLarge

KEPT = [
    "\U0001f9f6 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u202e\u05e9\u05dc\u05d5\u05dd\u202c \u0645\u0631\u062d\u0628\u0627",
    "e\u0301 \u1100\u1161\u11a8",
    "'single' \"double\" `tick` \\back\\slash\\",
    "\t line\r\nbreaks \x0b\x0c\x1b \x7f",
    "\ufeffbyte order mark",
    "\U0010ffff\uffff\ufdd0",
    " blanks around ",
]
NESTED_JUST_ENOUGH = JSON_DEPTH - 1

storable = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | storable,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(storable, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(storable, json_values, max_size=4)


def refusal(code: str, *arguments: Any) -> str:
    """Why a text is refused, with this code."""
    with pytest.raises(BadValue) as refused:
        checked(*arguments)
    assert refused.value.code == code
    return refused.value.message


@pytest.mark.parametrize("text", KEPT)
def test_a_text_is_kept_exactly(text: str) -> None:
    assert checked("content", text).content == text


@given(storable.filter(lambda text: text and not text.isspace()))
def test_every_text_that_says_something_is_kept_with_its_bytes_and_tokens(text: str) -> None:
    kept = checked("content", text)
    assert (kept.content, kept.size) == (text, len(text.encode()))
    assert kept.tokens == -(-len(text.encode()) // 4)


@pytest.mark.parametrize("text", ["", " ", "\n\t \r", "\u00a0\u2003\u3000", "\x1c\x85"])
def test_a_text_that_says_nothing_is_refused(text: str) -> None:
    assert refusal("empty_content", "user_message", text) == "user_message must not be empty or only white space"


@pytest.mark.parametrize("character", ["a", "\u00e9", "\u4e2d", "\U0001f525"], ids=["1 byte", "2", "3", "4"])
def test_a_text_of_exactly_10_000_000_bytes_is_kept_and_one_byte_more_refused(character: str) -> None:
    width = len(character.encode())
    largest = character * (TEXT_BYTES // width) + "x" * (TEXT_BYTES % width)
    kept = checked("content", largest)
    assert (len(kept.content.encode()), kept.size) == (10_000_000, 10_000_000)
    why = refusal("too_large", "content", largest + "x")
    assert why == "content has 10,000,001 bytes of UTF-8; at most 10,000,000 are allowed"


def test_too_large_is_a_bad_value_of_its_own() -> None:
    with pytest.raises(TooLarge):
        check_size("content", "x" * (TEXT_BYTES + 1))
    assert check_size("content", "") == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a\x00b", "content holds a NUL character at position 1: remove it"),
        ("\x00", "content holds a NUL character at position 0: remove it"),
        ("\u00e9\x00", "content holds a NUL character at position 1: remove it"),
        ("ab\ud800", "content holds a lone surrogate at position 2: remove it"),
        ("\udfffab", "content holds a lone surrogate at position 0: remove it"),
        ("\ud83d\ude00", "content holds a lone surrogate at position 0: remove it"),
    ],
)
def test_nul_and_lone_surrogates_are_refused_with_their_place(text: str, why: str) -> None:
    with pytest.raises(BadValue) as refused:
        check_characters("content", text)
    assert refused.value.message == why
    assert refusal("invalid_params", "content", text) == why


@pytest.mark.parametrize("title", ["x", "x" * 200, "\U0001f9f6" * 200, " spaced "])
def test_a_title_of_up_to_200_characters_is_a_title(title: str) -> None:
    check_title(title)
    assert title_in({"title": title}) == title


@pytest.mark.parametrize(
    ("title", "why"),
    [
        ("", "must not be empty"),
        (" \t", "must not be empty"),
        ("x" * 201, "at most 200 characters, this one has 201"),
        ("a\x00", "NUL"),
        ("a\ud800", "surrogate"),
    ],
)
def test_any_other_title_is_refused(title: str, why: str) -> None:
    with pytest.raises(BadValue, match=why):
        check_title(title)


@pytest.mark.parametrize("title", ["", " ", "x" * 201, None, 5, ["x"], {"x": "y"}, True])
def test_a_title_in_metadata_that_is_none_sets_nothing(title: Any) -> None:
    assert title_in({"title": title}) is None
    assert title_in({"Title": "x"}) is None


@pytest.mark.parametrize(("role", "kind"), [("user", Kind.USER_MESSAGE), ("assistant", Kind.ASSISTANT_MESSAGE)])
def test_a_message_is_of_the_kind_of_its_role(role: str, kind: Kind) -> None:
    draft = draft_message(role, "four bytes?!", '{"a": 1}')
    assert (draft.kind, draft.role, draft.content, draft.metadata) == (kind, role, "four bytes?!", '{"a": 1}')
    assert (draft.size, draft.token_count, draft.shown) == (12, 3, True)
    assert draft.weight > draft.token_count


@pytest.mark.parametrize("role", ["system", "tool", "User", " user", "", "bot"])
def test_a_message_of_any_other_role_is_refused(role: str) -> None:
    with pytest.raises(BadValue) as refused:
        draft_message(role, "text")
    assert (refused.value.code, refused.value.message) == ("invalid_role", "role must be one of user, assistant")


def test_messages_have_ids_of_their_own() -> None:
    assert len({draft_message("user", "same").uid for _ in range(100)}) == 100


def test_no_metadata_is_none() -> None:
    assert read_metadata(None) == (None, {})


@pytest.mark.parametrize("text", ["{}", ' {"a" : 1 }\n', '{"a":1,"a":2}', '{"\\u00e9":"\\/"}', '{"n":1.0,"m":1e2}'])
def test_metadata_given_as_a_string_is_kept_as_it_was_given(text: str) -> None:
    assert read_metadata(text) == (text, json.loads(text))


@given(json_objects)
def test_metadata_given_as_an_object_is_kept_as_its_json_text(value: dict[str, Any]) -> None:
    text, read = read_metadata(value)
    assert text is not None
    assert (json.loads(text), read) == (value, value)


@given(json_objects)
def test_the_text_of_metadata_can_be_given_back(value: dict[str, Any]) -> None:
    text, _ = read_metadata(value)
    assert read_metadata(text)[0] == text


@pytest.mark.parametrize(
    "text",
    ["", " ", "null", "[]", "5", '"text"', "true", "{", "{}{}", "{'a': 1}", "\ud800"],
)
def test_metadata_that_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(BadValue) as refused:
        read_metadata(text)
    assert refused.value.message == "metadata must be a JSON object, or its JSON text"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes", object(), 1j])
def test_metadata_that_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(BadValue, match="metadata must hold only what JSON can say"):
        read_metadata({"a": [value]})


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}'])
def test_metadata_text_with_a_number_that_json_cannot_say_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="metadata must"):
        read_metadata(text)


@pytest.mark.parametrize("bad", ["\x00", "\ud800"])
@pytest.mark.parametrize("where", ["value", "key", "deep"])
def test_unstorable_characters_anywhere_in_metadata_are_refused(bad: str, where: str) -> None:
    values: dict[str, dict[str, Any]] = {
        "value": {"a": bad},
        "key": {bad: "a"},
        "deep": {"a": [{"b": ["c", {bad: 1}]}]},
    }
    value = values[where]
    for metadata in (value, json.dumps(value)):
        with pytest.raises(BadValue, match="metadata"):
            read_metadata(metadata)


def nested(levels: int) -> dict[str, Any]:
    """An object with that many levels inside."""
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_metadata_may_be_nested_500_levels_deep_and_no_deeper() -> None:
    for metadata in (nested(NESTED_JUST_ENOUGH), json.dumps(nested(NESTED_JUST_ENOUGH))):
        read_metadata(metadata)
    for metadata in (nested(NESTED_JUST_ENOUGH + 1), json.dumps(nested(NESTED_JUST_ENOUGH + 1))):
        with pytest.raises(BadValue, match="nested more than 500 levels"):
            read_metadata(metadata)


def test_metadata_that_is_nested_without_end_is_refused() -> None:
    for metadata in (nested(100_000), '{"a":' * 100_000 + "{}" + "}" * 100_000):
        with pytest.raises(BadValue):
            read_metadata(metadata)


def test_metadata_above_the_limit_of_a_text_is_refused() -> None:
    room = TEXT_BYTES - len('{"a": ""}')
    assert read_metadata({"a": "x" * room})[0] == json.dumps({"a": "x" * room})
    for metadata in ({"a": "x" * (room + 1)}, json.dumps({"a": "x" * (room + 1)})):
        with pytest.raises(TooLarge, match="metadata has 10,000,001 bytes"):
            read_metadata(metadata)
