"""`clew` as a person types it."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

import pytest

import clew
from tests.support.servers import run_clew
from tests.support.stores import sqlite_url


def test_help_names_the_commands() -> None:
    done = run_clew("--help")
    assert (done.returncode, done.stderr) == (0, b"")
    for word in (b"stdio", b"serve", b"--version", b"The memory server for AI agents."):
        assert word in done.stdout


@pytest.mark.parametrize("command", ["stdio", "serve"])
def test_every_command_explains_itself(command: str) -> None:
    done = run_clew(command, "--help")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Serve MCP" in done.stdout


def test_version_is_the_packages() -> None:
    done = run_clew("--version")
    assert (done.returncode, done.stdout.decode()) == (0, f"clew {clew.__version__}\n")
    assert distribution("clew-memory").version == clew.__version__


def test_both_names_of_the_command_are_declared() -> None:
    scripts = distribution("clew-memory").entry_points.select(group="console_scripts")
    assert {script.name: script.value for script in scripts} == {
        "clew": "clew.cli.main:main",
        "clew-memory": "clew.cli.main:main",
    }


def test_a_command_that_does_not_exist_is_refused() -> None:
    done = run_clew("remember")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"remember" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLEW_PORT", "many"),
        ("CLEW_PORT", "70000"),
        ("CLEW_MAX_BODY", "1"),
        ("CLEW_PG_POOL", "0"),
        ("CLEW_PG_WAIT", "-1"),
    ],
)
def test_a_setting_that_cannot_be_used_is_told_in_one_line(name: str, value: str, tmp_path: Path) -> None:
    done = run_clew("serve", settings={"CLEW_DATABASE_URL": sqlite_url(tmp_path), name: value})
    assert (done.returncode, done.stdout) == (1, b"")
    [line] = done.stderr.decode().splitlines()
    assert line.startswith(f"clew: {name}='{value}' cannot be used: it takes ")
    assert not list(tmp_path.iterdir())


def test_a_command_loads_no_more_than_it_needs() -> None:
    done = run_clew("--help", settings={"PYTHONPROFILEIMPORTTIME": "1"})
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.decode().splitlines()}
    assert "typer" in loaded
    assert loaded & {"mcp", "starlette", "uvicorn", "pydantic", "asyncpg", "apsw", "rich"} == set()
