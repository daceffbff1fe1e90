"""Standard input and output, taken away from everything else in the process.

Two threads read and write the bare descriptors, without buffers of Python's, so that a client that neither writes nor
reads can hold up nothing but its own connection, and the process can end in the middle of either.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress

CHUNK = 1 << 16
AHEAD = 64


class Wire:
    """Lines from the client and to it."""

    def __init__(self) -> None:
        self._input, self._output = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(_standard_error() or nothing, 1)  # whatever prints, prints to standard error
        os.close(nothing)
        self._loop = asyncio.get_running_loop()
        self._outbox: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        _start("clew-stdout", self._send)

    def lines(self) -> asyncio.Queue[bytes]:
        """The lines of the input as they come; an empty one is the end."""
        lines: asyncio.Queue[bytes] = asyncio.Queue(AHEAD)
        _start("clew-stdin", lambda: self._receive(lines))
        return lines

    async def write(self, line: bytes) -> None:
        """Send a line; returns when it is sent, or nobody is there to read it."""
        sent: asyncio.Future[None] = self._loop.create_future()
        self._outbox.put((line + b"\n", sent))
        await sent

    def _receive(self, lines: asyncio.Queue[bytes]) -> None:
        with suppress(RuntimeError):  # the loop is gone, and with it the reader of the lines
            rest: list[bytes] = []
            while chunk := self._chunk():
                *whole, last = chunk.split(b"\n")
                for line in whole:
                    self._hand_over(lines, b"".join([*rest, line]) + b"\n")
                    rest = []
                rest.append(last)
            if any(rest):
                self._hand_over(lines, b"".join(rest))
            self._hand_over(lines, b"")

    def _chunk(self) -> bytes:
        """What there is to read; nothing at the end, and where the input broke."""
        try:
            return os.read(self._input, CHUNK)
        except OSError:
            return b""

    def _hand_over(self, lines: asyncio.Queue[bytes], line: bytes) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(line), self._loop).result()

    def _send(self) -> None:
        while True:
            line, sent = self._outbox.get()
            with suppress(OSError):  # the client is gone; its input ends too
                left = memoryview(line)
                while left:
                    left = left[os.write(self._output, left) :]
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_tell, sent)


def _tell(sent: asyncio.Future[None]) -> None:
    if not sent.done():
        sent.set_result(None)


def _standard_error() -> int | None:
    try:
        os.fstat(2)
    except OSError:
        return None
    return 2


def _start(name: str, work: Callable[[], None]) -> None:
    threading.Thread(target=work, name=name, daemon=True).start()
