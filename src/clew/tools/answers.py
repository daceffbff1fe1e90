"""The answers of the conversation and message tools, and how they are made from what memory gives."""

from __future__ import annotations

from typing import TypedDict

from clew.core.model import Entry, Thread
from clew.core.times import iso


class Conversation(TypedDict):
    id: str
    user_id: str
    title: str | None
    created_at: str
    updated_at: str


class Message(TypedDict):
    id: str
    conversation_id: str
    role: str
    content: str
    metadata: str | None
    created_at: str


def shown_conversation(thread: Thread) -> Conversation:
    return {
        "id": thread.id,
        "user_id": thread.owner,
        "title": thread.title,
        "created_at": iso(thread.created_at),
        "updated_at": iso(thread.updated_at),
    }


def shown_message(entry: Entry) -> Message:
    return {
        "id": entry.uid,
        "conversation_id": entry.thread_id,
        "role": entry.shown_role or "",
        "content": entry.content or "",
        "metadata": entry.metadata,
        "created_at": iso(entry.created_at),
    }
