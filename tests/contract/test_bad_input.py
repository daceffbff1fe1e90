"""Bad input: what is refused, with its code and nothing changed; and what looks odd and is kept exactly.

In Python on both engines, with every table compared. The wrong types are made from the registry, so that later tools
are tried too. What a wire adds is in `test_bad_wire`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

import clew
from clew.app import registry
from clew.core import drafts
from clew.core.append import Append
from clew.core.model import USER
from clew.core.schemas import schema_of
from clew.db.database import Database
from clew.memory import log
from clew.tools.registry import Tool
from tests.contract.manifest import promise
from tests.contract.steps import FULL, KEPT, NOBODYS
from tests.support.callers import assert_in_our_words

TABLES = ("owner", "thread", "entry", "place", "revision", "tag", "image", "words", "passage", "pending", "request")
ODD = {
    "a NUL": "a\x00b",
    "a NUL at the end": "b\x00",
    "a high surrogate": "a\ud800b",
    "a low surrogate": "\udfff",
    "surrogates the wrong way round": "\udc00\ud800",
    "half an emoji": "🧵\ud83e",
}


async def tables(database: Database) -> dict[str, list[Any]]:
    """All that is stored."""
    found = {}
    for table in TABLES:
        rows = await database.read(lambda tx, table=table: tx.all(f"SELECT * FROM clew.{table}"))  # type: ignore[misc]
        found[table] = sorted([list(row) for row in rows], key=repr)
    return found


@dataclass
class Store:
    """A store with an exchange in it, through the Python interface."""

    memory: clew.Memory
    database: Database
    conversation: str
    message: str

    async def refusal(self, tool: str, **arguments: Any) -> clew.ClewError:
        """The refusal that this call meets, after a look that it changed nothing."""
        before = await tables(self.database)
        with pytest.raises(clew.ClewError) as caught:
            await self.memory.call(tool, arguments)
        assert await tables(self.database) == before
        assert_in_our_words(caught.value.message)
        return caught.value

    def arguments(self, tool: str) -> dict[str, Any]:
        """Arguments that this tool takes."""
        named = {"conversation_id": self.conversation}
        said = {"user_message": "Hi", "assistant_response": "Hello"}
        return {
            "record_interaction": named | said,
            "add_message": named | {"role": "user", "content": "Hi"},
            "update_message": {"message_id": self.message, "content": "Hi"},
            "update_conversation": named | {"title": "Hi"},
            "create_conversation": {"title": "Hi"},
        }[tool]


TEXTS = (
    ("record_interaction", "user_message"),
    ("record_interaction", "assistant_response"),
    ("add_message", "content"),
    ("update_message", "content"),
)
each_text = pytest.mark.parametrize(("tool", "name"), TEXTS)


@pytest.fixture
async def store(memory: clew.Memory, database: Database) -> Store:
    made = await memory.create_conversation(title="Plans")
    recorded = await memory.record_interaction(
        conversation_id=made["id"], user_message="Hi", assistant_response="Hello"
    )
    return Store(memory, database, made["id"], recorded["user_message"]["id"])


# Refused


@promise("000.record.empty", "001.add.empty", "001.update.empty")
@each_text
async def test_empty_and_blank_content_is_refused(store: Store, tool: str, name: str) -> None:
    for blank in ("", " ", "\n\t\r\v\f", "\u00a0\u2003\u3000\u2028", "\x1c\x1f\x85"):
        refused = await store.refusal(tool, **store.arguments(tool) | {name: blank})
        assert (refused.code, refused.message) == ("empty_content", f"{name} must not be empty or only white space")


@promise("join.text")
@each_text
async def test_a_text_above_the_limit_is_refused(store: Store, tool: str, name: str) -> None:
    for long in ("x" * (FULL + 1), "é" * (FULL // 2) + "x", "🧵" * (FULL // 4) + "x"):
        refused = await store.refusal(tool, **store.arguments(tool) | {name: long})
        assert refused.code == "too_large"
        assert refused.message == f"{name} has 10,000,001 bytes of UTF-8; at most 10,000,000 are allowed"


@promise("join.text")
async def test_metadata_above_the_limit_is_refused(store: Store) -> None:
    arguments = store.arguments("record_interaction")
    for long in ('{"a": "' + "x" * FULL + '"}', {"a": "x" * FULL}):
        assert (await store.refusal("record_interaction", **arguments, metadata=long)).code == "too_large"


@promise("join.text")
@each_text
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_nul_and_lone_surrogates_in_a_text_are_refused(store: Store, tool: str, name: str, odd: str) -> None:
    for request_id in (None, "r"):
        refused = await store.refusal(tool, **store.arguments(tool) | {name: odd, "request_id": request_id})
        assert refused.code == "invalid_params"
        assert name in refused.message
        assert "NUL" in refused.message or "surrogate" in refused.message


@promise("join.text")
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_they_are_refused_anywhere_in_metadata(store: Store, odd: str) -> None:
    arguments = store.arguments("record_interaction")
    objects: list[Any] = [{"a": odd}, {odd: 1}, {"a": [{"b": [odd]}]}, {"title": odd}]
    for metadata in [*objects, json.dumps({"a": odd}), json.dumps({odd: 1}), '{"a": "' + odd + '"}']:
        for request_id in (None, "r"):
            refused = await store.refusal("record_interaction", **arguments, metadata=metadata, request_id=request_id)
            assert refused.code == "invalid_params"
            assert "metadata" in refused.message


@promise("join.text", "join.arguments.types")
@pytest.mark.parametrize("tool", registry().tools)
async def test_they_are_refused_in_every_text_of_every_tool(store: Store, tool: str) -> None:
    declared = registry().tools[tool]
    for name in names_of_type(declared, "string"):
        for odd in ODD.values():
            refused = await store.refusal(tool, **fitting(declared) | {name: odd})
            expected = "invalid_user_id" if name == "user_id" else "invalid_params"
            assert (refused.code, name in refused.message) == (expected, True), name


@promise("join.arguments.types")
@pytest.mark.parametrize("tool", registry().tools)
async def test_every_wrong_type_of_every_argument_is_refused(store: Store, tool: str) -> None:
    declared = registry().tools[tool]
    for name in declared.signature.parameters:
        for wrong in wrong_values(declared, name):
            refused = await store.refusal(tool, **fitting(declared) | {name: wrong})
            assert refused.code in ("invalid_params", "invalid_user_id"), (name, wrong, refused.code)
            assert name in refused.message, (wrong, refused.message)


@promise("join.arguments.types")
@pytest.mark.parametrize("tool", registry().tools)
async def test_arguments_that_are_no_object_are_refused(store: Store, tool: str) -> None:
    for wrong in (None, [], "{}", 5, [["conversation_id", "x"]]):
        before = await tables(store.database)
        with pytest.raises(clew.ClewError) as caught:
            await store.memory.call(tool, wrong)  # type: ignore[arg-type]
        assert caught.value.code == "invalid_params"
        assert_in_our_words(caught.value.message)
        assert await tables(store.database) == before


@promise("join.arguments.unknown")
@pytest.mark.parametrize("tool", registry().tools)
async def test_an_unknown_argument_is_refused_by_name(store: Store, tool: str) -> None:
    for wrong in ("nonsense", "", "user", "limit ", "\ud800", "a\x00b", "x" * 1000):
        refused = await store.refusal(tool, **fitting(registry().tools[tool]) | {wrong: 1})
        assert refused.code == "invalid_params"
        assert repr(wrong[:80]) in refused.message


@promise("join.metadata")
async def test_metadata_that_is_no_json_object_is_refused(store: Store) -> None:
    arguments = store.arguments("record_interaction")
    texts = ["", " ", "null", "5", "true", "[]", '"x"', "{", "{]", "{'a': 1}", '{"a": Infinity}', "{} {}", "\ufeff{}"]
    values: list[Any] = [[], ["a"], 5, 1.5, True, b"{}", {1: 2}, {"a": float("nan")}, {"a": {1}}, {"a": object()}]
    for metadata in texts + values:
        for request_id in (None, "r"):
            refused = await store.refusal("record_interaction", **arguments, metadata=metadata, request_id=request_id)
            assert refused.code == "invalid_params", metadata
            assert "metadata" in refused.message


@promise("join.metadata")
async def test_metadata_without_an_end_is_refused(store: Store) -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for metadata in (endless, deep, '{"a":' * 100_000 + "1" + "}" * 100_000, "[" * 100_000, '{"a":' * 100_000):
        for request_id in (None, "r"):
            arguments = store.arguments("record_interaction")
            refused = await store.refusal("record_interaction", **arguments, metadata=metadata, request_id=request_id)
            assert refused.code == "invalid_params"
            assert "metadata" in refused.message
    while deep:  # unwound here, since freeing it at once would be as deep as it is
        deep = deep["a"]


@promise("join.metadata")
async def test_a_number_of_any_length_in_metadata_is_no_trouble(store: Store) -> None:
    arguments = store.arguments("record_interaction")
    for request_id in ("r-1", None):
        recorded = await store.memory.record_interaction(
            **arguments, metadata={"a": 2**70, "b": -(2**70)}, request_id=request_id
        )
        assert json.loads(recorded["user_message"]["metadata"] or "") == {"a": 2**70, "b": -(2**70)}


@promise("000.record.unknown", "001.add.not_found", "001.update.not_found")
async def test_unknown_ids_are_refused(store: Store) -> None:
    for id in (NOBODYS, "", " ", store.conversation.upper(), store.message, "../../etc/passwd", "x" * 255):
        for tool in ("record_interaction", "add_message", "update_conversation"):
            refused = await store.refusal(tool, **store.arguments(tool) | {"conversation_id": id})
            assert refused.code == "conversation_not_found"
        for tool in ("get_conversation", "fetch_chat_history", "get_conversation_history"):
            assert (await store.refusal(tool, conversation_id=id)).code == "conversation_not_found"
    for id in (NOBODYS, "", store.conversation, store.message.upper()):
        assert (await store.refusal("update_message", message_id=id, content="Hi")).code == "message_not_found"
        assert (await store.refusal("list_message_revisions", message_id=id)).code == "message_not_found"


@promise("000.fetch.limit", "000.list.limit", "001.list.page")
async def test_limits_out_of_range_are_refused(store: Store) -> None:
    named = {"conversation_id": store.conversation}
    for limit in (0, -1, 101, 10**6, 2**63, 2**70, -(2**70)):
        for tool, arguments in (
            ("fetch_chat_history", named),
            ("list_conversations", {}),
            ("list_user_conversations", {}),
        ):
            refused = await store.refusal(tool, **arguments, limit=limit)
            assert (refused.code, refused.message) == ("invalid_params", "limit must be a whole number from 1 to 100")
    for limit in (0, -1, 2**70):
        assert (await store.refusal("get_conversation_history", **named, limit=limit)).code == "invalid_params"
    for offset in (-1, 2**70):
        assert (await store.refusal("list_user_conversations", offset=offset)).code == "invalid_params"


@promise("001.add.role")
async def test_a_role_that_does_not_exist_is_refused(store: Store) -> None:
    for role in ("", "system", "tool", "User", "user ", "üser", "x" * 1000):
        refused = await store.refusal("add_message", **store.arguments("add_message") | {"role": role})
        assert (refused.code, refused.message) == ("invalid_role", "role must be one of user, assistant")


@promise("001.create.user", "join.user_id")
@pytest.mark.parametrize("tool", registry().tools)
async def test_a_user_id_that_cannot_be_one_is_refused_by_every_tool(store: Store, tool: str) -> None:
    texts = ["", "x" * 256, "ü" * 256, "a\nb", "\x00", "a\x1b[0m", "\x7f", "\x80", "\ud800"]
    for bad in [*texts, 5, True, b"alice", ["alice"]]:
        refused = await store.refusal(tool, **fitting(registry().tools[tool]) | {"user_id": bad})
        assert refused.code == "invalid_user_id"
        assert "user_id" in refused.message


@promise("join.taken_id")
async def test_an_entry_id_that_is_taken_is_refused(store: Store) -> None:
    before = await tables(store.database)
    draft = drafts.draft_message(USER, "Under an id of another")
    draft.uid = store.message
    other = drafts.draft_message(USER, "And another beside it")
    addition = Append("local", store.conversation, [other, draft], 1)
    with pytest.raises(clew.ClewError) as caught:
        await store.database.write_together(log.append, addition)
    assert caught.value.code == "conflict"
    assert_in_our_words(caught.value.message)
    assert await tables(store.database) == before


# Kept exactly


@promise("join.text.kept")
@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
async def test_what_looks_odd_is_kept_exactly(store: Store, text: str) -> None:
    metadata = {"title": text, text: [text]}
    recorded = await store.memory.record_interaction(
        conversation_id=store.conversation, user_message=text, assistant_response=text, metadata=metadata
    )
    history = await store.memory.fetch_chat_history(conversation_id=store.conversation, limit=2)
    assert [message["content"] for message in history["messages"]] == [text, text]
    assert history["messages"] == [recorded["user_message"], recorded["assistant_message"]]
    assert json.loads(history["messages"][0]["metadata"] or "") == metadata
    assert history["title"] == text


@promise("join.text.kept")
@pytest.mark.parametrize("text", ["x" * FULL, "é" * (FULL // 2), "🧵" * (FULL // 4)], ids=["ascii", "two", "four"])
async def test_a_text_of_the_full_10_000_000_bytes_is_kept_exactly(store: Store, text: str) -> None:
    await store.memory.add_message(conversation_id=store.conversation, role="user", content=text)
    history = await store.memory.fetch_chat_history(conversation_id=store.conversation, limit=1)
    assert history["messages"][0]["content"] == text


@promise("join.text.kept", "join.revisions")
async def test_a_full_text_may_be_edited_and_its_earlier_one_read(store: Store) -> None:
    before, after = "b" * FULL, "a" * FULL
    for text in (before, after):
        await store.memory.update_message(message_id=store.message, content=text)
    shown = await store.memory.list_message_revisions(message_id=store.message)
    assert [revision["content"] for revision in shown["revisions"]] == ["Hi", before]


@promise("join.user_id")
@pytest.mark.parametrize("letter", ["x", "é", "🧵", "'", "\\", " "])
async def test_a_user_id_of_255_characters_is_kept_exactly(store: Store, letter: str) -> None:
    user = letter * 255
    made = await store.memory.create_conversation(user_id=user)
    await store.memory.add_message(conversation_id=made["id"], user_id=user, role="user", content="Hi")
    [listed] = await store.memory.list_conversations(user_id=user)
    assert (listed["id"], listed["user_id"]) == (made["id"], user)
    assert await store.memory.list_conversations(user_id=letter * 254) == []


@promise("join.metadata")
async def test_metadata_of_a_sensible_depth_is_kept(store: Store) -> None:
    text = '{"a":' * 100 + "1" + "}" * 100
    arguments = store.arguments("record_interaction")
    for metadata in (text, json.loads(text)):
        recorded = await store.memory.record_interaction(**arguments, metadata=metadata)
        assert json.loads(recorded["user_message"]["metadata"] or "") == json.loads(text)


# What the registry says about its arguments


def shapes_of(tool: Tool, name: str) -> set[str]:
    """The JSON types that an argument takes."""
    schema = schema_of(tool.signature.parameters[name].annotation)
    return {part.get("type", "any") for part in schema.get("anyOf", [schema])}


def names_of_type(tool: Tool, shape: str) -> list[str]:
    return [name for name in tool.signature.parameters if shape in shapes_of(tool, name)]


def fitting(tool: Tool) -> dict[str, Any]:
    """Arguments of the right types for what a tool needs."""
    values: dict[str, Any] = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    needed = [p.name for p in tool.signature.parameters.values() if p.default is p.empty]
    return {name: values[min(shapes_of(tool, name) & set(values))] for name in needed}


def wrong_values(tool: Tool, name: str) -> list[Any]:
    """What this argument does not take, in none of the ways in which models write what it does."""
    shapes = shapes_of(tool, name)
    values: list[tuple[set[str], Any]] = [
        ({"boolean"}, True),
        ({"boolean"}, False),
        ({"integer", "number"}, 7),
        ({"integer", "number"}, 7.0),
        ({"number"}, 7.5),
        (set(), float("nan")),
        (set(), float("inf")),
        ({"number"}, 10**400),
        ({"string"}, "words"),
        ({"string"}, "7.5x"),
        ({"string"}, "\u0667"),
        ({"array"}, []),
        ({"array"}, ["a", 1]),
        ({"object"}, {}),
        ({"object"}, {"a": 1}),
        (set(), b"bytes"),
        (set(), object()),
        (set(), {1, 2}),
        (set(), {"a": {"b": object()}} if "object" not in shapes else object()),
    ]
    wrong = [value for fits, value in values if not fits & shapes and "any" not in shapes]
    return wrong + ([None] if tool.signature.parameters[name].default is tool.signature.parameters[name].empty else [])
