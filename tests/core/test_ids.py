"""Identifiers that Clew makes."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from clew.core.ids import new_id


def test_an_id_is_a_uuid_of_version_7_in_its_usual_form() -> None:
    made = new_id()
    assert uuid.UUID(made).version == 7
    assert made == str(uuid.UUID(made))


def test_ids_sort_by_the_time_they_were_made() -> None:
    made = []
    for _ in range(5):
        made.append(new_id())
        time.sleep(0.002)
    assert made == sorted(made)


def test_ids_made_in_a_row_sort_in_that_order() -> None:
    made = [new_id() for _ in range(10_000)]
    assert made == sorted(made)


def test_an_id_carries_its_millisecond() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(new_id()).int >> 80
    assert before - 1 <= made <= time.time_ns() // 1_000_000 + 1


def test_ids_made_by_many_threads_are_unique() -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: new_id(), range(20_000)))
    assert len(set(made)) == len(made)
