"""Writing to stdout and stderr without ever holding the event loop: a stalled reader must not stop Ctrl-C or a clock.

Owns the bytes that wait, in order and within a bound, and the error that ended a descriptor. What is written, and in
which words, is decided elsewhere.
"""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import anyio

MAX_PENDING_BYTES: Final = 1024 * 1024
"""With more than this waiting, whoever writes waits too (and the run's events are dropped and counted, not the run)."""


class Output:
    """One descriptor. `midline`: what was written last did not end its line. `error`: why nothing more is written."""

    def __init__(self, fd: int, writer: Writer) -> None:
        self.fd: Final = fd
        self.is_terminal: Final = os.isatty(fd)
        self.midline = False
        self.error: OSError | None = None
        self._writer = writer

    def write(self, text: str) -> None:
        """Queue text as UTF-8, a `?` for what has none. Nothing once there was an error."""
        if not text or self.error is not None:
            return
        self.midline = not text.endswith("\n")
        self._writer.put(self, text.encode(errors="replace"))

    async def room(self) -> None:
        """Wait while too much waits to be written. Safe to cancel."""
        await self._writer.wait_below(MAX_PENDING_BYTES)

    async def drain(self) -> None:
        """Wait until everything is written, or cannot be. Safe to cancel."""
        await self._writer.wait_below(0)


class Writer:
    """Writes what is queued, in order, in a task of its own. `on_error` is told of each output that fails."""

    def __init__(self, on_error: Callable[[Output], None]) -> None:
        self._on_error = on_error
        self._queue: deque[tuple[Output, bytes]] = deque()
        self._pending = 0
        self._queued = anyio.Event()
        self._moved = anyio.Event()

    def put(self, output: Output, data: bytes) -> None:
        """Queue bytes."""
        self._queue.append((output, data))
        self._pending += len(data)
        self._queued.set()

    async def wait_below(self, limit_bytes: int) -> None:
        """Wait until no more than this is pending."""
        while self._pending > limit_bytes:
            await self._moved.wait()

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._queued.wait()
            self._queued = anyio.Event()
            while self._queue:
                output, data = self._next()
                await self._write(output, data)
                self._pending -= len(data)
                self._moved.set()
                self._moved = anyio.Event()

    def _next(self) -> tuple[Output, bytes]:
        """All at the head of the queue that goes to one output: a write for each read of the agent, not each chunk."""
        output = self._queue[0][0]
        parts = []
        while self._queue and self._queue[0][0] is output:
            parts.append(self._queue.popleft()[1])
        return output, b"".join(parts)

    async def _write(self, output: Output, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest and output.error is None:
                if not _takes_some(output.fd):
                    await anyio.wait_writable(output.fd)
                with suppress(BlockingIOError):  # somebody has made it non-blocking: looked at again above
                    rest = rest[os.write(output.fd, rest[: select.PIPE_BUF]) :]
        except OSError as error:
            output.error = error
            self._on_error(output)


def _takes_some(fd: int) -> bool:
    """True if PIPE_BUF bytes can be written without blocking (POSIX, poll), or if writing will fail at once."""
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    return bool(poll.poll(0))


def same_file(one: int, other: int) -> bool:
    """True if two descriptors lead to the same place: one terminal, or `2>&1`."""
    return os.path.sameopenfile(one, other)
