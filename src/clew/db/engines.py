"""From a URL to an engine that is open."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from clew.db.database import Database
from clew.errors import ClewError, Misconfigured, Unavailable

log = logging.getLogger(__name__)

FORMS = "sqlite:////path/clew.db, sqlite:///:memory: or postgresql://user:password@host/database"


def default_url() -> str:
    """The SQLite file of this user on this machine."""
    import platformdirs

    path = Path(platformdirs.user_data_dir("clew", appauthor=False)) / "clew.db"
    return "sqlite:///" + quote(str(path))


async def open_database(url: str, *, pool: int, wait: float) -> Database:
    """Open the database that a URL names. What keeps it from opening is said in our words."""
    try:
        return await _open(url, pool, wait)
    except ClewError:
        raise
    except Exception:
        log.exception("The database did not open")
        raise Unavailable("The database did not open; the reason is in Clew's log") from None


async def _open(url: str, pool: int, wait: float) -> Database:
    if url.startswith("sqlite:"):
        from clew.db.sqlite import open_sqlite

        return await open_sqlite(sqlite_path(url))
    if url.startswith(("postgresql://", "postgres://")):
        from clew.db.postgres import open_postgres

        return await open_postgres(url, pool=pool, wait=wait)
    raise Misconfigured(f"CLEW_DATABASE_URL names no database that Clew knows: it takes {FORMS}")


def sqlite_path(url: str) -> str:
    """The file that a `sqlite:///` URL names: three slashes and a path, so four for an absolute one."""
    _, marker, path = url.partition("sqlite:///")
    if not marker or not path or "?" in path or (path.startswith(":") and path != ":memory:"):
        raise Misconfigured("A SQLite URL is sqlite:/// and a path, as in sqlite:////var/lib/clew/clew.db")
    return os.path.expanduser(unquote(path))  # noqa: PTH111 - a Path would lose what ":memory:" is


def shown_place(url: str) -> str:
    """Where a database is, for a person: never with a password."""
    if not url.startswith("sqlite:"):
        parts = urlsplit(url)
        return f"PostgreSQL at {parts.hostname or 'a local socket'}, database {parts.path.lstrip('/') or 'of the user'}"
    path = sqlite_path(url)
    return "memory alone: it is gone when the server stops" if path == ":memory:" else str(Path(path).absolute())
