"""Identifiers that Clew makes: UUIDv7 as text, which sort by the time they were made."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from uuid import uuid7
else:
    from uuid_utils import uuid7


def new_id() -> str:
    """A new identifier, unique everywhere."""
    return str(uuid7())
