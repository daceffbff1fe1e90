"""What a read sees, and what the four methods of a transaction do, the same on both engines."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from clew.db.database import Database, Transaction, UniqueViolation
from clew.errors import Unavailable
from tests.support.engines import INSERT, LONGEST_WAIT, RETURNING, Brake, add, elsewhere, names_in


async def test_a_read_sees_one_snapshot_while_writes_go_on(database: Database, engine: str) -> None:
    brake = Brake(engine)

    async def look_twice(tx: Transaction) -> tuple[list[str], list[str]]:
        first = await names_in(tx)
        await brake.hold()
        return first, await names_in(tx)

    await add(database, "before")
    looking = asyncio.create_task(database.read(look_twice))
    await asyncio.wait_for(brake.reached.wait(), LONGEST_WAIT)
    await asyncio.wait_for(add(database, "meanwhile"), LONGEST_WAIT)
    brake.release()
    assert await looking == (["before"], ["before"])
    assert await database.read(names_in) == ["before", "meanwhile"]


async def test_a_short_read_sees_one_snapshot_too(database: Database, url: str) -> None:
    async def look_twice(tx: Transaction) -> tuple[list[str], list[str]]:
        first = await names_in(tx)
        elsewhere(url, lambda tx: tx.run(INSERT, "meanwhile"))
        return first, await names_in(tx)

    await add(database, "before")
    assert await database.read(look_twice, short=True) == (["before"], ["before"])
    assert await database.read(names_in, short=True) == ["before", "meanwhile"]


@pytest.mark.parametrize("short", [True, False])
@pytest.mark.parametrize("sql", [INSERT, RETURNING], ids=["plain", "returning"])
async def test_a_read_cannot_write(database: Database, short: bool, sql: str) -> None:
    with pytest.raises(Unavailable):
        await database.read(lambda tx: tx.all(sql, "smuggled"), short=short)
    await add(database, "after")
    assert await database.read(names_in) == ["after"]


@pytest.mark.parametrize("short", [True, False])
async def test_a_read_cannot_write_in_memory_either(in_memory: Database, short: bool) -> None:
    with pytest.raises(Unavailable):
        await in_memory.read(lambda tx: tx.run(INSERT, "smuggled"), short=short)
    await add(in_memory, "after")
    assert await in_memory.read(names_in) == ["after"]


async def test_one_is_none_where_there_is_no_row(database: Database) -> None:
    assert await database.read(lambda tx: tx.one("SELECT id FROM clew.owner WHERE id = $1", "nobody")) is None


async def test_one_gives_the_first_row_and_carries_the_whole_statement_out(database: Database) -> None:
    both = "INSERT INTO clew.owner (id) VALUES ($1), ($2) RETURNING id"
    row = await database.write(lambda tx: tx.one(both, "a", "b"))
    assert row is not None
    assert tuple(row) == ("a",)
    assert await database.read(names_in) == ["a", "b"]


async def test_run_counts_the_rows_that_it_touched(database: Database) -> None:
    async def counts(tx: Transaction) -> list[int]:
        return [
            await tx.run("INSERT INTO clew.owner (id) VALUES ($1), ($2), ($3)", "a", "b", "c"),
            await tx.run("INSERT INTO clew.owner (id) VALUES ($1) ON CONFLICT (id) DO NOTHING", "a"),
            await tx.run("UPDATE clew.owner SET bytes = 1 WHERE id > $1", "a"),
            await tx.run("UPDATE clew.owner SET bytes = 1 WHERE id = $1", "nobody"),
            await tx.run("DELETE FROM clew.owner WHERE id = $1", "b"),
            await tx.run("DELETE FROM clew.owner WHERE id = $1", "b"),
        ]

    assert await database.write(counts) == [3, 0, 2, 0, 1, 0]


async def test_many_gives_the_rows_of_every_set_of_parameters_in_order(database: Database) -> None:
    async def rows(tx: Transaction) -> list[tuple[Any, ...]]:
        await tx.many(INSERT, [("a",), ("b",), ("c",)])
        found = await tx.many("SELECT id FROM clew.owner WHERE id >= $1 ORDER BY id", [("c",), ("x",), ("b",)])
        return [tuple(row) for row in found]

    assert await database.write(rows) == [("c",), ("b",), ("c",)]


async def test_many_with_nothing_does_nothing(database: Database) -> None:
    assert await database.write(lambda tx: tx.many(INSERT, [])) == []


async def test_several_statements_in_one_text_are_all_carried_out(database: Database) -> None:
    text = "INSERT INTO clew.owner (id) VALUES ('a'); INSERT INTO clew.owner (id) VALUES ('b');"
    await database.write(lambda tx: tx.run(text))
    assert await database.read(names_in) == ["a", "b"]


async def test_an_error_in_the_last_of_several_statements_takes_the_first_back(database: Database) -> None:
    text = "INSERT INTO clew.owner (id) VALUES ('a'); INSERT INTO clew.owner (id) VALUES ('a');"
    with pytest.raises(UniqueViolation):
        await database.write(lambda tx: tx.run(text))
    assert await database.read(names_in) == []


TEXTS = [
    "",
    "'\"`\\ %_ \n\t\r",
    "$1 ?1 :a clew.owner FOR UPDATE IN $1:text[]",
    "\N{FAMILY}\u200d\U0001f525 e\u0301 \u202eright to left \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "\ufeff\ufffe\uffff\U0010ffff",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
async def test_texts_numbers_and_bytes_come_back_as_they_went_in(database: Database, text: str) -> None:
    sent = ("o", text, "r", bytes(range(256)), -(2**63), str(2**63))

    async def there_and_back(tx: Transaction) -> Any:
        columns = "owner, scope, request_id, digest, answered_at, uids"
        await tx.run(f"INSERT INTO clew.request ({columns}) VALUES ($1, $2, $3, $4, $5, $6)", *sent)
        return await tx.one(f"SELECT {columns} FROM clew.request WHERE owner = $1 AND scope = $2", "o", text)

    assert tuple(await database.write(there_and_back)) == sent


async def test_a_list_of_texts_selects_exactly_those(database: Database) -> None:
    chosen = ["a'b", 'say "hi"', "back\\slash", "\U0001f525", ""]

    async def select(tx: Transaction) -> list[list[str]]:
        await tx.many(INSERT, [(name,) for name in [*chosen, "other", "a", "[]"]])
        found = [await tx.all("SELECT id FROM clew.owner WHERE id IN $1:text[]", ids) for ids in (chosen, [])]
        return [sorted(name for (name,) in rows) for rows in found]

    assert await database.write(select) == [sorted(chosen), []]


async def test_texts_are_ordered_by_code_point(database: Database) -> None:
    wanted = ["", " ", "A", "Z", "a", "b", "\u00c4", "\u00e9", "\u4e2d", "\uffff", "\U0001f525"]
    await database.write(lambda tx: tx.many(INSERT, [(name,) for name in reversed(wanted)]))
    assert await database.read(names_in) == wanted
