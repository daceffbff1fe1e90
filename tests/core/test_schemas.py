"""Types in words, and as JSON schemas that say no more than they must."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from clew.app import registry
from clew.core.schemas import in_words, schema_of


@pytest.mark.parametrize(
    ("type", "words"),
    [
        (int, "a whole number"),
        (float, "a number"),
        (bool, "true or false"),
        (str, "a string"),
        (list[str], "a list"),
        (dict[str, Any], "an object"),
        (int | None, "a whole number"),
        (str | dict[str, Any] | None, "a string or an object"),
        (Annotated[int, Meta(ge=1, le=100)], "a whole number from 1 to 100"),
        (Annotated[int, Meta(ge=1)], "a whole number of at least 1"),
        (Annotated[int, Meta(le=9)], "a whole number of at most 9"),
        (Annotated[int, Meta(ge=0, le=0)], "a whole number from 0 to 0"),
        (Annotated[float, Meta(ge=0)], "a number of at least 0"),
        (Annotated[str, Meta(max_length=255)], "a string of at most 255 characters"),
        (Annotated[str, Meta(min_length=1, max_length=255)], "a string of 1 to 255 characters"),
        (Annotated[str, Meta(min_length=2)], "a string of at least 2 characters"),
        (Annotated[Annotated[int, Meta(ge=1, le=9)] | None, Meta(description="x")], "a whole number from 1 to 9"),
        (Literal["asc", "desc"], "one of asc, desc"),
        (Literal["asc", "desc"] | None, "one of asc, desc"),
        (Annotated[str, Meta(extra_json_schema={"enum": ["user", "assistant"]})], "one of user, assistant"),
    ],
    ids=str,
)
def test_a_type_is_said_in_words(type: Any, words: str) -> None:
    assert in_words(type) == words


class Inner(msgspec.Struct):
    name: str


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    inner: Inner
    title: str | None = None
    limit: Annotated[int, Meta(ge=1, description="How many.")] = 10
    tags: list[str | None] = []


def test_a_schema_leaves_out_titles_and_the_null_of_what_may_be_left_out() -> None:
    assert schema_of(Outer) == {
        "type": "object",
        "properties": {
            "inner": {"$ref": "#/$defs/Inner"},
            "title": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "description": "How many.", "default": 10},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
        },
        "required": ["inner"],
        "additionalProperties": False,
        "$defs": {"Inner": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    }


@pytest.mark.parametrize("name", registry().tools)
def test_the_schema_of_a_tool_is_an_object_with_a_documented_type_for_each_argument(name: str) -> None:
    schema = registry().find(name).schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    for shape in schema["properties"].values():
        assert shape["description"]
        assert "type" in shape or "anyOf" in shape or "enum" in shape
    assert '"title": "' not in json.dumps(schema)
