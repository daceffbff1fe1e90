"""Bringing a database to the present schema.

A new database is made from `schema/`, which says the present state in one place. An older one is taken through the
numbered files of `migrations/` that it has not seen. A test proves that both ways end in the same schema. A file that
must differ between the engines comes as a pair, `NAME.sqlite.sql` and `NAME.postgres.sql`.

The engine calls `bring_up_to_date` inside one transaction that excludes all others, so several processes may start at
once: the first does the work and the rest find it done.
"""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Protocol

import msgspec

from clew.db.dialect import fill
from clew.errors import Misconfigured

VERSIONS = "CREATE TABLE clew.migration (number {int} NOT NULL PRIMARY KEY, name {text} NOT NULL) {table}"


class Migration(msgspec.Struct):
    number: int
    name: str
    sql: str


class Migrator(Protocol):
    """What an engine offers while it migrates. All of it happens in one transaction."""

    engine: str
    words: dict[str, str]

    async def versions(self) -> set[int] | None:
        """The numbers of the migrations that the database has seen; None where it is new."""

    async def script(self, sql: str) -> None:
        """Carry out several statements."""

    async def record(self, number: int, name: str) -> None:
        """Remember that a migration was applied."""


async def bring_up_to_date(database: Migrator, *, from_schema: bool = True) -> None:
    """Make the schema of a new database, or apply what an older one is missing."""
    known = migrations(database.engine)
    seen = await database.versions()
    _refuse_newer(seen or set(), known)
    missing = [m for m in known if m.number not in (seen or ())]
    if seen is None:
        await database.script(fill(VERSIONS, database.words))
    if seen is None and from_schema:
        for sql in _sql_files("schema", database.engine).values():
            await database.script(fill(sql, database.words))
    else:
        for migration in missing:
            await database.script(fill(migration.sql, database.words))
    for migration in missing:
        await database.record(migration.number, migration.name)


def migrations(engine: str) -> list[Migration]:
    """The migrations for an engine, in order."""
    files = _sql_files("migrations", engine)
    return [Migration(int(name[:4]), name[5:], sql) for name, sql in files.items()]


def _refuse_newer(seen: set[int], known: list[Migration]) -> None:
    newest = max((m.number for m in known), default=0)
    if max(seen, default=0) > newest:
        raise Misconfigured(
            f"The database is newer than this program: it has schema version {max(seen)}, and this Clew knows up to "
            f"{newest}. Upgrade Clew (`uv tool upgrade clew-memory`), or use another database."
        )


def _sql_files(folder: str, engine: str) -> dict[str, str]:
    """The SQL files for an engine by name, in order; a name without an engine is for both."""
    files: dict[str, str] = {}
    for file in sorted(resources.files("clew.db").joinpath(folder).iterdir(), key=_name):
        stem, _, ending = file.name.partition(".")
        if ending in ("sql", f"{engine}.sql"):
            files[stem] = file.read_text(encoding="utf-8")
    return files


def _name(file: Traversable) -> str:
    return file.name
