"""The composition root: settings, database, tools. Start reading here.

A `Clew` is what every interface holds: it is given a tool's name, raw arguments and who is calling, and gives an answer
or raises a `ClewError`. There is no other way in.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

from clew.db.database import Database
from clew.db.engines import default_url, open_database, shown_place
from clew.errors import ClewError, Unavailable
from clew.scope import Principal
from clew.settings import Settings
from clew.tools import conversations, messages
from clew.tools.registry import Registry

log = logging.getLogger(__name__)

TOOLSETS = (conversations.toolset, messages.toolset)


@cache
def registry() -> Registry:
    """Every tool there is."""
    return Registry(TOOLSETS)


class Clew:
    """An open memory, behind all interfaces."""

    def __init__(self, database: Database, tools: Registry, place: str = "") -> None:
        self.database = database
        self.tools = tools
        self.place = place

    async def call(self, name: str, arguments: object, principal: Principal) -> Any:
        """The answer of a tool, or the `ClewError` that says why there is none."""
        tool = self.tools.find(name)
        try:
            return await tool.answer(self.database, principal, arguments)
        except ClewError:
            raise
        except Exception:
            log.exception("%s failed", name)
            raise Unavailable("Something went wrong inside Clew; the reason is in its log") from None

    async def ready(self) -> None:
        """Raise `Unavailable` unless the database answers."""
        await self.database.read(lambda tx: tx.one("SELECT 1"), short=True)

    async def close(self) -> None:
        await self.database.close()


async def open_clew(settings: Settings) -> Clew:
    """Open the memory that the settings describe."""
    url = settings.database_url or default_url()
    database = await open_database(url, pool=settings.pg_pool, wait=settings.pg_wait)
    return Clew(database, registry(), shown_place(url))
