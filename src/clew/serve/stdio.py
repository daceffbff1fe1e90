"""MCP over standard input and output: one line, one message; nothing else is ever written to standard output.

When the input ends, calls that still run are answered before the server leaves, so that a script may pipe its requests
in and read the answers.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream, create_context_streams
from mcp.shared.message import SessionMessage

from clew.app import registry
from clew.serve.jsonrpc import Unreadable, read_message
from clew.serve.mcp import mcp_server
from clew.serve.opening import Opening
from clew.serve.wire import Wire
from clew.settings import Settings

PATIENCE = 30.0


class Session:
    """One client: its messages to the SDK, the SDK's to the client, and the calls that are under way."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._under_way: set[str | int] = set()
        self._settled = asyncio.Event()

    async def serve(self, server: Server[Any]) -> None:
        to_server, from_client = create_context_streams[SessionMessage | Exception](0)
        to_client, from_server = create_context_streams[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen, to_server)
            tasks.start_soon(self._speak, from_server)
            await server.run(from_client, to_client, server.create_initialization_options())
            tasks.cancel_scope.cancel()

    async def _listen(self, to_server: ContextSendStream[SessionMessage | Exception]) -> None:
        lines = self._wire.lines()
        async with to_server:
            while line := await lines.get():
                if line.isspace():
                    continue
                try:
                    message = read_message(line)
                except Unreadable as unreadable:
                    await self._wire.write(unreadable.answer)
                    continue
                if isinstance(message, types.JSONRPCRequest):
                    self._under_way.add(message.id)
                elif isinstance(message, types.JSONRPCNotification):
                    self._forget_cancelled(message)
                await to_server.send(SessionMessage(message))
            await self._settle()

    async def _speak(self, from_server: ContextReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for sent in from_server:
                message = sent.message
                await self._wire.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode())
                if isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
                    self._done(message.id)

    def _forget_cancelled(self, message: types.JSONRPCNotification) -> None:
        """A call that the client cancelled gets no answer."""
        if message.method == "notifications/cancelled":
            self._done((message.params or {}).get("requestId"))

    def _done(self, id: object) -> None:
        if isinstance(id, (str, int)):
            self._under_way.discard(id)
        if not self._under_way:
            self._settled.set()

    async def _settle(self) -> None:
        """Wait until every call is answered."""
        if self._under_way:
            self._settled.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._settled.wait(), PATIENCE)


async def serve_stdio(settings: Settings) -> None:
    """Serve one client until its input ends, or until we are asked to stop."""
    principal = settings.principal
    opening = Opening(settings)
    session = asyncio.ensure_future(Session(Wire()).serve(mcp_server(registry(), opening.ready, principal)))
    if sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, session.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await session
    finally:
        await opening.close()
