"""Whose data a call is about: what the caller may say, and what follows where it says nothing."""

from __future__ import annotations

from clew.db.database import Database
from clew.memory import threads
from clew.scope import Principal, Scope


async def whose(database: Database, principal: Principal, user_id: str | None, conversation_id: str | None) -> Scope:
    """The scope of a call. A trusted one that names nothing but a conversation acts for the owner of that."""
    scope = principal.scope(user_id)
    if not principal.trusted or user_id is not None or conversation_id is None:
        return scope
    return await database.read(lambda tx: threads.owner_of(tx, scope, conversation_id), short=True)
