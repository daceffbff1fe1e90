"""The rules of appending against a model that is too plain to be wrong."""

from __future__ import annotations

from copy import deepcopy as copy
from dataclasses import dataclass, field

from hypothesis import given, strategies as st

from clew.core.append import Append, Plan, ThreadKey, decide
from clew.core.model import Draft, Kind, Owner, Thread
from clew.core.requests import Answered, Request, RequestKey
from clew.errors import ClewError, Conflict, NotFound

THREADS = [("alice", "one"), ("alice", "two"), ("bob", "one")]
UNKNOWN = ("bob", "two")
NAMES = ["alice", "bob"]


@dataclass
class Store:
    """What is stored, as a database would keep it: only what a plan says gets in."""

    threads: dict[ThreadKey, Thread] = field(default_factory=dict)
    owners: dict[str, Owner] = field(default_factory=dict)
    answered: dict[RequestKey, Answered] = field(default_factory=dict)

    def decide(self, batch: list[Append]) -> Plan:
        read: tuple[dict[ThreadKey, Thread], dict[str, Owner], dict[RequestKey, Answered]] = copy(
            (self.threads, self.owners, self.answered)
        )
        plan = decide(batch, *read)
        self.threads |= {(thread.owner, thread.id): copy(thread) for thread in plan.threads}
        self.owners |= {owner.id: copy(owner) for owner in plan.owners}
        self.answered |= {key: answered for key, answered, _ in plan.answered}
        return plan


@dataclass
class Model:
    """Every thread is a list of drafts, every owner a list of entries, every request its first answer."""

    threads: dict[ThreadKey, list[Draft]] = field(default_factory=lambda: {key: [] for key in THREADS})
    entries: dict[str, list[Draft]] = field(default_factory=lambda: {name: [] for name in NAMES})
    titles: dict[ThreadKey, str | None] = field(default_factory=dict)
    latest: dict[ThreadKey, int] = field(default_factory=dict)
    changes: dict[ThreadKey, int] = field(default_factory=dict)
    requests: dict[RequestKey, tuple[bytes, list[str]]] = field(default_factory=dict)

    def append(self, append: Append) -> list[tuple[int, int, str]] | list[str] | type[ClewError]:
        """What must come of it: ids, seqs and uids; the uids of the first answer; or the kind of refusal."""
        request, key = append.request, append.thread_key
        if request and append.request_key in self.requests:
            digest, uids = self.requests[append.request_key]
            return uids if digest == request.digest else Conflict
        if key not in self.threads:
            return NotFound
        self.titles[key] = append.title or self.titles.get(key)
        self.latest[key] = max(self.latest.get(key, 0), append.now)
        self.changes[key] = self.changes.get(key, 0) + 1
        if request and append.request_key:
            self.requests[append.request_key] = (request.digest, [draft.uid for draft in append.drafts])
        return [self._place(append, draft) for draft in append.drafts]

    def _place(self, append: Append, draft: Draft) -> tuple[int, int, str]:
        self.entries[append.owner].append(draft)
        self.threads[append.thread_key].append(draft)
        return len(self.entries[append.owner]), len(self.threads[append.thread_key]), draft.uid


def empty_store() -> Store:
    return Store(
        threads={key: Thread(*key, None, 0, 0, 1, 1, 0, 0, 0) for key in THREADS},
        owners={name: Owner(name, 1, 0, 0) for name in NAMES},
    )


requests = st.builds(
    Request,
    id=st.sampled_from(["r1", "r2"]),
    within=st.sampled_from(["here", "there"]),
    digest=st.sampled_from([b"these arguments", b"others"]),
)
drafts = st.builds(
    Draft,
    uid=st.uuids().map(str),
    kind=st.sampled_from(Kind),
    role=st.sampled_from(["user", "assistant", None]),
    content=st.just("text"),
    metadata=st.none(),
    size=st.integers(0, 100),
    token_count=st.integers(0, 100),
    weight=st.integers(0, 100),
    shown=st.booleans(),
)


@st.composite
def appends(draw: st.DrawFn) -> Append:
    owner, thread = draw(st.sampled_from([*THREADS, UNKNOWN]))
    return Append(
        owner,
        thread,
        draw(st.lists(drafts, min_size=1, max_size=3)),
        now=draw(st.integers(0, 50)),
        title=draw(st.none() | st.sampled_from(["a title", "another"])),
        request=draw(st.none() | requests),
    )


batches = st.lists(st.lists(appends(), max_size=6), max_size=4)


def seen(outcome: object) -> object:
    """An outcome in the terms of the model."""
    if isinstance(outcome, list):
        return [(placed.id, placed.seq, placed.draft.uid) for placed in outcome]
    return outcome.uids if isinstance(outcome, Answered) else type(outcome)


@given(batches)
def test_every_append_is_placed_repeated_or_refused_as_the_model_says(batches: list[list[Append]]) -> None:
    store, model = empty_store(), Model()
    for batch in batches:
        plan = store.decide(batch)
        assert [seen(outcome) for outcome in plan.outcomes] == [model.append(append) for append in batch]


@given(batches)
def test_what_a_plan_writes_is_what_its_outcomes_say(batches: list[list[Append]]) -> None:
    store = empty_store()
    for batch in batches:
        plan = store.decide(batch)
        placed = [one for outcome in plan.outcomes if isinstance(outcome, list) for one in outcome]
        assert plan.placed == placed
        touched = {one.append.thread_key for one in placed}
        assert {(thread.owner, thread.id) for thread in plan.threads} == touched
        assert {owner.id for owner in plan.owners} == {owner for owner, _ in touched}
        assert len(plan.threads) == len(touched)


@given(batches)
def test_counters_end_as_the_model_counts(batches: list[list[Append]]) -> None:
    store, model = empty_store(), Model()
    for batch in batches:
        store.decide(batch)
        for append in batch:
            model.append(append)
    for key, thread in store.threads.items():
        held = model.threads[key]
        ranked = [d for d in held if d.kind in (Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE, Kind.CONTEXT)]
        assert thread == Thread(
            *key,
            title=model.titles.get(key),
            created_at=0,
            updated_at=model.latest.get(key, 0),
            next_seq=len(held) + 1,
            version=1 + model.changes.get(key, 0),
            token_clock=sum(d.weight for d in held),
            user_entries=sum(d.role == "user" for d in ranked),
            agent_entries=sum(d.role != "user" for d in ranked),
        )
    for name, owner in store.owners.items():
        held = model.entries[name]
        assert owner == Owner(name, next_id=len(held) + 1, entries=len(held), bytes=sum(d.size for d in held))
    assert {key: (a.digest, a.uids) for key, a in store.answered.items()} == model.requests


@given(batches)
def test_a_batch_decides_what_its_appends_would_one_by_one(batches: list[list[Append]]) -> None:
    together, alone = empty_store(), empty_store()
    for batch in batches:
        outcomes = [seen(outcome) for outcome in together.decide(batch).outcomes]
        assert outcomes == [seen(alone.decide([append]).outcomes[0]) for append in batch]
    assert together == alone


def one_append(thread: ThreadKey, request: Request | None = None) -> Append:
    draft = Draft("uid", Kind.USER_MESSAGE, "user", "text", None, 4, 1, 5, True)
    return Append(*thread, [draft], now=7, request=request)


def test_a_refused_append_changes_nothing() -> None:
    store = empty_store()
    plan = store.decide([one_append(UNKNOWN, Request("r1", "here", b"x"))])
    assert isinstance(plan.outcomes[0], NotFound) and plan.outcomes[0].code == "conversation_not_found"
    assert (plan.placed, plan.threads, plan.owners, plan.answered) == ([], [], [], [])
    assert store == empty_store()


def test_a_repeat_within_one_batch_gets_the_answer_of_the_first() -> None:
    request = Request("r1", "here", b"x")
    plan = empty_store().decide([one_append(THREADS[0], request), one_append(THREADS[0], request)])
    assert plan.outcomes[1] == Answered(b"x", ["uid"])
    assert len(plan.placed) == 1


def test_a_request_id_of_another_owner_or_scope_is_another_request() -> None:
    batch = [
        one_append(THREADS[0], Request("r1", "here", b"x")),
        one_append(THREADS[0], Request("r1", "there", b"y")),
        one_append(THREADS[2], Request("r1", "here", b"z")),
    ]
    assert all(isinstance(outcome, list) for outcome in empty_store().decide(batch).outcomes)


def test_a_conflict_names_the_request_id() -> None:
    batch = [one_append(THREADS[0], Request("r1", "here", digest)) for digest in (b"x", b"y")]
    refusal = empty_store().decide(batch).outcomes[1]
    assert isinstance(refusal, Conflict) and "'r1'" in refusal.message


def test_a_thread_never_grows_younger() -> None:
    store = empty_store()
    store.decide([Append(*THREADS[0], one_append(THREADS[0]).drafts, now=now) for now in (9, 3)])
    assert store.threads[THREADS[0]].updated_at == 9
