"""The documentation says what is so: links lead somewhere, made pages are up to date, examples run as they stand."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import msgspec
import pytest

from clew import settings
from clew.app import registry
from clew.tools import reference
from tests.support.servers import environment
from tests.support.stores import sqlite_url

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [f"{page.relative_to(ROOT).as_posix()}" for page in PAGES]

BLOCK = re.compile(r"^(?P<fence>`{3,}) *(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=fence) *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)

each_page = pytest.mark.parametrize("page", PAGES, ids=NAMES)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page: str, *languages: str) -> list[str]:
    """The blocks of a page in these languages."""
    return [found["text"] for found in BLOCK.finditer(read(page)) if found["language"] in languages]


def links(page: Path) -> Iterator[str]:
    """Where a page leads within the project."""
    prose = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))
    for found in LINK.finditer(prose):
        target = found[1] or found[2]
        if not SCHEME.match(target):
            yield target


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them in links."""
    headings = HEADING.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# Links


@pytest.mark.parametrize(
    "name",
    ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/decisions/README.md"],
)
def test_the_pages_that_people_look_for_are_there(name: str) -> None:
    assert len(read(name)) > 200


@each_page
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    lost = []
    for link in links(page):
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        known = target.exists() and target.is_relative_to(ROOT)
        if not known or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []


def test_every_decision_is_in_the_list_of_decisions() -> None:
    listed = set(links(ROOT / "docs/decisions/README.md"))
    assert {page.name for page in (ROOT / "docs/decisions").glob("[0-9]*.md")} == listed


# Pages that are made


def test_the_page_of_settings_is_what_the_settings_say() -> None:
    assert read("docs/settings.md") == settings.page(), "run `make docs`"


@pytest.mark.parametrize("field", [field.name for field in msgspec.structs.fields(settings.Settings)])
def test_every_setting_is_documented(field: str) -> None:
    assert f"`CLEW_{field.upper()}`" in read("docs/settings.md")


def test_the_page_of_tools_is_what_the_registry_says() -> None:
    assert read("docs/tools.md") == reference.page(registry()), "run `make docs`"


@pytest.mark.parametrize("tool", registry().tools)
def test_every_tool_is_documented_with_its_arguments(tool: str) -> None:
    page = read("docs/tools.md")
    assert f"### {tool}\n" in page
    section = page.partition(f"### {tool}\n")[2].partition("\n##")[0]
    own = [name for name in registry().tools[tool].signature.parameters if name not in ("user_id", "request_id")]
    assert [name for name in own if f"`{name}`" not in section] == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name != "decisions"], ids=lambda page: page.name
)
def test_no_page_names_a_setting_that_is_not_there(page: Path) -> None:
    known = {f"CLEW_{field.name.upper()}" for field in msgspec.structs.fields(settings.Settings)}
    named = set(re.findall(r"\bCLEW_[A-Z_]+\b", page.read_text(encoding="utf-8")))
    assert {name for name in named - known if not name.startswith("CLEW_TEST_")} == set()


# Commands and snippets


def test_the_readmes_make_commands_are_serve_and_test() -> None:
    lines = [line.strip() for block in blocks("README.md", "bash", "sh", "console", "") for line in block.splitlines()]
    assert [line for line in lines if line.startswith(("make", "$ make"))] == ["make serve", "make test"]


@pytest.mark.parametrize("name", ["README.md", "docs/clients.md"])
def test_every_configuration_starts_clew_or_calls_it(name: str) -> None:
    snippets = [json.loads(block) for block in blocks(name, "json")]
    assert snippets
    for snippet in snippets:
        [servers] = [snippet[key] for key in ("mcpServers", "servers") if key in snippet]
        for server in servers.values():
            starts = (server.get("command"), server.get("args")) == ("clew", ["stdio"])
            assert starts or (server.get("url") or server["httpUrl"]).endswith("/mcp")
            assert set(server.get("env", {})) <= {"CLEW_DATABASE_URL", "CLEW_USER"}


def programs(name: str) -> list[object]:
    """The Python blocks of a page; one at least."""
    found = [pytest.param(block, id=f"{name} {n}") for n, block in enumerate(blocks(name, "python"), 1)]
    assert found, f"{name} has no example"
    return list(found)


@pytest.mark.parametrize("program", [*programs("README.md"), *programs("docs/python.md")])
def test_every_example_runs_as_it_stands(program: str, tmp_path: Path) -> None:
    names = {node.name for node in ast.parse(program).body if isinstance(node, ast.AsyncFunctionDef)}
    if "main" in names and "asyncio.run(" not in program:
        program += "\nimport asyncio\nasyncio.run(main())\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=tmp_path,
        env=environment({"CLEW_DATABASE_URL": sqlite_url(tmp_path)}),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_examples_of_a_program_store_something(tmp_path: Path) -> None:
    """So that the test above cannot pass by running nothing."""
    examples = blocks("README.md", "python") + blocks("docs/python.md", "python")
    assert any("record_interaction" in example for example in examples)
    assert any("ContextService" in example for example in examples)
    assert all(ast.parse(example).body for example in examples)
