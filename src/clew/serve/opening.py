"""A memory that opens while the server already answers.

A client that starts its server waits for the first answer, which needs no database. Calls wait until it is open; where
opening fails, they say why, and the next call tries again.
"""

from __future__ import annotations

import asyncio
import logging

from clew.app import Clew, open_clew
from clew.errors import ClewError
from clew.settings import Settings

log = logging.getLogger(__name__)


class Opening:
    """Opens a memory in the background."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._task = self._start()

    async def ready(self) -> Clew:
        """The open memory, or the error that kept it from opening."""
        if self._task.done() and self._task.exception():
            self._task = self._start()
        return await asyncio.shield(self._task)

    async def close(self) -> None:
        """Close what is open; what is still opening is given up."""
        self._task.cancel()
        try:
            clew = await self._task
        except (ClewError, asyncio.CancelledError):
            return
        await clew.close()

    def _start(self) -> asyncio.Task[Clew]:
        task = asyncio.create_task(open_clew(self._settings))
        task.add_done_callback(_tell)
        return task


def _tell(task: asyncio.Task[Clew]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("The memory did not open: %s", error)
