"""Claude Code and Gemini CLI, the programs themselves: they reach a server over standard input and over HTTP.

Both are installed from npm below `.cache/npm`, once, by whichever test comes first.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.npm import Clients, Http, Stdio, Target, claude_list, connected, gemini_list, install
from tests.support.servers import clew_command, http_server
from tests.support.stores import sqlite_url

CACHE = Path(__file__).parents[2] / ".cache" / "npm"

Listing = Callable[[Clients, Path, Target], str]
each_client = pytest.mark.parametrize("listing", [claude_list, gemini_list])


@pytest.fixture(scope="session")
def clients() -> Clients:
    return install(CACHE)


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port that is ours and on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.timeout(700)
@each_client
def test_it_connects_over_standard_input(clients: Clients, listing: Listing, tmp_path: Path) -> None:
    command = Stdio([clew_command(), "stdio"], {"CLEW_DATABASE_URL": sqlite_url(tmp_path), "CLEW_USER": "alice"})
    said = listing(clients, tmp_path, command)
    assert connected(said), said


@pytest.mark.timeout(700)
@each_client
def test_it_connects_over_http(clients: Clients, listing: Listing, tmp_path: Path) -> None:
    with http_server(tmp_path, sqlite_url(tmp_path)) as server:
        said = listing(clients, tmp_path, Http(server.url))
        assert connected(said), said


@pytest.mark.timeout(700)
@each_client
def test_it_does_not_say_so_where_nothing_is(
    clients: Clients, listing: Listing, tmp_path: Path, dead_port: int
) -> None:
    said = listing(clients, tmp_path, Http(f"http://127.0.0.1:{dead_port}/mcp"))
    assert "clew" in said
    assert not connected(said), said


@pytest.mark.timeout(700)
@each_client
def test_it_does_not_say_so_where_the_command_fails(clients: Clients, listing: Listing, tmp_path: Path) -> None:
    said = listing(clients, tmp_path, Stdio([clew_command(), "no-such-command"]))
    assert "clew" in said
    assert not connected(said), said
