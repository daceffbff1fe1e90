"""`clew`: what a person or a client starts. Heavy parts are loaded by the command that needs them."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Coroutine
from typing import Annotated, Any

import msgspec
import typer

from clew import __version__
from clew.errors import ClewError
from clew.settings import Settings, read_settings

app = typer.Typer(
    help="The memory server for AI agents.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"clew {__version__}")
        raise typer.Exit


@app.callback()
def clew(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """The memory server for AI agents."""


@app.command()
def stdio() -> None:
    """Serve MCP over standard input and output, for a client that starts its servers."""
    from clew.serve.stdio import serve_stdio

    _run(serve_stdio(read_settings()))


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="The address to listen on [default: 127.0.0.1].")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on [default: 8377].", min=0, max=65535)] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen on other than loopback without authentication.")
    ] = False,
) -> None:
    """Serve MCP over HTTP at /mcp."""
    from clew.serve.http import serve_http

    given = {"host": host, "port": port}
    settings: Settings = msgspec.structs.replace(
        read_settings(), **{name: value for name, value in given.items() if value is not None}
    )
    _run(serve_http(settings, insecure=insecure))


def _run(work: Coroutine[Any, Any, None]) -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    try:
        import uvloop
    except ImportError:  # as on Windows
        asyncio.run(work)
    else:
        uvloop.run(work)


def main() -> None:
    """Run the command line; what cannot be done is said in one line."""
    try:
        app()
    except ClewError as error:
        print(f"clew: {error}", file=sys.stderr)
        sys.exit(1)
