"""What every request must pass before anything looks at it.

A web page may send requests to any address that its reader's browser can reach. So the Host must be one that this
server answers to (a name that an attacker points here is not), the Origin must be absent or such a host, and a body
must say that it is JSON, which a page cannot do without asking first.
"""

from __future__ import annotations

import re

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d+)?")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


class Guard:
    """Lets through what is addressed to one of these hosts; None stands for any."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) != 1 or not self._known(_host(hosts[0])):
            return _refused(421, "This server does not answer to that Host")
        if not all(self._known(_host(origin.partition("://")[2])) for origin in origins):
            return _refused(403, "Requests from that Origin are not taken")
        if scope["method"] in ("POST", "PUT", "PATCH") and _media_type(scope) != "application/json":
            return _refused(415, "The body must be application/json")
        return None

    def _known(self, host: str | None) -> bool:
        return host is not None and (self._hosts is None or host in self._hosts)


def hosts_for(address: str) -> frozenset[str] | None:
    """The hosts that a server bound to this address answers to."""
    return LOOPBACK | {address} if is_loopback(address) else None


def is_loopback(address: str) -> bool:
    return address in ("localhost", "::1") or address.startswith("127.")


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for given, value in scope["headers"] if given == name]


def _host(authority: str) -> str | None:
    """The host of `host:port`, in lower case, or None where it is neither; an IPv6 address keeps its brackets."""
    found = AUTHORITY.fullmatch(authority.lower())
    return found[1] if found else None


def _media_type(scope: Scope) -> str:
    return ",".join(_values(scope, b"content-type")).partition(";")[0].strip().lower()


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"error": {"code": "invalid_params", "message": message}}, status)
