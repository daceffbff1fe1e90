"""No promise without a test, and no test for a promise that nobody made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.contract.manifest import LATER, MEASURED, PROMISES, promise

TESTS = Path(__file__).parents[1]


@cache
def proofs() -> dict[str, list[str]]:
    """The tests that are marked with each promise."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        for test, id in marks(ast.parse(file.read_text(encoding="utf-8"))):
            found.setdefault(id, []).append(f"{file.relative_to(TESTS)}::{test}")
    return found


def marks(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Each test of a module with each promise that it is marked with."""
    for node in module.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for call in node.decorator_list:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "promise":
                yield from ((node.name, ast.literal_eval(id)) for id in call.args)


def test_every_promise_has_a_test() -> None:
    assert [id for id in PROMISES if id not in proofs()] == []


def test_every_marked_test_names_a_promise_that_was_made() -> None:
    assert [(id, tests) for id, tests in proofs().items() if id not in PROMISES] == []


def test_only_tests_are_marked() -> None:
    names = [test.rpartition("::")[2] for tests in proofs().values() for test in tests]
    assert [name for name in names if not name.startswith("test_")] == []


def test_a_mark_for_an_unknown_promise_is_refused_at_once() -> None:
    with pytest.raises(AssertionError, match=r"000\.nonsense"):
        promise("000.nonsense")


def test_what_is_served_measured_or_left_for_later_is_said_once() -> None:
    ids = [*PROMISES, *MEASURED, *LATER]
    assert len(ids) == len(set(ids))
    assert all(id.split(".")[0] == entry[0].split()[0] for part in (PROMISES, MEASURED) for id, entry in part.items())
    assert all(source and words and reason for source, words, reason in LATER.values())


def test_every_tool_of_both_seeds_is_in_the_manifest() -> None:
    kept = {id.rsplit(".", 1)[0] for id in PROMISES}
    assert {"000.fetch", "000.record", "000.create", "000.get", "000.list"} <= kept
    assert {"001.create", "001.add", "001.history", "001.list", "001.update"} <= kept
