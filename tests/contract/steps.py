"""What the cases do and look at again and again."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.callers import Caller, Refused

CONVERSATION = {"id", "user_id", "title", "created_at", "updated_at"}
MESSAGE = {"id", "conversation_id", "role", "content", "metadata", "created_at"}
NOBODYS = "01890000-0000-7000-8000-000000000000"
FULL = 10_000_000  # the bytes of the largest text
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")

KEPT = {
    "emoji": "🧵👩‍👩‍👧‍👦🏳️‍🌈",
    "right to left": "שלום مرحبا \u202eabc\u202c",
    "combining characters": "e\u0301 a\u0323\u0307 Z\u0351\u036b\u0343",
    "every quote and backslash": "' \" ` \u00b4 \u2018\u2019 \u201c\u201d \u00ab\u00bb \\ \\\\ \\' \\\" '' \"\" $$",
}


async def start(caller: Caller, user: str, title: str | None = None) -> str:
    """A new conversation of this user; its id."""
    made = await caller.call("create_conversation", {"user_id": user, "title": title})
    return str(made["id"])


async def exchange(caller: Caller, conversation: str, said: str = "Hi", answered: str = "Hello", **more: Any) -> Any:
    """Record what was said and answered."""
    exchanged = {"user_message": said, "assistant_response": answered}
    return await caller.call("record_interaction", {"conversation_id": conversation, **exchanged, **more})


async def say(caller: Caller, conversation: str, user: str, content: str = "Hi", role: str = "user") -> str:
    """Add one message; its id."""
    arguments = {"conversation_id": conversation, "user_id": user, "role": role, "content": content}
    added = await caller.call("add_message", arguments)
    return str(added["message_id"])


async def contents(caller: Caller, conversation: str, **more: Any) -> list[str]:
    """The texts of a conversation, in order."""
    history = await caller.call("get_conversation_history", {"conversation_id": conversation, **more})
    return [message["content"] for message in history["messages"]]


async def refusal(caller: Caller, tool: str, arguments: dict[str, Any]) -> Refused:
    """The refusal that this call must meet."""
    with pytest.raises(Refused) as caught:
        await caller.call(tool, arguments)
    return caught.value


async def everything(caller: Caller, user: str) -> Any:
    """All that a user's calls can show: conversations, messages, earlier texts, times."""
    listed = await caller.call("list_user_conversations", {"user_id": user, "limit": 100})
    shown = []
    for conversation in listed["conversations"]:
        asked = {"conversation_id": conversation["id"], "user_id": user}
        history = await caller.call("get_conversation_history", asked)
        revisions = [
            await caller.call("list_message_revisions", {"message_id": message["id"], "user_id": user})
            for message in history["messages"]
        ]
        shown.append((history, revisions))
    return listed, shown


def assert_time(text: str) -> None:
    """A time as every answer shows one: ISO 8601 in UTC with six decimals; and it was now."""
    assert TIME.fullmatch(text)
    assert abs(datetime.now(UTC) - datetime.fromisoformat(text)) < timedelta(minutes=10)
