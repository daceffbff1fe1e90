"""Messages one by one, as programs that keep a chat need them (seed 001)."""

from __future__ import annotations

from typing import Annotated, TypedDict

from msgspec import Meta

from clew.core.drafts import checked, draft_message
from clew.core.model import ASSISTANT, USER
from clew.core.times import iso
from clew.memory import log, revisions, threads
from clew.tools.answers import Conversation, Message, shown_conversation, shown_message
from clew.tools.arguments import ConversationId, MessageId, PageSize
from clew.tools.call import Call
from clew.tools.registry import Toolset

toolset = Toolset("messages")

Role = Annotated[str, Meta(description="Who said it.", extra_json_schema={"enum": [USER, ASSISTANT]})]
Text = Annotated[str, Meta(description="The text.")]
Offset = Annotated[int, Meta(ge=0, le=10**9, description="How many to leave out before.")]


class NewMessage(TypedDict):
    message_id: str
    created_at: str


class FullHistory(TypedDict):
    messages: list[Message]
    conversation_info: Conversation
    next_after: str | None


class Conversations(TypedDict):
    conversations: list[Conversation]
    total_count: int


class Updated(TypedDict):
    updated_at: str


class EarlierText(TypedDict):
    n: int
    content: str
    created_at: str


class Revisions(TypedDict):
    message_id: str
    revisions: list[EarlierText]


@toolset.adds
async def add_message(call: Call, conversation_id: ConversationId, role: Role, content: Text) -> NewMessage:
    """Add one message to the end of a conversation."""
    [entry] = await call.append(conversation_id, [draft_message(role, content)])
    return {"message_id": entry.uid, "created_at": iso(entry.created_at)}


@toolset.reads
async def get_conversation_history(
    call: Call,
    conversation_id: ConversationId,
    limit: Annotated[Annotated[int, Meta(ge=1, le=1000)] | None, Meta(description="How many. Left out: all.")] = None,
    after: Annotated[str | None, Meta(description="Go on behind this message: the `next_after` of a page.")] = None,
) -> FullHistory:
    """All messages of a conversation, oldest first, or a page of them."""
    thread, entries, more = await call.read_long(log.history, conversation_id, limit, after)
    return {
        "messages": [shown_message(entry) for entry in entries],
        "conversation_info": shown_conversation(thread),
        "next_after": entries[-1].uid if more else None,
    }


@toolset.reads
async def list_user_conversations(call: Call, limit: PageSize = 20, offset: Offset = 0) -> Conversations:
    """A page of the conversations of a user, latest updated first, and how many there are in all."""
    found, total = await call.read(threads.page, limit, offset)
    return {"conversations": [shown_conversation(thread) for thread in found], "total_count": total}


@toolset.changes
async def update_message(call: Call, message_id: MessageId, content: Text) -> Updated:
    """Put another text in place of a message. The earlier one is kept as a revision."""
    entry = await call.write(revisions.edit_message, message_id, checked("content", content), call.now, call.request)
    return {"updated_at": iso(entry.updated_at)}


@toolset.reads
async def list_message_revisions(call: Call, message_id: MessageId) -> Revisions:
    """The earlier texts of an edited message, oldest first."""
    earlier = await call.read_long(revisions.of_message, message_id)
    return {
        "message_id": message_id,
        "revisions": [{"n": r.n, "content": r.content, "created_at": iso(r.created_at)} for r in earlier],
    }
