"""The reference page of the tools, made from the registry."""

from __future__ import annotations

import json
from inspect import Parameter
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from clew.core.schemas import Schema, in_words
from clew.tools.registry import Registry, Tool

INTRODUCTION = """\
# Tools

Made from the registry by `make docs`. Every tool also takes `user_id`, whose data it acts on, and every tool that
writes takes `request_id`, which makes a retry safe: the same id with the same arguments gets the first answer and
writes nothing, with other arguments it gets `conflict`. An id counts within the conversation that the call names, else
within the tool.

A call without `user_id` acts for the user that the server is pinned to (`CLEW_USER`), else for the owner of the
conversation that it names, else for the user `local`. Over MCP a refused call is a result with `isError`, a text for
the model, and its code in `_meta` under `clew/code`.
"""
SHARED = ("user_id", "request_id")


def page(registry: Registry) -> str:
    """The page, as Markdown."""
    parts = [INTRODUCTION]
    toolset = ""
    for tool in registry.tools.values():
        if tool.toolset != toolset:
            toolset = tool.toolset
            parts.append(f"## {toolset.capitalize()}\n")
        parts.append(_section(tool))
    return "\n".join(parts)


def _section(tool: Tool) -> str:
    lines = [f"### {tool.name}", "", tool.description, ""]
    own = {name: p for name, p in tool.signature.parameters.items() if name not in SHARED}
    if own:
        lines += ["| argument | takes | default | |", "|---|---|---|---|"]
    for name, parameter in own.items():
        shape: Schema = tool.schema["properties"][name]
        default = _default(parameter.default)
        lines.append(f"| `{name}` | {in_words(parameter.annotation)} | {default} | {shape.get('description', '')} |")
    if own:
        lines.append("")
    lines.append(f"Answers `{_answer(tool.signature.return_annotation)}`.")
    return "\n".join(lines) + "\n"


def _default(value: object) -> str:
    if value is Parameter.empty:
        return "required"
    return "" if value is None else f"`{json.dumps(value)}`"


def _answer(shape: Any) -> str:
    """An answer's fields by name, with those of what it holds."""
    if get_origin(shape) is list:
        return f"[{_answer(get_args(shape)[0])}]"
    if not is_typeddict(shape):
        return ""
    fields = ((name, _answer(inner)) for name, inner in get_type_hints(shape).items())
    return "{" + ", ".join(f"{name}: {inner}" if inner else name for name, inner in fields) + "}"
