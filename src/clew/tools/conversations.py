"""Conversations around a stateless request cycle: fetch what was said, answer, record the exchange (seed 000)."""

from __future__ import annotations

from typing import Annotated, TypedDict

from msgspec import Meta

from clew.core import drafts
from clew.core.ids import new_id
from clew.core.model import ASSISTANT, USER
from clew.core.times import iso
from clew.memory import log, threads
from clew.tools.answers import Conversation, Message, shown_conversation, shown_message
from clew.tools.arguments import ConversationId, Metadata, PageSize, Title
from clew.tools.call import Call
from clew.tools.registry import Toolset

toolset = Toolset("conversations")


class NewConversation(Conversation):
    conversation_id: str


class History(TypedDict):
    conversation_id: str
    user_id: str
    title: str | None
    message_count: int
    created_at: str
    updated_at: str
    messages: list[Message]


class Interaction(TypedDict):
    conversation_id: str
    user_message: Message
    assistant_message: Message
    recorded_at: str


@toolset.adds
async def create_conversation(call: Call, title: Title | None = None) -> NewConversation:
    """Start a conversation. Its id is what every other call about it names."""
    if title is not None and not title.strip():
        title = None
    if title is not None:
        drafts.check_title(title)
    thread = await call.write(threads.create, new_id(), title, call.now, call.request)
    return {**shown_conversation(thread), "conversation_id": thread.id}


@toolset.reads
async def get_conversation(call: Call, conversation_id: ConversationId) -> Conversation:
    """A conversation's title and times, without its messages."""
    return shown_conversation(await call.read(threads.get, conversation_id))


@toolset.reads
async def list_conversations(call: Call, limit: PageSize = 20) -> list[Conversation]:
    """The conversations of a user, latest updated first, without their messages."""
    return [shown_conversation(thread) for thread in await call.read(threads.latest, limit)]


@toolset.changes
async def update_conversation(call: Call, conversation_id: ConversationId, title: Title) -> Conversation:
    """Give a conversation another title."""
    drafts.check_title(title)
    return shown_conversation(await call.write(threads.rename, conversation_id, title, call.now, call.request))


@toolset.reads
async def fetch_chat_history(
    call: Call,
    conversation_id: ConversationId,
    limit: Annotated[int, Meta(ge=1, le=100, description="How many of the last messages.")] = 10,
) -> History:
    """The last messages of a conversation, oldest first. Call it at the start of a request to know what was said."""
    thread, entries = await call.read(log.recent, conversation_id, limit)
    return {
        "conversation_id": thread.id,
        "user_id": thread.owner,
        "title": thread.title,
        "message_count": len(entries),
        "created_at": iso(thread.created_at),
        "updated_at": iso(thread.updated_at),
        "messages": [shown_message(entry) for entry in entries],
    }


@toolset.adds
async def record_interaction(
    call: Call,
    conversation_id: ConversationId,
    user_message: Annotated[str, Meta(description="What the user said.")],
    assistant_response: Annotated[str, Meta(description="What the assistant answered.")],
    metadata: Metadata = None,
) -> Interaction:
    """Store what the user said and what was answered, both or neither. Call it at the end of a request."""
    text, values = drafts.read_metadata(metadata)
    said = [
        drafts.draft_message(USER, user_message, text, name="user_message"),
        drafts.draft_message(ASSISTANT, assistant_response, text, name="assistant_response"),
    ]
    question, answer = await call.append(conversation_id, said, title=drafts.title_in(values))
    return {
        "conversation_id": conversation_id,
        "user_message": shown_message(question),
        "assistant_message": shown_message(answer),
        "recorded_at": iso(answer.created_at),
    }
