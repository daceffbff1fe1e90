"""Clew inside a program: `clew.connect`, and `ContextService` as the examples of seed 000 use it."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import clew
from clew import context_service, embedded
from clew.app import registry
from clew.context_service import SyncMemory
from clew.settings import Settings
from clew.tools.typing_stubs import stubs
from tests.contract.manifest import promise
from tests.support.servers import environment
from tests.support.stores import sqlite_url

# The four examples of seed 000 as they stand there, with ids that exist.
EXAMPLES = """
from clew import ContextService

conversation = ContextService.create_conversation(
    user_id="user-456",
    title="Technical Discussion"
)
conversation_id = conversation["id"]

result = ContextService.record_interaction(
    conversation_id=conversation_id,
    user_message="What's the capital of France?",
    assistant_response="The capital of France is Paris.",
    metadata='{"model": "claude-opus", "tokens": 150}'
)
assert result["user_message"]["metadata"] == '{"model": "claude-opus", "tokens": 150}'

history = ContextService.fetch_chat_history(
    conversation_id=conversation_id,
    limit=10
)
messages = history["messages"]
assert [m["content"] for m in messages] == ["What's the capital of France?", "The capital of France is Paris."]

conversations = ContextService.list_conversations(
    user_id="user-456",
    limit=20
)
assert [c["id"] for c in conversations] == [conversation_id]

try:
    ContextService.fetch_chat_history(conversation_id="conv-123")
except ValueError as error:
    print(error)
"""


def python(program: str, url: str = "sqlite:///:memory:", **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, with warnings as errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=30,
        env=environment({"CLEW_DATABASE_URL": url, **settings}),
        check=False,
    )


@pytest.fixture
def service(tmp_path: Path) -> Iterator[SyncMemory]:
    opened = SyncMemory(sqlite_url(tmp_path))
    yield opened
    opened.close()


# The examples


@promise("000.examples", "000.cycle", "000.errors.python")
def test_the_examples_of_seed_000_work_as_they_stand(tmp_path: Path) -> None:
    done = python(EXAMPLES, sqlite_url(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "Conversation conv-123 not found\n", "")


@promise("000.stateless")
def test_the_next_program_finds_what_one_stored(tmp_path: Path) -> None:
    python(EXAMPLES, sqlite_url(tmp_path))
    program = "from clew import ContextService as c; print(c.list_conversations(user_id='user-456')[0]['title'])"
    assert python(program, sqlite_url(tmp_path)).stdout == "Technical Discussion\n"


@promise("000.examples")
def test_a_program_may_use_it_from_many_threads(tmp_path: Path) -> None:
    done = python(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from clew import ContextService\n"
        "id = ContextService.create_conversation(user_id='alice')['id']\n"
        "def record(n):\n"
        "    ContextService.record_interaction(conversation_id=id, user_message=f'q{n}', assistant_response=f'a{n}')\n"
        "with ThreadPoolExecutor(8) as threads:\n"
        "    list(threads.map(record, range(40)))\n"
        "print(ContextService.fetch_chat_history(conversation_id=id, limit=100)['message_count'])",
        sqlite_url(tmp_path),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "80\n", "")


def test_a_program_that_never_closes_it_ends_promptly_and_quietly(tmp_path: Path) -> None:
    began = time.monotonic()
    done = python(
        "from clew import ContextService\n"
        "for n in range(20): ContextService.create_conversation(user_id='a', title=str(n))",
        sqlite_url(tmp_path),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert time.monotonic() - began < 10


def test_a_program_that_fails_shows_only_its_own_trace(tmp_path: Path) -> None:
    done = python(
        "from clew import ContextService as c; c.create_conversation(); raise SystemExit(3)", sqlite_url(tmp_path)
    )
    assert (done.returncode, done.stderr) == (3, "")


def test_a_program_that_leaves_a_memory_open_ends_promptly_and_quietly(tmp_path: Path) -> None:
    done = python(
        "import asyncio, clew\n"
        "async def main():\n"
        "    memory = await clew.connect().open()\n"
        "    await memory.create_conversation()\n"
        "    print('stored')\n"
        "asyncio.run(main())",
        sqlite_url(tmp_path),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "stored\n", "")


# The synchronous form


def test_it_may_be_called_from_any_thread(service: SyncMemory) -> None:
    conversation = service.create_conversation(user_id="alice")["id"]

    def record(n: int) -> str:
        recorded = service.record_interaction(
            conversation_id=conversation, user_message=f"q{n}", assistant_response=f"a{n}"
        )
        return recorded["user_message"]["id"]

    with ThreadPoolExecutor(8) as threads:
        said = list(threads.map(record, range(80)))
    history = service.get_conversation_history(conversation_id=conversation)
    texts = [message["content"] for message in history["messages"]]
    assert len(set(said)) == 80
    assert sorted(zip(texts[::2], texts[1::2], strict=True)) == sorted((f"q{n}", f"a{n}") for n in range(80))


def test_the_first_calls_of_many_threads_open_it_once(tmp_path: Path) -> None:
    service = SyncMemory(sqlite_url(tmp_path))
    before = set(threading.enumerate())
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: service.create_conversation(title=f"{n}"), range(8)))
    loops = [thread for thread in set(threading.enumerate()) - before if thread.name == "clew-loop"]
    assert len(loops) == 1
    assert len(service.list_conversations()) == 8
    service.close()
    loops[0].join(5)
    assert not loops[0].is_alive()


async def test_it_may_be_called_while_a_loop_runs(service: SyncMemory) -> None:
    assert service.create_conversation(title="From a loop")["title"] == "From a loop"


def test_it_opens_again_after_it_was_closed(service: SyncMemory) -> None:
    made = service.create_conversation()
    service.close()
    service.close()
    assert [c["id"] for c in service.list_conversations()] == [made["id"]]


def test_opening_that_fails_says_why_and_may_be_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    folder.write_text("in the way")
    service = SyncMemory(f"sqlite:///{folder}/clew.db")
    with pytest.raises(clew.ClewError):
        service.list_conversations()
    folder.unlink()
    assert service.list_conversations() == []
    service.close()


def test_it_is_a_class_for_those_who_expect_one(service: SyncMemory) -> None:
    assert service() is service


def test_a_tool_that_does_not_exist_is_no_attribute(service: SyncMemory) -> None:
    assert not hasattr(service, "forget_everything")
    with pytest.raises(AttributeError, match="forget_everything"):
        service.forget_everything  # type: ignore[attr-defined]  # noqa: B018


@promise("join.identity.pinned")
def test_it_may_act_for_one_user(tmp_path: Path) -> None:
    service = SyncMemory(sqlite_url(tmp_path), user="alice")
    assert service.create_conversation()["user_id"] == "alice"
    with pytest.raises(clew.ClewError) as caught:
        service.list_conversations(user_id="bob")
    assert caught.value.code == "invalid_user_id"
    service.close()


# The asynchronous form


@promise("join.python")
async def test_every_tool_is_a_method(tmp_path: Path) -> None:
    async with clew.connect(sqlite_url(tmp_path)) as memory:
        for name in registry().tools:
            assert inspect.iscoroutinefunction(getattr(memory, name)), name
            assert getattr(memory, name).__name__ == name
        assert not hasattr(memory, "forget_everything")


async def test_calls_at_once_share_one_memory(tmp_path: Path) -> None:
    async with clew.connect(sqlite_url(tmp_path)) as memory:
        made = await asyncio.gather(*(memory.create_conversation(title=f"{n}") for n in range(50)))
        assert len({conversation["id"] for conversation in made}) == 50


async def test_two_memories_over_one_file_see_each_other(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    async with clew.connect(url) as one, clew.connect(url, user="alice") as other:
        made = await other.create_conversation(title="Shared")
        assert (await one.get_conversation(conversation_id=made["id"]))["user_id"] == "alice"


async def test_a_memory_that_is_closed_leaves_one_whole_file(tmp_path: Path) -> None:
    async with clew.connect(sqlite_url(tmp_path)) as memory:
        made = await memory.create_conversation()
        await memory.get_conversation_history(conversation_id=made["id"])
    assert [file.name for file in tmp_path.iterdir()] == ["clew.db"]


@promise("000.scale.pool")
def test_a_process_takes_5_to_10_connections_to_postgresql() -> None:
    assert 5 <= Settings().pg_pool <= 10


# What it costs


@promise("join.python")
def test_importing_clew_is_light() -> None:
    done = python("import sys, clew; print(sorted({m.partition('.')[0] for m in sys.modules}))")
    loaded = set(eval(done.stdout))  # noqa: S307 - what we printed ourselves
    heavy = {"msgspec", "pydantic", "mcp", "starlette", "uvicorn", "typer", "asyncpg", "apsw", "asyncio", "sqlite3"}
    assert loaded & heavy == set()


@promise("join.python")
def test_neither_form_loads_what_only_a_server_needs() -> None:
    done = python(
        "import asyncio, sys, clew\n"
        "from clew import ContextService\n"
        "async def main():\n"
        "    async with clew.connect() as memory:\n"
        "        await memory.create_conversation()\n"
        "asyncio.run(main())\n"
        "ContextService.create_conversation()\n"
        "print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    )
    assert done.stderr == ""
    loaded = set(done.stdout.split())
    assert loaded & {"mcp", "mcp_types", "starlette", "uvicorn", "pydantic", "typer", "httpx2", "asyncpg"} == set()
    assert {"msgspec", "apsw"} <= loaded


# Types


@promise("join.python")
@pytest.mark.parametrize("name", ["embedded.pyi", "context_service.pyi"])
def test_the_stubs_are_what_the_registry_says(name: str) -> None:
    file = Path(embedded.__file__).with_name(name)
    assert file.read_text(encoding="utf-8") == stubs(registry())[name], "run `make docs`"


def test_there_is_a_stub_for_each_form_and_no_other() -> None:
    folder = Path(clew.__file__).parent
    assert {file.name for file in folder.rglob("*.pyi")} == set(stubs(registry()))
    assert {Path(module.__file__ or "").with_suffix(".pyi").name for module in (embedded, context_service)} == set(
        stubs(registry())
    )


def test_the_package_says_that_it_is_typed() -> None:
    assert Path(clew.__file__).with_name("py.typed").exists()


async def test_arguments_without_their_names_are_refused() -> None:
    memory: Any = clew.connect("sqlite:///:memory:")
    with pytest.raises(TypeError, match="takes its arguments by name"):
        await memory.get_conversation("some id")
