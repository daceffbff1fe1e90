"""What may be stored: the rules for texts, titles and metadata, and the drafts made of them.

Both databases would disagree on NUL and on lone surrogates, so neither ever sees one.
"""

from __future__ import annotations

import json
import math
import re
from functools import partial
from typing import Any

import msgspec

from clew.core.ids import new_id
from clew.core.model import MESSAGE_OF_ROLE, Draft
from clew.core.tokens import tokens_of_size, utf8_size, weight
from clew.errors import BadValue, TooLarge

TEXT_BYTES = 10_000_000
TITLE_LENGTH = 200
JSON_DEPTH = 500
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Metadata = str | dict[str, Any]


def check_characters(name: str, text: str) -> None:
    """Refuse NUL and lone surrogates."""
    found = None if text.isascii() and "\x00" not in text else UNSTORABLE.search(text)
    if found:
        what = "a NUL character" if found[0] == "\x00" else "a lone surrogate"
        raise BadValue(f"{name} holds {what} at position {found.start()}: remove it")


def check_size(name: str, text: str) -> int:
    """Refuse a text of more than 10,000,000 bytes of UTF-8; the bytes of one that passes."""
    size = utf8_size(text)
    if size > TEXT_BYTES:
        raise TooLarge(f"{name} has {size:,} bytes of UTF-8; at most {TEXT_BYTES:,} are allowed")
    return size


class Text(msgspec.Struct, frozen=True):
    """A text that says something and can be stored, with its bytes and tokens counted."""

    content: str
    size: int
    tokens: int


def checked(name: str, content: str) -> Text:
    """Refuse a text that cannot be stored, or that says nothing; `name` is what the caller calls it."""
    if not content or content.isspace():
        raise BadValue(f"{name} must not be empty or only white space", "empty_content")
    size = check_size(name, content)
    check_characters(name, content)
    return Text(content, size, tokens_of_size(size))


def check_title(title: str) -> None:
    if not title.strip():
        raise BadValue("title must not be empty or only white space")
    if len(title) > TITLE_LENGTH:
        raise BadValue(f"title must have at most {TITLE_LENGTH} characters, this one has {len(title)}")
    check_characters("title", title)


def draft_message(role: str, content: str, metadata: str | None = None, *, name: str = "content") -> Draft:
    """A user or assistant message, checked; `name` is what the caller calls its text."""
    kind = MESSAGE_OF_ROLE.get(role)
    if kind is None:
        raise BadValue(f"role must be one of {', '.join(MESSAGE_OF_ROLE)}", "invalid_role")
    text = checked(name, content)
    return Draft(
        uid=new_id(),
        kind=kind,
        role=role,
        content=content,
        metadata=metadata,
        size=text.size,
        token_count=text.tokens,
        weight=weight(kind, text.tokens),
        shown=True,
    )


def read_metadata(metadata: Metadata | None) -> tuple[str | None, dict[str, Any]]:
    """Metadata as it is stored, and as an object. A string must be the JSON text of an object and is kept as given."""
    if metadata is None:
        return None, {}
    if isinstance(metadata, str):
        check_size("metadata", metadata)
        text, value = metadata, _parse(metadata)
        check_json("metadata", value)
    else:
        check_json("metadata", metadata)
        text, value = json.dumps(metadata, ensure_ascii=False), metadata
        check_size("metadata", text)
    return text, value


def title_in(metadata: dict[str, Any]) -> str | None:
    """The conversation title that metadata asks for; one that is blank or too long sets nothing."""
    title = metadata.get("title")
    if isinstance(title, str) and title.strip() and len(title) <= TITLE_LENGTH:
        return title
    return None


def check_json(name: str, root: object) -> None:
    """Refuse what JSON cannot say or a database could not read back, at any depth."""
    level: list[Any] = [root]
    for _ in range(JSON_DEPTH):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                check_characters(name, value)
            elif isinstance(value, dict):
                inner += [*map(partial(_key, name), value), *value.values()]
            elif isinstance(value, (list, tuple)):
                inner += value
            elif not (value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))):
                raise BadValue(f"{name} must hold only what JSON can say")
        if not inner:
            return
        level = inner
    raise BadValue(f"{name} is nested more than {JSON_DEPTH} levels deep")


def _key(name: str, key: object) -> str:
    if not isinstance(key, str):
        raise BadValue(f"{name} must hold only what JSON can say: the keys of objects are strings")
    return key


def _parse(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BadValue("metadata must be a JSON object, or its JSON text")
    return value
