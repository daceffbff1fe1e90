"""What every request must pass before anything looks at it.

A web page may send requests to any address that its reader's browser can reach. So the Host must be one that this
server answers to (a name that an attacker points here is not), the Origin must be absent or such a host, and a body
must say that it is JSON, which a page cannot do without asking first.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

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
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if not self._known(_host(headers.get(b"host", ""))):
            return _refused(421, "This server does not answer to that Host")
        origin = headers.get(b"origin")
        if origin is not None and not self._known(_host(urlsplit(origin).netloc)):
            return _refused(403, "Requests from that Origin are not taken")
        if scope["method"] in ("POST", "PUT", "PATCH") and _media_type(headers) != "application/json":
            return _refused(415, "The body must be application/json")
        return None

    def _known(self, host: str) -> bool:
        return bool(host) if self._hosts is None else host in self._hosts


def hosts_for(address: str) -> frozenset[str] | None:
    """The hosts that a server bound to this address answers to."""
    return LOOPBACK if is_loopback(address) else None


def is_loopback(address: str) -> bool:
    return address in ("localhost", "::1") or address.startswith("127.")


def _host(authority: str) -> str:
    """The host of `host:port`, in lower case; an IPv6 address keeps its brackets."""
    if authority.startswith("["):
        return authority.partition("]")[0].lower() + "]"
    return authority.partition(":")[0].lower()


def _media_type(headers: dict[bytes, str]) -> str:
    return headers.get(b"content-type", "").partition(";")[0].strip().lower()


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"error": {"code": "invalid_params", "message": message}}, status)
