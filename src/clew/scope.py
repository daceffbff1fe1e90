"""Whose data a call may touch.

A `Principal` is who a transport says is calling. It turns the `user_id` of a call into a `Scope`, which every
operation takes as its first argument and every statement carries as its owner. There is no other way to name an owner.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from clew.errors import BadValue, Forbidden

LOCAL = "local"
USER_ID_LENGTH = 255


@dataclass(frozen=True, slots=True)
class Scope:
    """The one owner that an operation reads and writes."""

    owner: str


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is calling: a pinned user, or (with none) whoever the call itself names, which is the trusted mode."""

    user: str | None = None

    @property
    def trusted(self) -> bool:
        return self.user is None

    def scope(self, user_id: str | None) -> Scope:
        """The scope of a call that gives this `user_id`, or none."""
        if user_id is not None:
            check_user_id(user_id)
        if self.user is None:
            return Scope(LOCAL if user_id is None else user_id)
        if user_id is not None and user_id != self.user:
            raise Forbidden("user_id is not the user that this connection acts for: leave it out")
        return Scope(self.user)


TRUSTED = Principal()


def pinned(user: str) -> Principal:
    """A principal that acts for one user, as `CLEW_USER` says."""
    check_user_id(user)
    return Principal(user)


def check_user_id(user_id: str) -> None:
    """Refuse what cannot be a user id."""
    if not 1 <= len(user_id) <= USER_ID_LENGTH:
        raise _invalid(f"user_id must have 1 to {USER_ID_LENGTH} characters, this one has {len(user_id)}")
    if not user_id.isprintable() and any(unicodedata.category(c) in ("Cc", "Cs") for c in user_id):
        raise _invalid("user_id must not hold control characters or lone surrogates")


def _invalid(message: str) -> BadValue:
    return BadValue(message, "invalid_user_id")
