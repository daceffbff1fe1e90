"""The house keeps its order: imports point downwards, engines stay in `db`, and nothing outgrows a glance."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path.read_text("utf-8")
    for path in sorted(SOURCE.rglob("*.py"))
}

# The rooms, and what each may import from beside itself. A module at the top is a room; `clew` is the package itself.
BELOW = {
    "errors": "",
    "scope": "errors",
    "core": "errors",
    "settings": "core errors scope",
    "db": "errors",
    "memory": "db core errors scope",
    "tools": "memory db core errors scope settings",
    "app": "tools memory db core errors scope settings",
    "embedded": "app errors scope settings",
    "context_service": "embedded app errors",
    "clew": "embedded context_service errors",
    "serve": "app tools core errors scope settings clew",
    "cli": "serve app tools core errors scope settings clew",
}
# Of `db`, others see the interface of an engine; `app` opens one, and `db.engines` alone knows which there are.
DOORS = {"clew.db.database", "clew.db.engines"}

# Where these belong: an operation awaits its transaction and nothing else, and is given its time.
HOMES = {
    "apsw": "db",
    "asyncpg": "db",
    "asyncio": "db embedded context_service serve cli",
    "threading": "db context_service serve",
    "time": "db tools serve",
    "anyio": "serve",
    "mcp": "serve",
    "mcp_types": "serve",
    "starlette": "serve",
    "uvicorn": "serve",
    "typer": "cli",
}
ENGINE = re.compile("sqlite|postgres", re.IGNORECASE)
ENGINE_TEXT = re.compile(r"(sqlite|postgres)\S*", re.IGNORECASE)
DRAWER = re.compile(r"_?(utils?|helpers?|common|misc|shared|managers?)")


def room(module: str) -> str:
    """`clew.db.sqlite` is in `db`."""
    return module.split(".")[1] if "." in module else module


def imports() -> Iterator[tuple[str, str]]:
    """Each module with each that it imports, wherever in it."""
    for module, text in MODULES.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                yield from ((module, name.name) for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                names = (f"{node.module}.{name.name}" for name in node.names)
                yield from ((module, name if name in MODULES else str(node.module)) for name in names)


def test_imports_point_downwards() -> None:
    upwards = [
        f"{module} imports {imported}"
        for module, imported in imports()
        if imported in MODULES and room(imported) not in [room(module), *BELOW[room(module)].split()]
    ]
    assert upwards == []


def test_drivers_transports_event_loops_and_clocks_stay_at_home() -> None:
    astray = [
        f"{module} imports {imported}"
        for module, imported in imports()
        if (homes := HOMES.get(imported.partition(".")[0])) and room(module) not in homes.split()
    ]
    assert astray == []


def test_engines_are_chosen_in_one_place() -> None:
    for module, imported in imports():
        if room(imported) == "db" and room(module) != "db":
            assert imported in DOORS, f"{module} imports {imported}"
        if (engine := ENGINE.search(imported)) and imported in MODULES and module != "clew.db.engines":
            assert engine[0] in module, f"{module} imports {imported}"


def test_nothing_outside_db_asks_which_engine_it_has() -> None:
    """No name speaks of an engine there, and no text is an engine's name or URL; documentation may mention them."""
    asks = [
        f"{module}:{node.lineno}"
        for module, text in MODULES.items()
        for node in ast.walk(ast.parse(text))
        if room(module) != "db" and isinstance(node, (ast.Name, ast.Attribute, ast.Constant))
        if ENGINE.search(getattr(node, "id", "") + getattr(node, "attr", ""))
        or ENGINE_TEXT.fullmatch(str(getattr(node, "value", "")))
    ]
    assert asks == []


def test_modules_are_rooms_and_not_drawers() -> None:
    assert [module for module in MODULES if DRAWER.fullmatch(module.rpartition(".")[2])] == []


def test_files_and_functions_stay_within_sight() -> None:
    long = [f"{module}: {len(text.splitlines())} lines" for module, text in MODULES.items() if text.count("\n") > 400]
    for module, text in MODULES.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or 0) - node.lineno + 1
                long += [f"{module}.{node.name}: {lines} lines"] if lines > 60 else []
    assert long == []
