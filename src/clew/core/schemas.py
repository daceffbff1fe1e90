"""Types in words and as JSON schemas, for error messages and for the lists of tools and settings."""

from __future__ import annotations

from typing import Any

import msgspec

WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "a string",
    "array": "a list",
    "object": "an object",
}

Schema = dict[str, Any]


def schema_of(type: object) -> Schema:
    """The JSON schema of a type, less what a reader can do without: titles, and null where a value may be left out."""
    schema = msgspec.json.schema(type)
    definitions = schema.pop("$defs", {})
    if "$ref" in schema:
        schema = definitions.pop(schema["$ref"].rsplit("/", 1)[-1])
    shortened = _shorten(schema)
    if definitions:
        shortened["$defs"] = {name: _shorten(definition) for name, definition in definitions.items()}
    return shortened


def in_words(type: object) -> str:
    """What a value of this type may be."""
    schema = schema_of(type)
    what = " or ".join(WORDS[shape] for shape in _shapes(schema))
    if "enum" in schema:
        return "one of " + ", ".join(str(value) for value in schema["enum"] if value is not None)
    if schema.get("type") in ("integer", "number"):
        return what + _between(schema.get("minimum"), schema.get("maximum"), "")
    if schema.get("type") == "string":
        return what + _between(schema.get("minLength"), schema.get("maxLength"), " characters")
    return what


def _between(low: int | None, high: int | None, unit: str) -> str:
    joint = " of" if unit else ""
    if low is not None and high is not None:
        return f"{joint or ' from'} {low} to {high}{unit}"
    if high is not None:
        return f"{joint} at most {high}{unit}" if unit else f" of at most {high}"
    return f" of at least {low}{unit}" if low is not None else ""


def _shapes(schema: Schema) -> list[str]:
    return [shape for part in schema.get("anyOf", [schema]) if (shape := part.get("type")) in WORDS]


def _shorten(schema: Schema) -> Schema:
    kept = {key: value for key, value in schema.items() if key != "title"}
    if isinstance(options := kept.get("anyOf"), list):
        options = [_shorten(option) for option in options if option != {"type": "null"}]
        kept.pop("anyOf")
        kept.update(options[0] if len(options) == 1 else {"anyOf": options})
    if kept.get("default", ...) is None:
        del kept["default"]
    if isinstance(properties := kept.get("properties"), dict):
        kept["properties"] = {name: _shorten(shape) for name, shape in properties.items()}
    if isinstance(items := kept.get("items"), dict):
        kept["items"] = _shorten(items)
    return kept
