"""The same calls get the same answers, and the same refusals, through every way in."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.contract.manifest import promise
from tests.contract.steps import TIME
from tests.support.callers import Caller, Refused, Way

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Script:
    """Calls one after another, and what came of each, with ids and times named by the order in which they appeared."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._names: dict[str, str] = {}
        self.outcomes: list[Any] = []

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call, note what came of it, and give the answer."""
        try:
            answer = await self._caller.call(tool, arguments)
        except Refused as refused:
            self.outcomes.append((tool, refused.code, self._masked(refused.message)))
            return None
        self.outcomes.append((tool, json.loads(self._masked(json.dumps(answer)))))
        return answer

    def _masked(self, text: str) -> str:
        text = TIME.sub("<time>", text)
        return UUID.sub(lambda found: self._names.setdefault(found[0], f"<id {len(self._names)}>"), text)


async def play(caller: Caller, user: str) -> list[Any]:
    """Every tool, answered and refused."""
    script = Script(caller)
    first = (await script.call("create_conversation", user_id=user, title="Plans 🧵"))["id"]
    second = (await script.call("create_conversation", user_id=user))["conversation_id"]
    await script.call("record_interaction", conversation_id=first, user_message="q", assistant_response="a")
    metadata = {"title": "Named later", "n": [1, None, 2.5]}
    said = {"user_message": "שלום", "assistant_response": "\\ \"'", "metadata": metadata, "request_id": "r"}
    for _ in range(2):
        recorded = await script.call("record_interaction", conversation_id=first, **said)
    await script.call("record_interaction", conversation_id=first, **{**said, "metadata": None})
    message = recorded["user_message"]["id"]
    await script.call("update_message", message_id=message, user_id=user, content="Edited")
    await script.call("list_message_revisions", message_id=message, user_id=user)
    added = await script.call("add_message", conversation_id=second, user_id=user, role="assistant", content="x")
    await script.call("add_message", conversation_id=second, user_id=user, role="system", content="x")
    await script.call("add_message", conversation_id=second, user_id=user, role="user", content=" ")
    await script.call("update_conversation", conversation_id=second, title="Second")
    await script.call("fetch_chat_history", conversation_id=first, limit=3)
    await script.call("get_conversation_history", conversation_id=first, limit=2)
    await script.call("get_conversation_history", conversation_id=first, after=added["message_id"])
    await script.call("get_conversation", conversation_id=second, user_id="somebody else")
    await script.call("list_conversations", user_id=user)
    await script.call("list_conversations", user_id=user + " who has none")
    await script.call("list_user_conversations", user_id=user, limit=1, offset=1)
    await script.call("list_user_conversations", user_id="", limit=1)
    await script.call("list_conversations", user_id=user, limit=0)
    await script.call("fetch_chat_history", conversation_id=first, how_many=5)
    return script.outcomes


@pytest.fixture(params=[pytest.param("python_on_postgres", marks=pytest.mark.postgres), "stdio", "http"])
def other(request: pytest.FixtureRequest) -> Way:
    opened: Way = request.getfixturevalue(request.param)
    return opened


@promise("join.one_answer")
async def test_every_way_in_answers_as_python_on_sqlite_does(python_on_sqlite: Way, other: Way, user: str) -> None:
    expected = await play(python_on_sqlite.trusted, user)
    assert {len(outcome) for outcome in expected} == {2, 3}  # answers and refusals
    assert await play(other.trusted, user) == expected
