"""Times: microseconds inside, ISO 8601 in UTC outside."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from clew.core.times import iso, micros

FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
EARLIEST = micros(datetime.min.replace(tzinfo=UTC))
LATEST = micros(datetime.max.replace(tzinfo=UTC))
DAY = 86_400_000_000
moments = st.integers(EARLIEST, LATEST)


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (0, "1970-01-01T00:00:00.000000+00:00"),
        (1, "1970-01-01T00:00:00.000001+00:00"),
        (1_770_392_400_000_000, "2026-02-06T15:40:00.000000+00:00"),
        (-1, "1969-12-31T23:59:59.999999+00:00"),
        (LATEST, "9999-12-31T23:59:59.999999+00:00"),
        (EARLIEST, "0001-01-01T00:00:00.000000+00:00"),
    ],
)
def test_a_time_is_shown_in_utc_with_six_decimals(moment: int, shown: str) -> None:
    assert iso(moment) == shown


@given(moments)
def test_every_time_has_the_same_form_and_can_be_read_back(moment: int) -> None:
    assert FORM.fullmatch(iso(moment))
    assert micros(datetime.fromisoformat(iso(moment))) == moment


@given(moments, moments)
def test_times_sort_as_texts_as_they_do_as_numbers(one: int, other: int) -> None:
    assert (iso(one) < iso(other)) == (one < other)


@given(st.integers(EARLIEST + DAY, LATEST - DAY), st.integers(-1439, 1439))
def test_a_zone_is_brought_to_utc(moment: int, minutes: int) -> None:
    zoned = datetime.fromisoformat(iso(moment)).astimezone(timezone(timedelta(minutes=minutes)))
    assert micros(zoned) == moment


@given(st.datetimes())
def test_a_time_without_a_zone_is_utc(moment: datetime) -> None:
    assert micros(moment) == micros(moment.replace(tzinfo=UTC))
