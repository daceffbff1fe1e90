"""Arguments as models write them: what is read as it was meant, and what is refused by name."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from msgspec import Meta

from clew.errors import BadValue
from clew.tools.decoding import Decoder


class Arguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One argument of every shape."""

    text: str
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    size: int | None = None
    ratio: float = 0.5
    exact: bool = False
    tags: list[str] | None = None
    filters: dict[str, Any] | None = None
    metadata: str | dict[str, Any] | None = None
    user_id: str | None = None


decoder = Decoder("find_things", Arguments)


def decoded(**arguments: Any) -> Any:
    return decoder.decode({"text": "x", **arguments})


def refusal(raw: object) -> BadValue:
    with pytest.raises(BadValue) as refused:
        decoder.decode(raw)
    return refused.value


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("limit", 5, 5),
        ("limit", "5", 5),
        ("limit", " 5 ", 5),
        ("limit", "+5", 5),
        ("limit", "5.0", 5),
        ("limit", "5.00", 5),
        ("limit", "005", 5),
        ("limit", 5.0, 5),
        ("size", "-7", -7),
        ("size", -7.0, -7),
        ("size", None, None),
        ("ratio", 1, 1.0),
        ("exact", True, True),
        ("exact", "true", True),
        ("exact", "True", True),
        ("exact", " FALSE ", False),
        ("tags", ["a", "b"], ["a", "b"]),
        ("tags", '["a", "b"]', ["a", "b"]),
        ("tags", " [] ", []),
        ("filters", {"a": 1}, {"a": 1}),
        ("filters", '{"a": {"b": [1, null]}}', {"a": {"b": [1, None]}}),
        ("metadata", '{"a": 1}', '{"a": 1}'),
        ("metadata", {"a": 1}, {"a": 1}),
        ("metadata", "plain", "plain"),
        ("text", "5", "5"),
        ("text", "true", "true"),
        ("text", "[1]", "[1]"),
    ],
)
def test_an_argument_is_read_as_it_was_meant(name: str, written: Any, meant: Any) -> None:
    value = getattr(decoded(**{name: written}), name)
    assert value == meant
    assert type(value) is type(meant)


def test_several_arguments_may_be_written_another_way_at_once() -> None:
    arguments = decoded(limit="5", exact="true", tags='["a"]', filters="{}", size=3.0)
    assert (arguments.limit, arguments.exact, arguments.tags, arguments.filters) == (5, True, ["a"], {})
    assert arguments.size == 3


@pytest.mark.parametrize(
    ("name", "written", "why"),
    [
        ("limit", "five", "limit must be a whole number from 1 to 100"),
        ("limit", "", "limit must be a whole number from 1 to 100"),
        ("limit", "5.5", "limit must be a whole number from 1 to 100"),
        ("limit", 5.5, "limit must be a whole number from 1 to 100"),
        ("limit", "1e1", "limit must be a whole number from 1 to 100"),
        ("limit", "0x5", "limit must be a whole number from 1 to 100"),
        ("limit", "5_0", "limit must be a whole number from 1 to 100"),
        ("limit", "9" * 1000, "limit must be a whole number from 1 to 100"),
        ("limit", 0, "limit must be a whole number from 1 to 100"),
        ("limit", 101, "limit must be a whole number from 1 to 100"),
        ("limit", "101", "limit must be a whole number from 1 to 100"),
        ("limit", 101.0, "limit must be a whole number from 1 to 100"),
        ("limit", 1e300, "limit must be a whole number from 1 to 100"),
        ("limit", float("inf"), "limit must be a whole number from 1 to 100"),
        ("limit", float("nan"), "limit must be a whole number from 1 to 100"),
        ("limit", True, "limit must be a whole number from 1 to 100"),
        ("limit", None, "limit must be a whole number from 1 to 100"),
        ("limit", [5], "limit must be a whole number from 1 to 100"),
        ("limit", "[5]", "limit must be a whole number from 1 to 100"),
        ("ratio", "0.5", "ratio must be a number"),
        ("exact", 1, "exact must be true or false"),
        ("exact", "1", "exact must be true or false"),
        ("exact", "yes", "exact must be true or false"),
        ("exact", None, "exact must be true or false"),
        ("tags", "a", "tags must be a list"),
        ("tags", "a,b", "tags must be a list"),
        ("tags", '["a"', "tags must be a list"),
        ("tags", '"a"', "tags must be a list"),
        ("tags", '{"a": 1}', "tags must be a list"),
        ("tags", "[1]", "tags must be a list"),
        ("tags", ["a", 1], "tags must be a list"),
        ("tags", "\ud800", "tags must be a list"),
        ("tags", "[" * 100_000, "tags must be a list"),
        ("filters", "[]", "filters must be an object"),
        ("filters", "null and void", "filters must be an object"),
        ("filters", 5, "filters must be an object"),
        ("metadata", 5, "metadata must be a string or an object"),
        ("metadata", ["a"], "metadata must be a string or an object"),
        ("text", 5, "text must be a string"),
        ("text", None, "text must be a string"),
        ("text", ["x"], "text must be a string"),
        ("text", b"x", "text must be a string"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_anything_else_is_refused_with_its_name_and_what_is_allowed(name: str, written: Any, why: str) -> None:
    refused = refusal({"text": "x", name: written})
    assert (refused.code, refused.message) == ("invalid_params", why)


def test_an_unknown_argument_is_refused_by_name_with_those_that_are_known() -> None:
    why = refusal({"text": "x", "txet": "y"}).message
    assert why.startswith("find_things has no argument 'txet': it takes text, limit, ")


def test_an_unknown_argument_is_refused_even_where_another_is_wrong() -> None:
    assert "'nonsense'" in refusal({"limit": "five", "nonsense": 1}).message


def test_an_endless_name_is_not_repeated_whole() -> None:
    assert len(refusal({"text": "x", "y" * 10_000: 1}).message) < 400


def test_an_argument_that_is_missing_is_named_with_what_it_takes() -> None:
    assert refusal({}).message == "find_things needs the argument text: a string"


@pytest.mark.parametrize("raw", [None, [], ["text"], "text", '{"text": "x"}', 5, True])
def test_arguments_that_are_no_object_are_refused(raw: object) -> None:
    assert refusal(raw).message == "The arguments of find_things must be an object"


@pytest.mark.parametrize("text", ["a\x00", "\ud800"])
def test_texts_that_no_database_can_keep_are_refused_by_name(text: str) -> None:
    assert refusal({"text": text}).message.startswith("text holds a")


def test_a_wrong_user_id_has_a_code_of_its_own() -> None:
    assert refusal({"text": "x", "user_id": 5}).code == "invalid_user_id"


NAMES = list(Arguments.__struct_fields__)
texts = st.text(max_size=3) | st.sampled_from(["\ud800", "\x00", "5", "true", "[]", "{}", "null", "9" * 40])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=3) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*NAMES, "other"]) | texts, anything))
def test_whatever_comes_is_decoded_or_refused_and_never_anything_else(raw: dict[str, Any]) -> None:
    with suppress(BadValue):
        arguments = decoder.decode(raw)
        assert set(raw) <= set(NAMES)
        assert 1 <= arguments.limit <= 100
        assert type(arguments.text) is str


@given(st.integers(-(10**17), 10**17))
def test_every_whole_number_may_come_as_its_text_or_with_a_zero_behind(number: int) -> None:
    assert decoded(size=str(number)).size == number
    assert decoded(size=f"{number}.0").size == number


@given(st.lists(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))))
def test_every_list_may_come_as_its_json_text(tags: list[str]) -> None:
    assert decoded(tags=msgspec.json.encode(tags).decode()).tags == tags
