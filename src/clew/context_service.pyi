# Made from the registry by `make docs`: do not edit.

from typing import Any, Self

from clew.tools.answers import Conversation
from clew.tools.conversations import History, Interaction, NewConversation
from clew.tools.messages import Conversations, FullHistory, NewMessage, Revisions, Updated

class SyncMemory:
    def __init__(self, database_url: str | None = ..., *, user: str | None = ...) -> None: ...
    def __call__(self) -> Self: ...
    def call(self, tool: str, arguments: dict[str, Any]) -> Any: ...
    def close(self) -> None: ...
    def create_conversation(
        self,
        *,
        title: str | None = ...,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> NewConversation: ...
    def get_conversation(
        self,
        *,
        conversation_id: str,
        user_id: str | None = ...,
    ) -> Conversation: ...
    def list_conversations(
        self,
        *,
        limit: int = ...,
        user_id: str | None = ...,
    ) -> list[Conversation]: ...
    def update_conversation(
        self,
        *,
        conversation_id: str,
        title: str,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> Conversation: ...
    def fetch_chat_history(
        self,
        *,
        conversation_id: str,
        limit: int = ...,
        user_id: str | None = ...,
    ) -> History: ...
    def record_interaction(
        self,
        *,
        conversation_id: str,
        user_message: str,
        assistant_response: str,
        metadata: str | dict[str, Any] | None = ...,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> Interaction: ...
    def add_message(
        self,
        *,
        conversation_id: str,
        role: str,
        content: str,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> NewMessage: ...
    def get_conversation_history(
        self,
        *,
        conversation_id: str,
        limit: int | None = ...,
        after: str | None = ...,
        user_id: str | None = ...,
    ) -> FullHistory: ...
    def list_user_conversations(
        self,
        *,
        limit: int = ...,
        offset: int = ...,
        user_id: str | None = ...,
    ) -> Conversations: ...
    def update_message(
        self,
        *,
        message_id: str,
        content: str,
        user_id: str | None = ...,
        request_id: str | None = ...,
    ) -> Updated: ...
    def list_message_revisions(
        self,
        *,
        message_id: str,
        user_id: str | None = ...,
    ) -> Revisions: ...

ContextService: SyncMemory
