"""PostgreSQL URLs, as people copy them from where their database lives.

Every option is known or refused by name: an option that is dropped in silence is a promise broken in silence.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from clew.errors import Misconfigured

SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
BINDINGS = ("disable", "prefer", "require")
SWITCH = {"on": True, "off": False, "true": True, "false": False}


class PostgresUrl(msgspec.Struct, frozen=True):
    """What a URL says: how to connect, and whether statements may be prepared."""

    connect: dict[str, Any]
    prepared: bool


def read_url(url: str) -> PostgresUrl:
    """Take a URL apart. A transaction-mode pooler that shows in the host's name gets no prepared statements."""
    try:
        parts = urlsplit(url)
        given_port = parts.netloc.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
    except ValueError:
        raise _refused("its host cannot be read; an IPv6 address stands in brackets") from None
    if parts.fragment:
        raise _refused("what stands behind # in it says nothing; a # in a password is written %23")
    given: dict[str, Any] = {
        "host": unquote(parts.hostname) if parts.hostname else None,
        "port": _port(given_port) if given_port else None,
        "user": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
        "database": unquote(parts.path.lstrip("/")) or None,
    }
    prepared: bool | None = None
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name == "prepared_statements":
            prepared = _switch(name, value)
        else:
            given.update(_option(name, value))
    _require_tls_for_binding(given)
    if prepared is None:
        prepared = not _is_pooler(given["host"] or "")
    return PostgresUrl({name: value for name, value in given.items() if value is not None}, prepared)


def _option(name: str, value: str) -> dict[str, Any]:
    """What an option of the URL means to the driver."""
    match name:
        case "host" | "user" | "password":
            return {name: value}
        case "dbname":
            return {"database": value}
        case "port":
            return {"port": _port(value)}
        case "connect_timeout" if value.isdecimal():
            return {"timeout": float(value)} if int(value) else {}
        case "connect_timeout":
            raise _refused(f"connect_timeout={value!r} is not a whole number of seconds")
        case "application_name":
            return {"server_settings": {name: value}}
        case "sslmode" if value in SSL_MODES:
            return {"ssl": value}
        case "sslmode":
            raise _refused(f"sslmode takes one of {', '.join(SSL_MODES)}, not {value!r}")
        case "channel_binding" if value in BINDINGS:
            return {name: value}
        case "channel_binding":
            raise _refused(f"channel_binding takes one of {', '.join(BINDINGS)}, not {value!r}")
    raise _refused(
        f"its option {name!r} is not known; known are sslmode, channel_binding, application_name, connect_timeout, "
        "prepared_statements, host, port, user, password and dbname"
    )


def _require_tls_for_binding(given: dict[str, Any]) -> None:
    """`channel_binding=require` asks to be safe from a server that is not the one meant. The driver has TLS for that,
    and no channel binding: so it insists on TLS, and never on less than the URL says."""
    if given.pop("channel_binding", None) == "require" and given.get("ssl", "prefer") in SSL_MODES[:3]:
        given["ssl"] = "require"


def _is_pooler(host: str) -> bool:
    """Neon's poolers work in transaction mode, and say so in the first part of their name."""
    return host.partition(".")[0].endswith("-pooler")


def _port(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 65535):
        raise _refused(f"port={text!r} is not a whole number from 1 to 65535")
    return int(text)


def _switch(name: str, value: str) -> bool:
    if value not in SWITCH:
        raise _refused(f"{name} takes on or off, not {value!r}")
    return SWITCH[value]


def _refused(why: str) -> Misconfigured:
    return Misconfigured(f"The PostgreSQL URL cannot be used: {why}")
