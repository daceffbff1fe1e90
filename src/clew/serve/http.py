"""The HTTP server: MCP at `/mcp`, and whether the process (`/healthz`) and its database (`/readyz`) are well."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from clew import __version__
from clew.app import Clew, open_clew
from clew.errors import ClewError, Misconfigured, TooLarge
from clew.scope import Principal
from clew.serve.body import handed_on, json_scope, read_body
from clew.serve.guard import Guard, hosts_for, is_loopback
from clew.serve.jsonrpc import Unreadable, read_message
from clew.serve.mcp import mcp_server
from clew.settings import Settings

GRACE = 8  # seconds for calls that run when we are asked to stop; container runtimes kill after 10


class McpEndpoint:
    """The SDK's endpoint as a route of ours. It is stateless, so there is no stream to listen to and none to end."""

    def __init__(self, manager: StreamableHTTPSessionManager, largest_body: int) -> None:
        self._manager = manager
        self._largest_body = largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        try:
            body = await read_body(scope, receive, self._largest_body)
            if body is None:
                return
            read_message(body)
        except asyncio.CancelledError:  # we stop, and the rest of the body has not come
            return
        except Unreadable as unreadable:
            await Response(unreadable.answer, 400, media_type="application/json")(scope, receive, send)
        except TooLarge as error:
            await refusal(error)(scope, receive, send)
        else:
            await self._manager.handle_request(json_scope(scope), handed_on(body, receive), send)


def refusal(error: ClewError) -> Response:
    """A refusal over plain HTTP."""
    return JSONResponse({"error": {"code": error.code, "message": error.message}}, error.status)


def http_app(clew: Clew, principal: Principal, settings: Settings) -> Starlette:
    """The ASGI application over an open memory, which it closes when it shuts down."""

    async def ready() -> Clew:
        return clew

    manager = StreamableHTTPSessionManager(
        mcp_server(clew.tools, ready, principal),
        stateless=True,
        json_response=True,  # an event of a stream may have 1 MiB at most in the official clients, a history has more
        max_request_body_size=settings.max_body,
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            async with manager.run():
                yield
        finally:
            await clew.close()

    async def healthz(request: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    async def readyz(request: Request) -> Response:
        try:
            await clew.ready()
        except ClewError as error:
            return JSONResponse({"status": "unavailable", "error": error.message}, 503)
        return JSONResponse({"status": "ready"})

    return Starlette(
        routes=[
            Route("/mcp", McpEndpoint(manager, settings.max_body)),
            Route("/healthz", healthz),
            Route("/readyz", readyz),
        ],
        middleware=[Middleware(Guard, hosts=hosts_for(settings.host))],
        lifespan=lifespan,
    )


async def serve_http(settings: Settings, *, insecure: bool = False) -> None:
    """Serve until asked to stop; what runs then is finished first."""
    if not is_loopback(settings.host) and not insecure:
        raise Misconfigured(
            f"Anyone who reaches {settings.host} could read and change everything: listen on 127.0.0.1, or say "
            "--insecure if something in front of Clew decides who may call"
        )
    principal = settings.principal
    listener = _listen(settings.host, settings.port)
    try:
        clew = await open_clew(settings)
    except BaseException:
        listener.close()
        raise
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    said = f"Clew {__version__} serves MCP at http://{shown}:{port}/mcp and keeps its data in {clew.place}"
    print(said, file=sys.stderr, flush=True)
    config = uvicorn.Config(
        http_app(clew, principal, settings),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    await uvicorn.Server(config).serve(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise Misconfigured(f"{host} is no address of this machine: choose another with --host") from None
        raise Misconfigured(
            f"Port {port} of {host} cannot be taken ({os.strerror(error.errno)}): stop what listens there, or choose "
            "another with --port or CLEW_PORT"
        ) from None
