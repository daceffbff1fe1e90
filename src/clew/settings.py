"""Every knob, one line of documentation each. The reference page is made from this file.

A setting is read from the environment variable `CLEW_` and its name. A value that cannot be used is refused at start,
with the name of the variable and what it takes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, get_args

import msgspec
from msgspec import Meta

from clew.core.schemas import in_words
from clew.errors import ClewError, Misconfigured
from clew.scope import TRUSTED, Principal, pinned

PREFIX = "CLEW_"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a running Clew is told."""

    database_url: Annotated[
        str,
        Meta(
            description="Where everything is kept: `sqlite:////path/clew.db`, `sqlite:///:memory:` or "
            "`postgresql://...`. Default: a SQLite file in the platform's data directory."
        ),
    ] = ""
    user: Annotated[
        str | None,
        Meta(description="Act for this one user, and refuse calls for others. Default: each call says for whom it is."),
    ] = None
    host: Annotated[str, Meta(description="The address that `clew serve` listens on.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="The port that `clew serve` listens on.")] = 8377
    max_body: Annotated[
        int, Meta(ge=1024, description="The largest request body that `clew serve` takes, in bytes.")
    ] = 64 * 1024 * 1024
    pg_pool: Annotated[int, Meta(ge=1, le=100, description="The most connections of a process to PostgreSQL.")] = 10
    pg_wait: Annotated[
        float, Meta(ge=0, le=3600, description="How long to wait for a PostgreSQL that sleeps or starts, in seconds.")
    ] = 30.0

    @property
    def principal(self) -> Principal:
        """Who calls, where the transport does not say."""
        if self.user is None:
            return TRUSTED
        try:
            return pinned(self.user)
        except ClewError as error:
            raise Misconfigured(f"CLEW_USER cannot be used: {error}") from None


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings that the environment gives."""
    environment = os.environ if environment is None else environment
    given: dict[str, object] = {}
    for field in msgspec.structs.fields(Settings):
        name = PREFIX + field.name.upper()
        text = environment.get(name, "").strip()
        if text or (name in environment and field.default is None):  # blank is not the same as not given
            given[field.name] = _value(name, text, field.type)
    return Settings(**given)  # type: ignore[arg-type]


def _value(name: str, text: str, type: object) -> object:
    """What the text of a variable says."""
    try:
        return msgspec.convert(text, type, strict=False)
    except msgspec.ValidationError:
        raise Misconfigured(f"{name}={text!r} cannot be used: it takes {in_words(type)}") from None


def page() -> str:
    """The reference page of the settings."""
    lines = [
        "# Settings",
        "",
        "Made from `clew/settings.py` by `make docs`. Every setting is an environment variable.",
        "",
        "| variable | default | what it does |",
        "|---|---|---|",
    ]
    for field in msgspec.structs.fields(Settings):
        described: Meta = get_args(field.type)[-1]
        default = f"`{field.default}`" if field.default not in ("", None) else ""
        lines.append(f"| `{PREFIX}{field.name.upper()}` | {default} | {described.description} |")
    return "\n".join(lines) + "\n"
