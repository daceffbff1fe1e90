"""The arguments that several tools share, each with the documentation that a model reads."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

USER_ID = "Whose data. Left out: the owner of the conversation named, else the default user."
REQUEST_ID = "Makes a retry safe: the same id with the same arguments gets the first answer and writes nothing."

UserId = Annotated[str | None, Meta(description=USER_ID)]
RequestId = Annotated[Annotated[str, Meta(min_length=1, max_length=255)] | None, Meta(description=REQUEST_ID)]

ConversationId = Annotated[str, Meta(max_length=255, description="The conversation's id.")]
MessageId = Annotated[str, Meta(max_length=255, description="The message's id.")]
Title = Annotated[str, Meta(description="At most 200 characters.")]
Metadata = Annotated[
    str | dict[str, Any] | None,
    Meta(description="A JSON object, or its text. A string `title` in it sets the conversation's title."),
]
PageSize = Annotated[int, Meta(ge=1, le=100, description="How many at most.")]
