"""Every promise of seeds 000 and 001, as PRODUCT.md joins them, and the mark by which a test says which it proves.

A promise has an id, its place in the seed (or `join` where PRODUCT.md decides what the seeds leave open) and one line
in our own words. `PROMISES` holds what is served, each proved by at least one test marked `@promise("...")`;
`MEASURED` what a bench shows, not a test; `LATER` what is not served yet, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=Callable[..., object])

PROMISES: dict[str, tuple[str, str]] = {
    # Seed 000: conversations around a stateless request cycle
    "000.cycle": ("000 Core Design", "what one request records, the next one fetches"),
    "000.stateless": ("000 Core Design", "nothing is held in memory: another process sees the same"),
    "000.fetch.shape": ("000 §1 Returns", "the conversation with its messages, exactly these keys"),
    "000.fetch.last": ("000 §1 Notes", "the last N messages, oldest first"),
    "000.fetch.limit": ("000 §1 Parameters", "limit is 10 when left out and 1 to 100 when given"),
    "000.fetch.unknown": ("000 §1 Errors", "an unknown conversation is said not to be found"),
    "000.record.shape": ("000 §2 Returns", "both messages as stored, and when"),
    "000.record.metadata": ("000 §2 Parameters", "metadata stands on both messages"),
    "000.record.updated": ("000 §2 Notes", "recording moves the conversation's updated_at"),
    "000.record.atomic": ("000 §2 Notes", "both messages or neither"),
    "000.record.unknown": ("000 §2 Errors", "an unknown conversation is said not to be found"),
    "000.record.empty": ("000 §2 Errors", "both messages must say something"),
    "000.create.shape": ("000 §3 Returns", "the new conversation, exactly these keys"),
    "000.create.title": ("000 §3 Parameters", "a title may be given or left out"),
    "000.create.succeeds": ("000 §3 Errors", "any user may start any number of conversations"),
    "000.create.empty": ("000 §3 Notes", "a new conversation has no messages"),
    "000.create.title_later": ("000 §3 Notes", "a title in metadata names the conversation later"),
    "000.get.shape": ("000 §4 Returns", "the conversation without its messages, exactly these keys"),
    "000.get.unknown": ("000 §4 Errors", "an unknown conversation is said not to be found"),
    "000.list.shape": ("000 §5 Returns", "an array of conversations without their messages"),
    "000.list.order": ("000 §5 Notes", "latest updated first"),
    "000.list.limit": ("000 §5 Parameters", "limit is 20 when left out and at most 100"),
    "000.list.empty": ("000 §5 Errors", "a user without conversations gets an empty array"),
    "000.model.ids": ("000 Data Model", "conversations and messages have UUIDs as ids"),
    "000.model.times": ("000 Data Model", "times are ISO 8601"),
    "000.model.roles": ("000 Data Model", "a message's role is user or assistant"),
    "000.errors": ("000 Error Handling", "a refusal is a result with isError and the text `Error: ...`"),
    "000.errors.python": ("000 Error Cases", "in Python a refusal of what was given is a ValueError"),
    "000.isolation": ("000 Security", "a user id is checked for its form, and sees its own conversations only"),
    "000.injection": ("000 Database Access", "text is stored as text, whatever it looks like to a database"),
    "000.examples": ("000 Examples", "ContextService does what the four examples show"),
    "000.scale.pool": ("000 Scalability", "5 to 10 database connections a process"),
    "000.scale.conversations": ("000 Scalability", "100 conversations at once"),
    # Seed 001: messages one by one
    "001.path": ("001 Base Path", "MCP is served at /mcp"),
    "001.create.shape": ("001 §1 Returns", "conversation_id and created_at"),
    "001.create.user": ("001 §1 Errors", "a malformed or foreign user id is invalid_user_id"),
    "001.add.shape": ("001 §2 Returns", "message_id and created_at"),
    "001.add.not_found": ("001 §2 Errors", "a missing or foreign conversation is conversation_not_found"),
    "001.add.role": ("001 §2 Errors", "a role other than user and assistant is invalid_role"),
    "001.add.empty": ("001 §2 Errors", "empty content is empty_content"),
    "001.history.shape": ("001 §3 Returns", "all messages, and the conversation they are in"),
    "001.history.not_found": ("001 §3 Errors", "a missing or foreign conversation is conversation_not_found"),
    "001.list.shape": ("001 §4 Returns", "conversations and their total_count"),
    "001.list.page": ("001 §4 Parameters", "limit is 20 and offset 0 when left out"),
    "001.list.user": ("001 §4 Errors", "a malformed user id is invalid_user_id"),
    "001.update.shape": ("001 §5 Returns", "when the message was updated"),
    "001.update.text": ("001 §5", "the new text stands in place of the old one"),
    "001.update.not_found": ("001 §5 Errors", "a missing or foreign message is message_not_found"),
    "001.update.empty": ("001 §5 Errors", "empty content is empty_content"),
    "001.errors.code": ("001 Error Format", "a refusal has a code for programs and a message for people"),
    # What PRODUCT.md decides where the two meet
    "join.create": ("join Conversation tools", "create_conversation answers the union of both seeds"),
    "join.list_answer": ("join One model", "a list is a JSON array as text and `result` as structured content"),
    "join.one_answer": ("join One model", "the same calls get the same answers through every way in"),
    "join.arguments.unknown": ("join Arguments", "an unknown argument is refused by name"),
    "join.arguments.as_meant": ("join Arguments", "a number or an object may come as its text"),
    "join.arguments.types": ("join Arguments", "any other wrong type is refused"),
    "join.unknown_tool": ("join Errors", "over MCP an unknown tool is a JSON-RPC error"),
    "join.errors.words": ("join Errors", "no stack, SQL or library's wording, ever"),
    "join.foreign_is_missing": ("join Errors", "a foreign id and a missing id get the same answer"),
    "join.user_id": ("join Messages", "a user id has 1 to 255 characters, none a control character"),
    "join.title": ("join Messages", "a title has at most 200 characters"),
    "join.thread_id": ("join Messages", "a conversation's id has at most 255 characters"),
    "join.text": ("join Messages", "a text has at most 10,000,000 bytes; NUL and lone surrogates are refused"),
    "join.text.kept": ("join Messages", "what is stored comes back exactly"),
    "join.metadata": ("join Messages", "metadata is a JSON object or its text, and a string is kept as given"),
    "join.metadata.title": ("join Messages", "a blank or too long title in metadata sets nothing"),
    "join.update_conversation": ("join Messages", "update_conversation gives another title"),
    "join.revisions": ("join Messages", "an edit keeps the earlier text, which list_message_revisions shows"),
    "join.update.touches": ("join Messages", "an edit moves updated_at of the message and its conversation"),
    "join.history.page": ("join Messages", "limit, after and next_after page through a history"),
    "join.order": ("join Messages", "messages stand in the order of their places, whatever the clock says"),
    "join.times": ("join Interfaces", "times have six decimals and +00:00"),
    "join.identity.local": ("join Identity", "a trusted call without a user acts for `local`"),
    "join.identity.lookup": ("join Identity", "one that names a conversation acts for its owner"),
    "join.identity.pinned": ("join Identity", "CLEW_USER acts for one user and refuses every other"),
    "join.request.same": ("join Retry safety", "the same request gets the first answer and writes nothing"),
    "join.request.conflict": ("join Retry safety", "the same request id with other arguments is a conflict"),
    "join.request.scope": ("join Retry safety", "a request id counts within its conversation, or owner and tool"),
    "join.request.refused": ("join Retry safety", "a refused call is not remembered"),
    "join.request.now": ("join Retry safety", "a repeated answer is made from what stands now"),
    "join.taken_id": ("join One model", "an entry id that is taken is a conflict"),
    "join.views": ("join Scale", "views `conversations` and `messages` show the store to a person"),
    "join.python": ("join Ways in", "every tool is a method, and loads neither mcp nor starlette"),
}

MEASURED: dict[str, tuple[str, str]] = {
    "000.performance": ("000 Performance", "reads and writes cost the same in a large store: `make bench`"),
    "000.scale.messages": ("000 Scalability", "1,000 and more durable messages a second: `make bench`"),
}

LATER: dict[str, tuple[str, str, str]] = {
    "001.auth.token": ("001 Authentication", "every call carries a JWT", "comes with the issue on authentication"),
    "001.auth.match": ("001 Authentication", "user_id must be the token's", "comes with the issue on authentication"),
    "000.security.exists": ("000 Security", "the user exists", "a token's issuer vouches for it: with authentication"),
    "001.shorthand.request": ("001 Example", "a call without `jsonrpc`", "the shorthand comes with authentication"),
    "001.shorthand.error": ("001 Error Format", "`error` with code and message", "the shorthand's way of refusing"),
    "000.encryption": ("000 Message Content", "stored text may be encrypted", "the encrypted store is a later issue"),
    "join.identity.rls": ("join Identity", "row-level security as a second lock", "comes with its own issue"),
    "join.identity.local_first": (
        "join Identity",
        "`local`'s own conversation of an id goes before another's",
        "two can only share an id where callers choose it: with the event log",
    ),
    "join.request.deleted": (
        "join Retry safety",
        "a request of a deleted entry is remembered for a day",
        "nothing can be deleted yet: with delete_message",
    ),
}


def promise(*ids: str) -> Callable[[T], T]:
    """Marks a test as proof of these promises."""
    unknown = [id for id in ids if id not in PROMISES]
    assert not unknown, f"no promise has the id {unknown}"

    def mark(test: T) -> T:
        return test

    return mark
