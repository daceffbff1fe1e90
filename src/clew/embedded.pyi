# Made from the registry by `make docs`: do not edit.

from types import TracebackType
from typing import Any, Self

from clew.settings import Settings
from clew.tools.answers import Conversation
from clew.tools.conversations import History, Interaction, NewConversation
from clew.tools.messages import Conversations, FullHistory, NewMessage, Revisions, Updated

class Memory:
    def __init__(self, settings: Settings) -> None: ...
    async def open(self) -> Self: ...
    async def close(self) -> None: ...
    async def call(self, tool: str, arguments: dict[str, Any]) -> Any: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None: ...
    async def create_conversation(
        self,
        *,
        title: str | None = ...,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> NewConversation: ...
    async def get_conversation(
        self,
        *,
        conversation_id: str,
        user_id: str | None = ...,
    ) -> Conversation: ...
    async def list_conversations(
        self,
        *,
        limit: int = ...,
        user_id: str | None = ...,
    ) -> list[Conversation]: ...
    async def update_conversation(
        self,
        *,
        conversation_id: str,
        title: str,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> Conversation: ...
    async def fetch_chat_history(
        self,
        *,
        conversation_id: str,
        limit: int = ...,
        user_id: str | None = ...,
    ) -> History: ...
    async def record_interaction(
        self,
        *,
        conversation_id: str,
        user_message: str,
        assistant_response: str,
        metadata: str | dict[str, Any] | None = ...,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> Interaction: ...
    async def add_message(
        self,
        *,
        conversation_id: str,
        role: str,
        content: str,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> NewMessage: ...
    async def get_conversation_history(
        self,
        *,
        conversation_id: str,
        limit: int | None = ...,
        after: str | None = ...,
        user_id: str | None = ...,
    ) -> FullHistory: ...
    async def list_user_conversations(
        self,
        *,
        limit: int = ...,
        offset: int = ...,
        user_id: str | None = ...,
    ) -> Conversations: ...
    async def update_message(
        self,
        *,
        message_id: str,
        content: str,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> Updated: ...
    async def list_message_revisions(
        self,
        *,
        message_id: str,
        user_id: str | None = ...,
    ) -> Revisions: ...

def connect(database_url: str | None = ..., *, user: str | None = ...) -> Memory: ...
