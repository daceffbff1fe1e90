"""A fault of our own: whoever calls is told that it is ours and nothing else; the log knows the rest."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from mcp.client import Client
from mcp_types import TextContent

from clew.app import Clew
from clew.db.database import Database
from clew.errors import ClewError
from clew.scope import TRUSTED
from clew.serve.mcp import mcp_server
from clew.tools.call import Call
from clew.tools.registry import Registry, Toolset
from tests.contract.manifest import promise

WORDS = "Something went wrong inside Clew; the reason is in its log"
toolset = Toolset("faulty")


@toolset.reads
async def fail(call: Call, how: str) -> dict[str, Any]:
    """Fail."""
    if how == "in a statement":
        return {"row": await call.database.read(lambda tx: tx.one("SELECT secret FROM clew.nothing"))}
    raise RuntimeError("secret")


@pytest.fixture
def faulty(database: Database) -> Clew:
    return Clew(database, Registry([toolset]))


@promise("join.errors.words")
@pytest.mark.parametrize("how", ["in a statement", "in the program"])
async def test_a_fault_is_told_without_its_reason(faulty: Clew, how: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(ClewError) as caught:
        await faulty.call("fail", {"how": how}, TRUSTED)
    assert caught.value.code == "unavailable"
    assert "secret" not in str(caught.value)
    assert "log" in str(caught.value)
    assert ("nothing" if how == "in a statement" else "secret") in caplog.text


@promise("join.errors.words")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_over_mcp_it_is_a_refusal_like_any_other(faulty: Clew, mode: str) -> None:
    async def ready() -> Clew:
        return faulty

    async with Client(mcp_server(faulty.tools, ready, TRUSTED), mode=mode) as client:
        result = await client.call_tool("fail", {"how": "in the program"})
    assert result.is_error
    assert result.content == [TextContent(text=f"Error: {WORDS}")]
    assert (result.meta or {})["clew/code"] == "unavailable"
