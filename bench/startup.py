"""How long a person or a client waits for a start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.report import Figure, Report

ROUNDS = 5
CLEW = str(Path(sys.executable).with_name("clew"))
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def measure(report: Report) -> None:
    """The start of a program, of the command line and of a server over standard input and output."""
    bare = median(_timed([sys.executable, "-c", "pass"]) for _ in range(ROUNDS))
    imported = median(_timed([sys.executable, "-c", "import clew"]) for _ in range(ROUNDS))
    report.add(
        Figure("`import clew`", imported - bare, " s", at_most=0.15, detail=f"a bare Python starts in {bare:.3f} s")
    )
    helped = median(_timed([CLEW, "--help"]) for _ in range(ROUNDS))
    report.add(Figure("`clew --help`", helped, " s", at_most=0.4))
    report.add(Figure("`clew stdio`, first answer", median(_first_answer() for _ in range(ROUNDS)), " s", at_most=1.2))


def _timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _first_answer() -> float:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CLEW_DATABASE_URL": f"sqlite:///{folder}/clew.db"}
        began = time.perf_counter()
        with subprocess.Popen(
            [CLEW, "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        ) as server:
            assert server.stdin and server.stdout
            server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
            server.stdin.flush()
            answer = json.loads(server.stdout.readline())
            elapsed = time.perf_counter() - began
            server.stdin.close()
        assert answer["id"] == 1
    return elapsed
