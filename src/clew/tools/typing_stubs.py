"""The typed faces of the Python interfaces, made from the registry.

Every tool is a method of `Memory` and of `ContextService`; these stubs tell editors and type checkers its arguments
and its answer. `make docs` writes them again, and a test fails when they are behind.
"""

from __future__ import annotations

import inspect
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin, is_typeddict

from clew.tools.registry import Registry, Tool

NOTE = "# Made from the registry by `make docs`: do not edit.\n"

MEMORY = """
from types import TracebackType
from typing import Any, Self

from clew.settings import Settings
{imports}

class Memory:
    def __init__(self, settings: Settings) -> None: ...
    async def open(self) -> Self: ...
    async def close(self) -> None: ...
    async def call(self, tool: str, arguments: dict[str, Any]) -> Any: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None: ...
{methods}
def connect(database_url: str | None = ..., *, user: str | None = ...) -> Memory: ...
"""

SERVICE = """
from typing import Any, Self

{imports}

class SyncMemory:
    def __init__(self, database_url: str | None = ..., *, user: str | None = ...) -> None: ...
    def __call__(self) -> Self: ...
    def call(self, tool: str, arguments: dict[str, Any]) -> Any: ...
    def close(self) -> None: ...
{methods}
ContextService: SyncMemory
"""


def stubs(registry: Registry) -> dict[str, str]:
    """The text of each stub file, by its name beside the package's modules."""
    return {
        "embedded.pyi": _filled(MEMORY, registry, "async def"),
        "context_service.pyi": _filled(SERVICE, registry, "def"),
    }


def _filled(form: str, registry: Registry, define: str) -> str:
    methods = "".join(_method(tool, define) for tool in registry.tools.values())
    return NOTE + form.format(imports=_imports(registry), methods=methods)


def _method(tool: Tool, define: str) -> str:
    lines = [f"    {define} {tool.name}(", "        self,", "        *,"]
    for parameter in tool.signature.parameters.values():
        default = "" if parameter.default is inspect.Parameter.empty else " = ..."
        lines.append(f"        {parameter.name}: {_written(parameter.annotation)}{default},")
    return "\n".join([*lines, f"    ) -> {_written(tool.signature.return_annotation)}: ...\n"])


def _imports(registry: Registry) -> str:
    homes: dict[str, set[str]] = {}
    for tool in registry.tools.values():
        for shape in _shapes(tool.signature.return_annotation):
            homes.setdefault(shape.__module__, set()).add(shape.__name__)
    return "\n".join(f"from {module} import {', '.join(sorted(homes[module]))}" for module in sorted(homes))


def _shapes(annotation: Any) -> list[Any]:
    if is_typeddict(annotation):
        return [annotation]
    return [shape for part in get_args(annotation) for shape in _shapes(part)]


def _written(annotation: Any) -> str:
    """A type as it is written, without the bounds and documentation that only the registry reads."""
    origin = get_origin(annotation)
    if annotation is None or annotation is type(None):
        return "None"
    if annotation is Any:
        return "Any"
    if origin is Annotated:
        return _written(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(_written(part) for part in get_args(annotation)))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, get_args(annotation)))}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_written, get_args(annotation)))}]"
    return str(annotation.__name__)
