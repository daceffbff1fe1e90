"""From what a caller sent to typed arguments, or to a refusal that says what is wrong and what is allowed.

A call that is right is decoded in one step. Models often write a list or an object as its JSON text, a number as "5"
or 5.0, a boolean as "true": where the one step fails, those are read as they were meant, and nothing else is.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import msgspec

from clew.core.drafts import check_json
from clew.core.schemas import in_words, schema_of
from clew.errors import BadValue

WHOLE = re.compile(r"[+-]?[0-9]{1,18}(\.0+)?")
WRONG = (msgspec.ValidationError, UnicodeError, RecursionError)
TRUTH = {"true": True, "false": False}
CHECKED_LATER = frozenset({"user_id"})


class Decoder:
    """Decodes the arguments of one tool."""

    def __init__(self, tool: str, arguments: type[msgspec.Struct]) -> None:
        self._tool = tool
        self._arguments = arguments
        self._checked = [name for name in arguments.__struct_fields__ if name not in CHECKED_LATER]

    def decode(self, raw: object) -> Any:
        try:
            arguments = msgspec.convert(raw, self._arguments)
        except WRONG:
            arguments = self._decode_as_meant(raw)
        for name in self._checked:
            check_json(name, getattr(arguments, name))
        return arguments

    def _decode_as_meant(self, raw: object) -> Any:
        if not isinstance(raw, dict):
            raise BadValue(f"The arguments of {self._tool} must be an object")
        meant = {name: self._as_meant(name, value) for name, value in raw.items()}
        try:
            return msgspec.convert(meant, self._arguments)
        except WRONG:
            raise self._refusal(meant) from None

    @cached_property
    def _fields(self) -> dict[str, msgspec.structs.FieldInfo]:
        return {field.name: field for field in msgspec.structs.fields(self._arguments)}

    def _as_meant(self, name: str, value: object) -> object:
        """A value as its argument's type reads it, or as it is."""
        field = self._fields.get(name)
        if field is None or _fits(value, field.type):
            return value
        shapes = {part.get("type") for part in schema_of(field.type).get("anyOf", [schema_of(field.type)])}
        if "integer" in shapes:
            return _whole(value)
        if not isinstance(value, str):
            return value
        if "boolean" in shapes:
            return TRUTH.get(value.strip().lower(), value)
        return _parsed(value) if shapes & {"array", "object"} else value

    def _refusal(self, given: dict[str, object]) -> BadValue:
        """The first thing that is wrong with these arguments."""
        for name in given:
            if name not in self._fields:
                return BadValue(f"{self._tool} has no argument {_quoted(name)}: it takes {', '.join(self._fields)}")
        for name, field in self._fields.items():
            code = "invalid_user_id" if name == "user_id" else None
            if name not in given:
                if field.required:
                    return BadValue(f"{self._tool} needs the argument {name}: {in_words(field.type)}", code)
            elif not _fits(given[name], field.type):
                return BadValue(f"{name} must be {in_words(field.type)}", code)
        return BadValue(f"The arguments of {self._tool} cannot be read")


def _fits(value: object, type: object) -> bool:
    try:
        msgspec.convert(value, type)
    except WRONG:
        return False
    return True


def _whole(value: object) -> object:
    """A whole number, however it was written."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and WHOLE.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return value


def _parsed(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text


def _quoted(name: object) -> str:
    return repr(str(name)[:80])
