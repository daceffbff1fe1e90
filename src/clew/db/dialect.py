"""Where the two engines differ: one closed list.

A statement is written once. Each engine renders it into its own words, once, and keeps the result:

| in the statement      | SQLite                                | PostgreSQL                     |
|-----------------------|---------------------------------------|--------------------------------|
| `clew.thread`         | `thread`                              | as it is                       |
| `$1`                  | `?1`                                  | as it is                       |
| `IN $1:text[]`        | `IN (SELECT value FROM json_each(?1))`| `= ANY($1::text[])`            |
| `FOR UPDATE`          | nothing: one writer                   | as it is                       |
| `{int}` and its like  | the words of `SQLITE_WORDS`           | the words of `postgres_words()`|

Words in braces stand in the schema and its migrations only.
"""

from __future__ import annotations

import re
from functools import lru_cache

SCHEMA = "clew"

SQLITE_WORDS = {
    "int": "INTEGER",
    "text": "TEXT",
    "blob": "BLOB",
    "table": "STRICT",
    "clustered": "STRICT, WITHOUT ROWID",
}


def postgres_words(server_version: int) -> dict[str, str]:
    """The schema's words on a PostgreSQL of this version (as `server_version_num` counts them)."""
    return {
        "int": "bigint",
        "text": 'text COLLATE "C"',
        "blob": "bytea",
        "table": "",
        "clustered": "",
        "view": "WITH (security_invoker = true)" if server_version >= 150000 else "",
    }


def fill(sql: str, words: dict[str, str]) -> str:
    """A migration with its words filled in. PostgreSQL takes no empty list of table options, so that goes too."""
    return re.sub(r"\{(\w+)\}", lambda found: words[found[1]], sql)


@lru_cache(maxsize=1024)
def for_sqlite(sql: str) -> str:
    """A statement in SQLite's words."""
    sql = re.sub(r"IN \$(\d+):(?:text|bigint)\[\]", r"IN (SELECT value FROM json_each(?\1))", sql)
    sql = sql.replace(f"{SCHEMA}.", "").replace(" FOR UPDATE", "")
    return re.sub(r"\$(\d+)", r"?\1", sql)


@lru_cache(maxsize=1024)
def for_postgres(sql: str) -> str:
    """A statement in PostgreSQL's words."""
    return re.sub(r"IN \$(\d+):(text|bigint)\[\]", r"= ANY($\1::\2[])", sql)
