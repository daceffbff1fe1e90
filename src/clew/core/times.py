"""Times: integers inside, ISO 8601 in UTC with six decimals and `+00:00` outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@lru_cache(maxsize=4096)
def iso(moment: int) -> str:
    """How a time is shown, in every answer."""
    return (EPOCH + timedelta(microseconds=moment)).isoformat(timespec="microseconds")


def micros(moment: datetime) -> int:
    """A datetime as it is stored; one without a zone is UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // MICROSECOND
