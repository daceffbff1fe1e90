"""Behind a pooler in transaction mode, where each transaction may meet another server connection."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

import clew
from tests.support.postgres import free_port
from tests.support.stores import PostgresStores

pytestmark = [pytest.mark.system, pytest.mark.postgres]

SETTINGS = """
[databases]
pooled = host={host} port={port} dbname={database} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 100
logfile =
"""


@pytest.fixture
def pooler(postgres_server: PostgresStores) -> Iterator[str]:
    """The URL of pgbouncer over an empty store, with two server connections for all of its clients."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "install pgbouncer, as .ci/run does"
    with postgres_server.store() as url:
        target = urlsplit(url)
        query = parse_qs(target.query)
        listen = free_port()
        settings = SETTINGS.format(
            host=query["host"][0], port=query["port"][0], database=target.path.lstrip("/"), listen=listen
        )
        with tempfile.TemporaryDirectory() as folder:  # not below pytest's own, which only root may enter
            Path(folder).chmod(0o755)
            configuration = Path(folder) / "pgbouncer.ini"
            configuration.write_text(settings)
            with subprocess.Popen([program, "-q", str(configuration)], **_somebody()) as process:
                try:
                    yield _ready(f"postgresql://postgres@127.0.0.1:{listen}/pooled?prepared_statements=off")
                finally:
                    process.terminate()


def _somebody() -> dict[str, Any]:
    """pgbouncer refuses to run as root."""
    return {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}


def _ready(url: str) -> str:
    """Wait until the pooler answers."""

    async def connect() -> None:
        await (await asyncpg.connect(url.partition("?")[0], statement_cache_size=0)).close()

    deadline = time.monotonic() + 10
    while True:
        try:
            asyncio.run(connect())
        except (OSError, asyncpg.PostgresError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return url


async def exchange(memory: clew.Memory, user: str, times: int) -> list[str]:
    """Record exchanges one after the other; what the history then holds."""
    made = await memory.create_conversation(user_id=user)
    for n in range(times):
        await memory.record_interaction(
            conversation_id=made["id"], user_message=f"{user} {n}", assistant_response="yes", user_id=user
        )
    history = await memory.fetch_chat_history(conversation_id=made["id"], limit=100, user_id=user)
    return [message["content"] for message in history["messages"] if message["role"] == "user"]


async def test_many_callers_share_two_server_connections(pooler: str) -> None:
    async with clew.connect(pooler) as memory:
        users = [f"user-{n}" for n in range(16)]
        histories = await asyncio.gather(*(exchange(memory, user, 10) for user in users))
    assert [*histories] == [[f"{user} {n}" for n in range(10)] for user in users]


async def test_two_processes_worth_of_connections_do_not_meet_each_others_statements(pooler: str) -> None:
    async with clew.connect(pooler) as one, clew.connect(pooler) as other:
        histories = await asyncio.gather(exchange(one, "alice", 20), exchange(other, "bob", 20))
    assert [*histories] == [[f"alice {n}" for n in range(20)], [f"bob {n}" for n in range(20)]]


async def test_every_tool_works_without_prepared_statements(pooler: str) -> None:
    async with clew.connect(pooler, user="alice") as memory:
        made = await memory.create_conversation(title="Plans")
        added = await memory.add_message(conversation_id=made["id"], role="user", content="first", request_id="r")
        assert added == await memory.add_message(
            conversation_id=made["id"], role="user", content="first", request_id="r"
        )
        await memory.update_message(message_id=added["message_id"], content="second")
        await memory.update_conversation(conversation_id=made["id"], title="Better plans")
        revisions = await memory.list_message_revisions(message_id=added["message_id"])
        history = await memory.get_conversation_history(conversation_id=made["id"])
        listed = await memory.list_user_conversations()
    assert [revision["content"] for revision in revisions["revisions"]] == ["first"]
    assert [message["content"] for message in history["messages"]] == ["second"]
    assert [conversation["title"] for conversation in listed["conversations"]] == ["Better plans"]
