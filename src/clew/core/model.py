"""The nouns: a thread is an ordered log of one owner, an entry is one thing in it.

Times are integers: microseconds since 1970 in UTC. JSON stands as text, as it was given. An entry's `uid` is the
string id that callers see (a message id); its `id` is a small integer, counted per owner.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

USER, ASSISTANT = "user", "assistant"


class Kind(IntEnum):
    """What an entry is. The numbers are stored: never change one, only add."""

    USER_MESSAGE = 1
    ASSISTANT_MESSAGE = 2
    TOOL_CALL = 3
    TOOL_RESULT = 4
    SYSTEM_UPDATE = 5
    META = 6
    CONTEXT = 7


MESSAGES = frozenset({Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE})
RANKED = MESSAGES | {Kind.CONTEXT}  # found by meaning as well as by words, and counted by source
MESSAGE_OF_ROLE = {USER: Kind.USER_MESSAGE, ASSISTANT: Kind.ASSISTANT_MESSAGE}
ROLE_OF_KIND = {
    Kind.USER_MESSAGE: USER,
    Kind.ASSISTANT_MESSAGE: ASSISTANT,
    Kind.TOOL_CALL: "tool",
    Kind.TOOL_RESULT: "tool",
    Kind.SYSTEM_UPDATE: "system",
}


class Owner(msgspec.Struct):
    """The counters of an owner: the next entry id, and what is stored in all."""

    id: str
    next_id: int
    entries: int
    bytes: int


class Thread(msgspec.Struct):
    """A conversation, or a thread of context entries."""

    owner: str
    id: str
    title: str | None
    created_at: int
    updated_at: int
    next_seq: int
    version: int
    token_clock: int
    user_entries: int
    agent_entries: int


class Entry(msgspec.Struct):
    """One thing in a thread, as it stands now."""

    id: int
    uid: str
    thread_id: str
    seq: int
    kind: Kind
    role: str | None
    content: str | None
    metadata: str | None
    created_at: int
    updated_at: int

    @property
    def shown_role(self) -> str | None:
        """The role given, else the one that follows from the kind."""
        return self.role or ROLE_OF_KIND.get(self.kind)


class Draft(msgspec.Struct):
    """An entry before it has a place: everything about it that does not depend on what is stored."""

    uid: str
    kind: Kind
    role: str | None
    content: str | None
    metadata: str | None
    size: int
    token_count: int
    weight: int
    shown: bool


class Revision(msgspec.Struct):
    """An earlier text of an entry that was edited."""

    n: int
    content: str
    created_at: int
