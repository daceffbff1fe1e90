"""Retry safety: what a request id stands for, and when it may stand for it again."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec

from clew.errors import Conflict

LONGEST_WITHIN = 500  # bytes: an index key has little room

RequestKey = tuple[str, str, str]


class Request(msgspec.Struct, frozen=True):
    """A promise to mean the same thing each time: an id, within what that counts, and a digest of the call."""

    id: str
    within: str
    digest: bytes


class Answered(msgspec.Struct):
    """What a request wrote when it was first answered, and what it meant."""

    digest: bytes
    uids: list[str]


def request_of(id: str, tool: str, arguments: dict[str, Any]) -> Request:
    """The request that a call makes. It counts within the conversation that the call names, else within the tool."""
    meaning = json.dumps([tool, arguments], sort_keys=True).encode()
    thread_id = arguments.get("conversation_id")
    within = f"tool:{tool}" if thread_id is None else _short(f"thread:{thread_id}")
    return Request(id, within, hashlib.sha256(meaning).digest())


def check_request(request: Request, answered: Answered) -> None:
    """Refuse a request id that was used for something else."""
    if answered.digest != request.digest:
        raise Conflict(f"request_id {request.id!r} was used before with other arguments: use a new one")


def _short(within: str) -> str:
    if len(within) * 4 <= LONGEST_WITHIN or len(within.encode()) <= LONGEST_WITHIN:
        return within
    return "sha256:" + hashlib.sha256(within.encode()).hexdigest()
