"""What may be stored: the rules for texts, titles and metadata, and the drafts made of them.

Both databases would disagree on NUL and on lone surrogates, so neither ever sees one.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from clew.core.ids import new_id
from clew.core.model import MESSAGE_OF_ROLE, Draft
from clew.core.tokens import tokens_of_size, utf8_size, weight
from clew.errors import BadValue, TooLarge

TEXT_BYTES = 10_000_000
TITLE_LENGTH = 200
METADATA_DEPTH = 500
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


def message(role: str, content: str, metadata: str | None = None, *, name: str = "content") -> Draft:
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
    else:
        text, value = _dump(metadata), metadata
        check_size("metadata", text)
    _check_tree(value)
    return text, value


def title_in(metadata: dict[str, Any]) -> str | None:
    """The conversation title that metadata asks for; one that is blank or too long sets nothing."""
    title = metadata.get("title")
    if isinstance(title, str) and title.strip() and len(title) <= TITLE_LENGTH:
        return title
    return None


def _parse(text: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise BadValue("metadata must be a JSON object, or its JSON text") from None
    if not isinstance(value, dict):
        raise BadValue("metadata must be a JSON object, or its JSON text")
    return value


def _dump(value: dict[str, Any]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    except (TypeError, ValueError, RecursionError):
        raise BadValue("metadata must hold only what JSON can say") from None


def _check_tree(root: dict[str, Any]) -> None:
    """Refuse what a database could not read back: unstorable characters anywhere, and endless nesting."""
    level: list[Any] = [root]
    for _ in range(METADATA_DEPTH):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                check_characters("metadata", value)
            elif isinstance(value, dict):
                inner.extend(value)
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
        if not inner:
            return
        level = inner
    raise BadValue(f"metadata is nested more than {METADATA_DEPTH} levels deep")
