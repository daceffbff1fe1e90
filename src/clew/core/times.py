"""Times: integers inside, ISO 8601 in UTC with six decimals and `+00:00` outside."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_DAY = EPOCH.toordinal()
MICROSECOND = timedelta(microseconds=1)
SECOND = 1_000_000
DAY = 86_400 * SECOND


@lru_cache(maxsize=8)
def iso(moment: int) -> str:
    """How a time is shown, in every answer.

    Written for histories: the two messages of an exchange share a time, and few days make many moments, so those are
    what is kept.
    """
    day, rest = divmod(moment, DAY)
    seconds, fraction = divmod(rest, SECOND)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{_date(day)}T{hour:02d}:{minute:02d}:{second:02d}.{fraction:06d}+00:00"


def micros(moment: datetime) -> int:
    """A datetime as it is stored; one without a zone is UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // MICROSECOND


@lru_cache(maxsize=1024)
def _date(day: int) -> str:
    return date.fromordinal(FIRST_DAY + day).isoformat()
