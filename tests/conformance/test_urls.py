"""Database URLs, as people write and copy them: what they mean, and which are refused by the name of what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew.db.engines import default_url, open_database, shown_place, sqlite_path
from clew.db.postgres_url import read_url
from clew.errors import Misconfigured

NEON = "postgresql://neondb_owner:npg_AbC123xyz@{host}.us-east-2.aws.neon.tech/neondb?sslmode=require"
NEON_DIRECT = NEON.format(host="ep-cool-darkness-a1b2c3d4") + "&channel_binding=require"
NEON_POOLED = NEON.format(host="ep-cool-darkness-a1b2c3d4-pooler") + "&channel_binding=require"


@pytest.mark.parametrize("url", [NEON_DIRECT, NEON_POOLED])
def test_a_neon_url_works_as_it_is_copied(url: str) -> None:
    read = read_url(url)
    host = read.connect.pop("host")
    assert host in url
    assert read.connect == {
        "user": "neondb_owner",
        "password": "npg_AbC123xyz",
        "database": "neondb",
        "ssl": "require",
    }


@pytest.mark.parametrize(
    ("url", "prepared"),
    [
        (NEON_DIRECT, True),
        (NEON_POOLED, False),
        (NEON_POOLED + "&prepared_statements=on", True),
        (NEON_DIRECT + "&prepared_statements=off", False),
        (NEON_DIRECT + "&prepared_statements=false", False),
        (NEON_DIRECT + "&prepared_statements=true", True),
        ("postgresql://db/clew", True),
        ("postgresql:///clew?host=ep-1-pooler.aws.neon.tech", False),
        ("postgresql://host.my-pooler.example/clew", True),
    ],
)
def test_a_transaction_mode_pooler_gets_no_prepared_statements(url: str, prepared: bool) -> None:
    assert read_url(url).prepared is prepared


@pytest.mark.parametrize(
    ("url", "meaning"),
    [
        ("postgresql://", {}),
        ("postgresql://db", {"host": "db"}),
        ("postgresql://db/", {"host": "db"}),
        ("postgres://u@db:6543/d", {"host": "db", "port": 6543, "user": "u", "database": "d"}),
        ("postgresql://u%40x:p%3Aa%2Fs%23s@db/d%20e", {"user": "u@x", "password": "p:a/s#s", "database": "d e"}),
        ("postgresql://u:p+p@db", {"password": "p+p"}),
        ("postgresql://[::1]:5433/d", {"host": "::1", "port": 5433}),
        ("postgresql:///d?host=/var/run/postgresql&port=5433", {"host": "/var/run/postgresql", "port": 5433}),
        ("postgresql://db?user=u&password=p&dbname=d", {"user": "u", "password": "p", "database": "d"}),
        ("postgresql://db?application_name=notes", {"server_settings": {"application_name": "notes"}}),
        ("postgresql://db?connect_timeout=3", {"timeout": 3.0}),
    ],
)
def test_every_part_of_a_url_is_understood(url: str, meaning: dict[str, Any]) -> None:
    connect = read_url(url).connect
    assert {name: connect[name] for name in meaning} == meaning


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])
def test_sslmode_is_taken_as_users_write_it(mode: str) -> None:
    assert read_url(f"postgresql://db/d?sslmode={mode}").connect["ssl"] == mode


@pytest.mark.parametrize(
    ("options", "ssl"),
    [
        ("channel_binding=require", "require"),
        ("channel_binding=require&sslmode=disable", "require"),
        ("sslmode=prefer&channel_binding=require", "require"),
        ("sslmode=verify-full&channel_binding=require", "verify-full"),
        ("sslmode=disable&channel_binding=prefer", "disable"),
        ("channel_binding=disable", None),
    ],
)
def test_channel_binding_never_makes_a_connection_less_safe(options: str, ssl: str | None) -> None:
    connect = read_url(f"postgresql://db/d?{options}").connect
    assert connect.get("ssl") == ssl
    assert "channel_binding" not in connect


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://db/d?options=endpoint%3Dx", "'options' is not known; known are sslmode"),
        ("postgresql://db/d?sslrootcert=ca.pem", "'sslrootcert'"),
        ("postgresql://db/d?target_session_attrs=any", "'target_session_attrs'"),
        ("postgresql://db/d?SSLMODE=require", "'SSLMODE'"),
        ("postgresql://db/d?pgbouncer=true", "'pgbouncer'"),
        ("postgresql://db/d?sslmode", "sslmode takes one of disable, allow, prefer, require, verify-ca, verify-full"),
        ("postgresql://db/d?sslmode=on", "sslmode takes one of .* not 'on'"),
        ("postgresql://db/d?channel_binding=yes", "channel_binding takes one of disable, prefer, require, not 'yes'"),
        ("postgresql://db/d?prepared_statements=0", "prepared_statements takes on or off, not '0'"),
        ("postgresql://db/d?connect_timeout=soon", "connect_timeout='soon' is not a whole number"),
        ("postgresql://db/d?port=five", "port='five' is not a whole number"),
        ("postgresql://db:five/d", "port='five' is not a whole number"),
        ("postgresql://db:99999/d", "port"),
        ("postgresql://db/d?port=99999", "port"),
    ],
)
def test_what_is_wrong_with_a_postgresql_url_is_named(url: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        read_url(url)


def test_a_refusal_never_repeats_the_password() -> None:
    with pytest.raises(Misconfigured) as refused:
        read_url("postgresql://u:s3cret@db:five/d?sslmode=on&password=s3cret")
    assert "s3cret" not in refused.value.message


@pytest.mark.parametrize(
    "url",
    [
        "",
        "clew.db",
        "/var/lib/clew.db",
        "mysql://db/d",
        "sqlite3:///clew.db",
        "http://example.org",
        "://",
        "postgresql",
    ],
)
async def test_a_url_of_no_known_database_is_refused_with_what_is_known(url: str) -> None:
    with pytest.raises(Misconfigured, match=r"sqlite:////path/clew\.db, sqlite:///:memory: or postgresql://"):
        await open_database(url, pool=1, wait=0)


@pytest.mark.parametrize("url", ["sqlite:", "sqlite://", "sqlite:///", "sqlite://clew.db", "sqlite:///clew.db?mode=ro"])
async def test_a_sqlite_url_without_a_plain_path_is_refused(url: str) -> None:
    with pytest.raises(Misconfigured, match="A SQLite URL is sqlite:/// and a path"):
        await open_database(url, pool=1, wait=0)


async def test_a_url_that_cannot_be_taken_apart_is_refused() -> None:
    with pytest.raises(Misconfigured):
        await open_database("postgresql://[::1/d", pool=1, wait=0)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///clew.db", "clew.db"),
        ("sqlite:////var/lib/clew.db", "/var/lib/clew.db"),
        ("sqlite:///:memory:", ":memory:"),
        ("sqlite:///C:/Users/me/clew.db", "C:/Users/me/clew.db"),
        ("sqlite:////with%20blank/100%25.db", "/with blank/100%.db"),
        ("sqlite:////with blank/clew.db", "/with blank/clew.db"),
        ("sqlite:////ümlaut/clew.db", "/ümlaut/clew.db"),
    ],
)
def test_a_sqlite_url_is_three_slashes_and_a_path(url: str, path: str) -> None:
    assert sqlite_path(url) == path


def test_the_default_is_a_file_in_the_platforms_data_directory() -> None:
    url = default_url()
    assert url.startswith("sqlite:///")
    assert sqlite_path(url).endswith("clew.db")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("sqlite:////var/lib/clew.db", "/var/lib/clew.db"),
        ("sqlite:///notes.db", str(Path("notes.db").absolute())),
        ("sqlite:///~/clew.db", str(Path.home() / "clew.db")),
        ("postgresql://alice:s3cret@db.example:5433/notes", "PostgreSQL at db.example, database notes"),
    ],
)
def test_a_place_is_shown_whole_and_without_a_password(url: str, place: str) -> None:
    assert shown_place(url) == place


def test_a_number_sign_in_a_password_is_told_for_what_it_is() -> None:
    with pytest.raises(Misconfigured, match="is written %23") as refused:
        read_url("postgresql://alice:se#cret@db/notes")
    assert "se" not in refused.value.message.split()


def test_what_is_nearly_memory_is_no_file() -> None:
    with pytest.raises(Misconfigured, match="A SQLite URL is"):
        sqlite_path("sqlite:///:memory")
