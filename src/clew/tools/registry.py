"""How a tool is declared, and the one way in which it is called.

A tool is an async function whose first parameter is the `Call`; the others are its arguments, with their types,
bounds, defaults and documentation. Everything else is read off that declaration: the JSON schema that models see, the
decoder, the refusals, the typed Python method. Every tool also takes `user_id`, and one that writes `request_id`.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

import msgspec

from clew.core.requests import Request, request_of
from clew.core.schemas import Schema, schema_of
from clew.db.database import Database
from clew.errors import unknown_tool
from clew.scope import Principal
from clew.tools.arguments import RequestId, UserId
from clew.tools.call import Call
from clew.tools.decoding import Decoder
from clew.tools.whose import whose

Function = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Tool:
    """A tool as every interface serves it."""

    function: Function
    toolset: str
    read_only: bool
    destructive: bool
    idempotent: bool

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def description(self) -> str:
        """What a model reads: the function's own documentation."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def signature(self) -> inspect.Signature:
        """The arguments and the answer as Python sees them, with resolved types."""
        hints = get_type_hints(self.function, include_extras=True)
        declared = inspect.signature(self.function).parameters.values()
        own = [p.replace(annotation=hints[p.name], kind=p.KEYWORD_ONLY) for p in declared if p.name != "call"]
        shared = {"user_id": UserId} if self.read_only else {"user_id": UserId, "request_id": RequestId}
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=type)
            for name, type in shared.items()
        ]
        return inspect.Signature(own + added, return_annotation=hints["return"])

    @cached_property
    def arguments(self) -> type[msgspec.Struct]:
        """The arguments as one type."""
        fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
            (p.name, p.annotation) if p.default is p.empty else (p.name, p.annotation, p.default)
            for p in self.signature.parameters.values()
        ]
        return msgspec.defstruct(self.name, fields, kw_only=True, forbid_unknown_fields=True, gc=False)

    @cached_property
    def schema(self) -> Schema:
        """The JSON schema of the arguments."""
        return schema_of(self.arguments)

    @cached_property
    def _own(self) -> tuple[str, ...]:
        return tuple(name for name in self.signature.parameters if name not in ("user_id", "request_id"))

    @cached_property
    def _decoder(self) -> Decoder:
        return Decoder(self.name, self.arguments)

    async def answer(self, database: Database, principal: Principal, raw: object) -> Any:
        """Decode, find out whose data, do it. The one way in."""
        arguments = self._decoder.decode(raw)
        own = {name: getattr(arguments, name) for name in self._own}
        scope = await whose(database, principal, arguments.user_id, own.get("conversation_id"))
        call = Call(database, scope, time.time_ns() // 1000, self._request(arguments, own))
        return await self.function(call, **own)

    def _request(self, arguments: Any, own: dict[str, Any]) -> Request | None:
        if self.read_only or arguments.request_id is None:
            return None
        return request_of(arguments.request_id, self.name, own)


class Toolset:
    """Tools that belong together, declared in one module."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tools: list[Tool] = []

    def reads(self, function: Function) -> Function:
        """Declare a tool that changes nothing."""
        self.tools.append(Tool(function, self.name, read_only=True, destructive=False, idempotent=True))
        return function

    def adds(self, function: Function) -> Function:
        """Declare a tool that adds something with every call."""
        self.tools.append(Tool(function, self.name, read_only=False, destructive=False, idempotent=False))
        return function

    def changes(self, function: Function) -> Function:
        """Declare a tool that puts something in place of what was there: twice is as good as once."""
        self.tools.append(Tool(function, self.name, read_only=False, destructive=True, idempotent=True))
        return function


class Registry:
    """The tools that are served."""

    def __init__(self, toolsets: Iterable[Toolset]) -> None:
        self.tools = {tool.name: tool for toolset in toolsets for tool in toolset.tools}

    def find(self, name: str) -> Tool:
        tool = self.tools.get(name)
        if tool is None:
            raise unknown_tool(name)
        return tool
