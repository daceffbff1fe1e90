"""The rules of appending, as one pure function over a batch.

A batch holds appends of any owners. Each is decided on its own, in order, against what is stored and what the ones
before it in the batch have added: accepted, repeated (its request was answered before) or refused. Nothing here reads
or writes: `decide` takes what was read and says what is to be written.
"""

from __future__ import annotations

import msgspec

from clew.core.model import RANKED, USER, Draft, Owner, Thread
from clew.core.requests import Answered, Request, RequestKey, check_request
from clew.errors import ClewError, conversation_not_found

ThreadKey = tuple[str, str]


class Append(msgspec.Struct):
    """Entries to add to the end of a thread, all or none, at one time."""

    owner: str
    thread_id: str
    drafts: list[Draft]
    now: int
    title: str | None = None
    request: Request | None = None

    @property
    def thread_key(self) -> ThreadKey:
        return (self.owner, self.thread_id)

    @property
    def request_key(self) -> RequestKey | None:
        return (self.owner, self.request.within, self.request.id) if self.request else None


class Placed(msgspec.Struct):
    """A draft with its place: what is to be written."""

    append: Append
    draft: Draft
    id: int
    seq: int


class Plan(msgspec.Struct):
    """What a batch writes, and the outcome of each append: its placed drafts, the uids of a repeat, or a refusal."""

    outcomes: list[list[Placed] | Answered | ClewError]
    placed: list[Placed]
    threads: list[Thread]
    owners: list[Owner]
    answered: list[tuple[RequestKey, Answered, int]]


def decide(
    batch: list[Append],
    threads: dict[ThreadKey, Thread],
    owners: dict[str, Owner],
    answered: dict[RequestKey, Answered],
) -> Plan:
    """Apply the rules to each append. The mappings hold what is stored, and are brought forward as the batch goes."""
    plan = Plan([], [], [], [], [])
    changed: dict[ThreadKey, Thread] = {}
    for append in batch:
        try:
            outcome = _repeated(append, answered) or _place(append, threads, owners)
        except ClewError as refusal:
            plan.outcomes.append(refusal)
            continue
        plan.outcomes.append(outcome)
        if isinstance(outcome, Answered):
            continue
        changed[append.thread_key] = threads[append.thread_key]
        plan.placed.extend(outcome)
        if append.request and append.request_key:
            answer = Answered(append.request.digest, [p.draft.uid for p in outcome])
            answered[append.request_key] = answer
            plan.answered.append((append.request_key, answer, append.now))
    plan.threads.extend(changed.values())
    plan.owners.extend({thread.owner: owners[thread.owner] for thread in plan.threads}.values())
    return plan


def _repeated(append: Append, answered: dict[RequestKey, Answered]) -> Answered | None:
    if append.request is None or append.request_key is None:
        return None
    before = answered.get(append.request_key)
    if before is not None:
        check_request(append.request, before)
    return before


def _place(append: Append, threads: dict[ThreadKey, Thread], owners: dict[str, Owner]) -> list[Placed]:
    thread = threads.get(append.thread_key)
    if thread is None:
        raise conversation_not_found(append.thread_id)
    owner = owners[append.owner]
    placed = []
    for draft in append.drafts:
        placed.append(Placed(append, draft, owner.next_id, thread.next_seq))
        _count(draft, owner, thread)
    thread.version += 1
    thread.updated_at = max(thread.updated_at, append.now)
    if append.title is not None:
        thread.title = append.title
    return placed


def _count(draft: Draft, owner: Owner, thread: Thread) -> None:
    """Bring the counters of an owner and a thread forward by one entry."""
    owner.next_id += 1
    owner.entries += 1
    owner.bytes += draft.size
    thread.next_seq += 1
    thread.token_clock += draft.weight
    if draft.kind in RANKED:
        by_user = draft.role == USER
        thread.user_entries += by_user
        thread.agent_entries += not by_user
