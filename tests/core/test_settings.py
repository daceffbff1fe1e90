"""The settings: each knob, its default, and what is refused by the name of its variable."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from clew.errors import Misconfigured
from clew.scope import TRUSTED, Principal
from clew.settings import Settings, page, read_settings

GIVEN: dict[str, tuple[str, Any]] = {
    "CLEW_DATABASE_URL": ("sqlite:////srv/clew.db", "sqlite:////srv/clew.db"),
    "CLEW_USER": ("alice", "alice"),
    "CLEW_HOST": ("0.0.0.0", "0.0.0.0"),  # noqa: S104 - read, not bound
    "CLEW_PORT": ("9000", 9000),
    "CLEW_MAX_BODY": ("2048", 2048),
    "CLEW_PG_POOL": ("5", 5),
    "CLEW_PG_WAIT": ("1.5", 1.5),
}


def field_of(variable: str) -> str:
    return variable.removeprefix("CLEW_").lower()


def test_every_setting_is_tried_here() -> None:
    assert {field_of(variable) for variable in GIVEN} == set(Settings.__struct_fields__)


@pytest.mark.parametrize("variable", GIVEN)
def test_a_setting_is_read_from_its_variable(variable: str) -> None:
    text, value = GIVEN[variable]
    assert getattr(read_settings({variable: text}), field_of(variable)) == value
    assert getattr(read_settings({variable: f" {text}\n"}), field_of(variable)) == value


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, (text, _) in GIVEN.items():
        monkeypatch.setenv(variable, text)
    assert msgspec.structs.asdict(read_settings()) == {field_of(v): value for v, (_, value) in GIVEN.items()}


def test_with_nothing_given_everything_has_a_default() -> None:
    settings = read_settings({})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.pg_pool, settings.pg_wait) == ("127.0.0.1", 8377, 10, 30.0)
    assert settings.max_body == 64 * 1024 * 1024
    assert settings.principal == TRUSTED


@pytest.mark.parametrize("variable", sorted(GIVEN.keys() - {"CLEW_USER"}))
@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_variable_is_as_good_as_none(variable: str, blank: str) -> None:
    assert read_settings({variable: blank}) == Settings()


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_user_is_refused_and_never_everybody(blank: str) -> None:
    with pytest.raises(Misconfigured, match="CLEW_USER cannot be used"):
        _ = read_settings({"CLEW_USER": blank}).principal


def test_variables_without_our_prefix_are_not_ours() -> None:
    assert read_settings({"PORT": "x", "DATABASE_URL": "x", "clew_port": "x"}) == Settings()


@pytest.mark.parametrize(
    ("variable", "text", "takes"),
    [
        ("CLEW_PORT", "http", "a whole number from 0 to 65535"),
        ("CLEW_PORT", "65536", "a whole number from 0 to 65535"),
        ("CLEW_PORT", "-1", "a whole number from 0 to 65535"),
        ("CLEW_PORT", "80.5", "a whole number from 0 to 65535"),
        ("CLEW_PG_POOL", "0", "a whole number from 1 to 100"),
        ("CLEW_PG_POOL", "101", "a whole number from 1 to 100"),
        ("CLEW_PG_POOL", "five", "a whole number from 1 to 100"),
        ("CLEW_PG_WAIT", "-1", "a number from 0 to 3600"),
        ("CLEW_PG_WAIT", "nan", "a number from 0 to 3600"),
        ("CLEW_PG_WAIT", "30s", "a number from 0 to 3600"),
        ("CLEW_MAX_BODY", "1023", "a whole number of at least 1024"),
        ("CLEW_MAX_BODY", "64 MiB", "a whole number of at least 1024"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_its_variable(variable: str, text: str, takes: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        read_settings({variable: text})
    assert refused.value.message == f"{variable}={text!r} cannot be used: it takes {takes}"


def test_clew_user_pins_every_call_to_that_user() -> None:
    assert read_settings({"CLEW_USER": "alice"}).principal == Principal("alice")


@pytest.mark.parametrize("user", ["x" * 256, "a\x00b", "a\nb"])
def test_a_user_that_cannot_be_one_is_refused(user: str) -> None:
    with pytest.raises(Misconfigured, match="CLEW_USER cannot be used"):
        read_settings({"CLEW_USER": user}).principal  # noqa: B018 - reading it is the test


def test_the_reference_page_names_every_variable() -> None:
    assert all(f"| `{variable}` |" in page() for variable in GIVEN)
