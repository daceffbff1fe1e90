"""The schema: both ways of making it, its rules, and what happens when versions differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import pytest

from clew.db import postgres, sqlite
from clew.db.database import Database, Transaction
from clew.db.engines import open_database
from clew.db.migrate import migrations
from clew.errors import Misconfigured
from tests.support.engines import opened
from tests.support.stores import PostgresStores

TABLES = {
    "entry", "image", "migration", "owner", "passage", "pending", "place", "request", "revision", "tag", "task",
    "thread", "turn", "words",
}  # fmt: skip
VIEWS = {"conversations", "messages"}
Facts = dict[str, list[tuple[Any, ...]]]


def normal(sql: str | None) -> str:
    """SQL without comments and without the freedom of white space."""
    return re.sub(r"\s*([(),]|\s)\s*", r"\1", re.sub(r"--[^\n]*", "", sql or "")).strip()


def sqlite_facts(path: Path) -> Facts:
    """All that SQLite says about the schema of a file."""
    facts: Facts = {}
    with closing(apsw.Connection(str(path))) as connection:
        objects = list(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"))
        facts["objects"] = [(type, name, table, normal(sql)) for type, name, table, sql in objects]
        facts["kinds"] = list(
            connection.execute("SELECT name, type, ncol, wr, strict FROM pragma_table_list ORDER BY 1")
        )
        facts["versions"] = list(connection.execute("SELECT * FROM migration ORDER BY number"))
        for type, name, _, _ in objects:
            about = ["index_xinfo"] if type == "index" else ["table_xinfo", "foreign_key_list", "index_list"]
            for pragma in about:
                facts[f"{pragma} {name}"] = list(connection.execute(f"SELECT * FROM pragma_{pragma}(?)", (name,)))
    return facts


POSTGRES_FACTS = {
    "columns": """SELECT table_name, ordinal_position, column_name, data_type, collation_name, is_nullable,
                  column_default FROM information_schema.columns WHERE table_schema = 'clew' ORDER BY 1, 2""",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'clew' ORDER BY 1, 2",
    "constraints": """SELECT conrelid::regclass::text, conname::text, pg_get_constraintdef(oid) FROM pg_constraint
                      WHERE connamespace = 'clew'::regnamespace ORDER BY 1, 2""",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'clew' ORDER BY 1",
    "options": """SELECT relname, relkind::text, reloptions::text FROM pg_class
                  WHERE relnamespace = 'clew'::regnamespace ORDER BY 1""",
    "versions": "SELECT * FROM clew.migration ORDER BY number",
}


async def postgres_facts(url: str, *, from_schema: bool) -> Facts:
    """All that PostgreSQL says about the schema of a database that was made in this way."""
    connection = await asyncpg.connect(url)
    try:
        await postgres.prepare(connection, from_schema=from_schema)
        return {name: [tuple(row) for row in await connection.fetch(sql)] for name, sql in POSTGRES_FACTS.items()}
    finally:
        await connection.close()


def test_on_sqlite_the_schema_is_the_sum_of_all_migrations(tmp_path: Path) -> None:
    made: list[Facts] = []
    for from_schema in (True, False):
        path = tmp_path / f"{from_schema}.db"
        sqlite.prepare(str(path), from_schema=from_schema).close()
        made.append(sqlite_facts(path))
    assert made[0] == made[1]
    assert {name for type, name, _, _ in made[0]["objects"] if type == "table"} == TABLES
    assert {name for type, name, _, _ in made[0]["objects"] if type == "view"} == VIEWS


@pytest.fixture
def two_empty(postgres_server: PostgresStores) -> Iterator[tuple[str, str]]:
    with postgres_server.empty() as first, postgres_server.empty() as second:
        yield first, second


@pytest.mark.postgres
async def test_on_postgresql_the_schema_is_the_sum_of_all_migrations(two_empty: tuple[str, str]) -> None:
    made = [
        await postgres_facts(two_empty[0], from_schema=True),
        await postgres_facts(two_empty[1], from_schema=False),
    ]
    assert made[0] == made[1]
    assert {name for name, kind, _ in made[0]["options"] if kind == "r"} == TABLES
    assert {name for name, kind, _ in made[0]["options"] if kind == "v"} == VIEWS


@pytest.mark.postgres
async def test_both_engines_have_the_same_tables_and_columns(tmp_path: Path, two_empty: tuple[str, str]) -> None:
    sqlite.prepare(str(tmp_path / "clew.db")).close()
    here = sqlite_facts(tmp_path / "clew.db")
    there = await postgres_facts(two_empty[0], from_schema=True)
    columns = {(name, row[1]) for name in TABLES | VIEWS for row in here[f"table_xinfo {name}"]}
    assert columns == {(table, column) for table, _, column, *_ in there["columns"]}


@pytest.mark.postgres
async def test_on_postgresql_every_text_of_a_table_is_compared_by_code_point(two_empty: tuple[str, str]) -> None:
    columns = (await postgres_facts(two_empty[0], from_schema=True))["columns"]
    texts = {(table, column): collation for table, _, column, type, collation, *_ in columns if type == "text"}
    assert {collation for (table, _), collation in texts.items() if table in TABLES} == {"C"}


def test_the_owner_leads_every_unique_key_and_every_foreign_key(tmp_path: Path) -> None:
    sqlite.prepare(str(tmp_path / "clew.db")).close()
    facts = sqlite_facts(tmp_path / "clew.db")
    leaders: set[tuple[str, str]] = set()
    for table in TABLES - {"migration"}:
        key = [row[1] for row in sorted(facts[f"table_xinfo {table}"], key=lambda row: row[5]) if row[5] > 0]
        leaders.add((table, key[0]))
        unique = [row[1] for row in facts[f"index_list {table}"] if row[2] and row[3] != "pk"]
        leaders |= {(table, facts[f"index_xinfo {index}"][0][2]) for index in unique}
        leaders |= {(table, row[3]) for row in facts[f"foreign_key_list {table}"] if row[1] == 0}
    assert leaders == {("owner", "id")} | {(table, "owner") for table in TABLES - {"migration", "owner"}}


async def test_the_version_table_names_every_migration(database: Database, engine: str) -> None:
    rows = await database.read(lambda tx: tx.all("SELECT number, name FROM clew.migration ORDER BY number"))
    known = [(migration.number, migration.name) for migration in migrations(engine)]
    assert [tuple(row) for row in rows] == known
    assert [number for number, _ in known] == list(range(1, len(known) + 1))


def test_both_engines_have_the_same_migrations() -> None:
    named = [[(m.number, m.name) for m in migrations(engine)] for engine in ("sqlite", "postgres")]
    assert named[0] == named[1]


async def test_an_older_database_is_brought_up_to_date(url: str) -> None:
    async def go_back(tx: Transaction) -> None:
        for view in sorted(VIEWS):
            await tx.all(f"DROP VIEW clew.{view}")
        await tx.run("DELETE FROM clew.migration WHERE number = $1", 2)

    async with opened(url) as database:
        await database.write(go_back)
    async with opened(url) as database:
        assert await database.read(lambda tx: tx.all("SELECT * FROM clew.messages")) == []
        rows = await database.read(lambda tx: tx.all("SELECT number FROM clew.migration ORDER BY number"))
        assert [number for (number,) in rows] == [1, 2]


async def test_a_database_that_is_newer_than_the_program_is_refused_and_left_alone(url: str) -> None:
    async with opened(url) as database:
        await database.write(lambda tx: tx.run("INSERT INTO clew.migration VALUES ($1, $2)", 9999, "from_the_future"))
    with pytest.raises(Misconfigured, match=r"newer than this program: it has schema version 9999.*Upgrade Clew"):
        await open_database(url, pool=1, wait=5)
