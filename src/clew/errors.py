"""The one taxonomy of refusals.

Every refusal that a caller can meet is a `ClewError`: a code for programs, a message for people, and the HTTP status
that fits. Interfaces render it in their own way and add nothing. A message names what was wrong and what is allowed;
it never shows a stack, SQL, a library's wording or another user's data.
"""

from __future__ import annotations

SHOWN_ID = 80


class ClewError(Exception):
    """A call was refused."""

    code = "unavailable"
    status = 503

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class BadValue(ClewError, ValueError):
    """An argument is not what the call takes."""

    code = "invalid_params"
    status = 422


class NotFound(ClewError, ValueError):
    """What the call names is not there, or not the caller's: the two are one answer."""

    code = "not_found"
    status = 404


class Forbidden(BadValue):
    """The `user_id` given is not the caller's."""

    code = "invalid_user_id"
    status = 403


class TooLarge(BadValue):
    """A text or a body is above its limit."""

    code = "too_large"
    status = 413


class Conflict(ClewError):
    """The call contradicts what is stored: a request id used for something else, an id that is taken."""

    code = "conflict"
    status = 409


class Unavailable(ClewError):
    """The server cannot answer now; the same call may pass later."""


class Misconfigured(ClewError):
    """A setting, a file or a database is not what this program can use. Shown at start, to whoever runs it."""


def conversation_not_found(conversation_id: str) -> NotFound:
    return NotFound(f"Conversation {_shown(conversation_id)} not found", "conversation_not_found")


def message_not_found(message_id: str) -> NotFound:
    return NotFound(f"Message {_shown(message_id)} not found", "message_not_found")


def unknown_tool(name: str) -> NotFound:
    return NotFound(f"There is no tool named {_shown(name)}", "unknown_method")


def _shown(identifier: str) -> str:
    """An id as a message repeats it: whole when it is short, cut when it is not, and always printable."""
    short = identifier if len(identifier) <= SHOWN_ID else identifier[:SHOWN_ID] + "..."
    return short if short.isprintable() else short.encode("unicode_escape").decode("ascii")
