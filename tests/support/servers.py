"""Clew as a person or a client starts it: a process of its own, over HTTP on a free port or over standard input.

Every server is stopped by the handle that started it. Nothing of the environment's own settings reaches one.
"""

from __future__ import annotations

import http.client
import json
import os
import queue
import re
import shutil
import subprocess
import sysconfig
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import clew

PATIENCE = 20.0
SERVES = re.compile(r"^Clew (\S+) serves MCP at http://(\S+):(\d+)/mcp and keeps its data in .+$", re.MULTILINE)
BOTH = "application/json, text/event-stream"


def clew_command() -> str:
    """The `clew` that was installed beside this Python."""
    found = shutil.which("clew", path=sysconfig.get_path("scripts"))
    assert found, "the package is not installed: there is no `clew` beside this Python"
    return found


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with these settings and no others."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")} | dict(settings)


def run_clew(
    *arguments: str, settings: Mapping[str, str] | None = None, input: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end."""
    return subprocess.run(
        [clew_command(), *arguments],
        input=input,
        capture_output=True,
        timeout=60,
        env=environment(settings or {}),
        check=False,
    )


def rpc(method: str, params: Mapping[str, Any] | None = None, id: str | int = 1) -> dict[str, Any]:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": dict(params or {})}


def tool_call(tool: str, arguments: Mapping[str, Any], id: str | int = 1) -> dict[str, Any]:
    """A call of a tool as MCP writes it."""
    return rpc("tools/call", {"name": tool, "arguments": dict(arguments)}, id)


@dataclass(frozen=True)
class Reply:
    """What an HTTP request was answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def message(self) -> dict[str, Any]:
        """The JSON-RPC message: the body itself, or the last event of a stream."""
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            *_, data = re.findall(rb"^data: ?(.*?)\r?$", self.body, re.MULTILINE)
            message: dict[str, Any] = json.loads(data)
            return message
        message = self.json()
        return message


@dataclass
class HttpServer:
    """A running `clew serve`."""

    process: subprocess.Popen[bytes]
    log: Path
    port: int = 0
    host: str = "127.0.0.1"
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json", "Accept": BOTH})

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/mcp"

    @property
    def errors(self) -> str:
        return self.log.read_text(errors="replace")

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One request, with exactly this method, path and body; `headers` beside or instead of the usual ones."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request(method, path, body, self.headers | dict(headers or {}))
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, named, response.read())
        finally:
            connection.close()

    def post(self, message: object, headers: Mapping[str, str] | None = None) -> Reply:
        """Post a message to `/mcp`: bytes as they are, anything else as JSON."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.request("POST", "/mcp", body, headers)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a tool's call."""
        reply = self.post(tool_call(tool, arguments))
        assert reply.status == 200, reply
        result: dict[str, Any] = reply.message()["result"]
        return result

    def wait_until_it_serves(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not (found := SERVES.search(self.errors)):
            assert self.process.poll() is None, f"clew serve ended with {self.process.returncode}:\n{self.errors}"
            assert time.monotonic() < deadline, f"clew serve does not say where it serves:\n{self.errors}"
            time.sleep(0.01)
        self.port = int(found[3])
        health = self.request("GET", "/healthz").json()
        assert health == {"status": "ok", "version": clew.__version__}, "something else answers on this port"


@contextmanager
def http_server(folder: Path, database_url: str, *options: str, **settings: str) -> Iterator[HttpServer]:
    """`clew serve` on a free port, over this database; its log lies in `folder`."""
    log = folder / f"serve-{time.monotonic_ns()}.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [clew_command(), "serve", "--port", "0", *options],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            env=environment({"CLEW_DATABASE_URL": database_url, **settings}),
        )
    server = HttpServer(process, log)
    try:
        server.wait_until_it_serves()
        yield server
    finally:
        stop(process)


class StdioServer:
    """A running `clew stdio`, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout
        self.process = process
        self._input = process.stdin
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, output: Any) -> None:
        for line in output:
            self._lines.put(line)

    def send(self, message: object) -> None:
        """Send a message: bytes as they are, anything else as JSON."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self._input.write(line + b"\n")
        self._input.flush()

    def receive(self, timeout: float = PATIENCE) -> dict[str, Any]:
        """The next message."""
        message: dict[str, Any] = json.loads(self._lines.get(timeout=timeout))
        return message

    def ask(self, message: object, timeout: float = PATIENCE) -> dict[str, Any]:
        self.send(message)
        return self.receive(timeout)

    def close(self) -> None:
        """Let go of the pipes of a process that has ended."""
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream
            stream.close()

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a tool's call."""
        result: dict[str, Any] = self.ask(tool_call(tool, arguments))["result"]
        return result


@contextmanager
def stdio_server(database_url: str, *, protocol: str = "2025-11-25", **settings: str) -> Iterator[StdioServer]:
    """`clew stdio` over this database, after the handshake for this version of the protocol."""
    process = subprocess.Popen(
        [clew_command(), "stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment({"CLEW_DATABASE_URL": database_url, **settings}),
    )
    server = StdioServer(process)
    try:
        for message in handshake(protocol):
            server.send(message)
        assert server.receive()["id"] == "hello"
        yield server
    finally:
        stop(process)
        server.close()


def handshake(protocol: str) -> list[dict[str, Any]]:
    """How a client of the handshake era begins. The answer's id is `hello`."""
    client = {"name": "tests", "version": "1"}
    params = {"protocolVersion": protocol, "capabilities": {}, "clientInfo": client}
    return [rpc("initialize", params, "hello"), {"jsonrpc": "2.0", "method": "notifications/initialized"}]


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that we started: politely, then for good."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
