"""Transports: over file descriptors (a child's pipes, an agent's own stdio) and in memory (for tests).

Owns descriptors and the memory buffers. The memory pair is public: both real sides of the protocol in one process,
bounded like a pipe, so that back-pressure is the same as in life.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Final

import anyio
import anyio.lowlevel

from acp_client.loop.descriptors import make_non_blocking, write_quietly
from acp_client.loop.waits import Readable, Rest, Start

READ_BYTES: Final = 64 * 1024
"""The capacity of a Linux pipe: one read takes all that is there, and larger pieces only cost cache misses."""

MAX_PIPE_BYTES: Final = 1024 * 1024
"""What a Linux pipe holds at the most unless root made it larger: what can still be there when the writer has gone."""

DEFAULT_CAPACITY_BYTES: Final = READ_BYTES
"""What one direction of a memory pair holds before its writer has to wait."""


_OPEN: Final[set[FdReader]] = set()
"""All that are open, for a fork: its child would hold our end of a pipe, and the other side would see no EOF."""


def _close_in_child() -> None:
    for reader in list(_OPEN):
        reader.abandon()


os.register_at_fork(after_in_child=_close_in_child)


class FdReader:
    """Reads one descriptor, which it owns from now on.

    Pipes and sockets are switched to non-blocking mode, unless the caller `is_ready`: it has done so. Anything else (a
    file, `/dev/null`) can always be read.
    """

    def __init__(self, fd: int, *, is_ready: bool = False) -> None:
        self._fd: int | None = fd
        self._waits = is_ready or make_non_blocking(fd)
        self._may_block = not is_ready and self._waits and os.get_blocking(fd)
        self._bytes_left: int | None = None
        self._is_waited_for = False
        self._readable: Readable | None = None
        _OPEN.add(self)

    async def receive(self) -> bytes:
        """What is there, at most `READ_BYTES`; empty at EOF, after an error, after `close`. Safe to cancel."""
        while (fd := self._fd) is not None:
            try:
                if self._waits and self._bytes_left is None:
                    await self._wait(fd)
                else:
                    await anyio.lowlevel.checkpoint()
                return self._read()
            except BlockingIOError:
                if self._bytes_left is not None:
                    break
            except anyio.ClosedResourceError:  # woken by `finish` or `close`
                continue
        return b""

    def hand_over(self, on_data: Callable[[bytes], Rest | None], start: Start) -> None:
        """Give what comes to `on_data` as soon as it is there, at most `READ_BYTES` at once; empty at its end, once.

        In place of `receive`, and faster: no task waits, on asyncio. `on_data` returns what is to be awaited before
        the next read, or None; what it raises is raised in the group whose `start_soon` is `start`. A second call goes
        on with another receiver.
        """
        if self._readable is not None:
            self._readable.close()
        if self._fd is None:
            on_data(b"")
            return

        def read() -> Rest | None:
            try:
                data = self._read()
            except BlockingIOError:
                if self._bytes_left is None:
                    return None
                data = b""
            if not data:
                readable.close()
            return on_data(data)

        readable = self._readable = Readable(self._fd, read)
        if not self._waits or self._bytes_left is not None:
            readable.always()
        readable.open(start)

    async def _wait(self, fd: int) -> None:
        self._is_waited_for = True
        try:
            await anyio.wait_readable(fd)
        finally:
            self._is_waited_for = False

    def receive_nowait(self) -> bytes:
        """What is in the pipe now; empty if there is nothing."""
        try:
            return self._read() if self._waits else b""
        except BlockingIOError:
            return b""

    def finish(self) -> None:
        """The writer is gone: `receive` gives what is in the pipe now, then EOF, though others may hold the pipe."""
        if self._fd is not None and self._bytes_left is None:
            self._bytes_left = MAX_PIPE_BYTES
            if self._is_waited_for:
                anyio.notify_closing(self._fd)
            if self._readable is not None:
                self._readable.always()

    def close(self) -> None:
        """Close the descriptor; who waits in `receive`, or for what is handed over, gets EOF. Idempotent."""
        if self._readable is not None:
            self._readable.always()
        if self._fd is not None:
            _OPEN.discard(self)
            fd, self._fd = self._fd, None
            _close(fd, waited_for=self._is_waited_for)

    def abandon(self) -> None:
        """In the child of a fork: close what is the parent's, and touch no event loop."""
        _OPEN.discard(self)
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _read(self) -> bytes:
        if self._fd is None or (self._may_block and self._bytes_left is not None):
            return b""  # a terminal: what is typed later is not waited for
        try:
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            raise
        except OSError:  # torn: there is nothing more to read
            return b""
        if self._bytes_left is not None:
            self._bytes_left -= len(data)
            return data if self._bytes_left >= 0 else b""
        return data


class FdTransport(FdReader):
    """A transport over two descriptors, which it owns from now on: `close` closes both."""

    def __init__(self, read_fd: int, write_fd: int, *, is_ready: bool = False) -> None:
        super().__init__(read_fd, is_ready=is_ready)
        self._write_fd: int | None = write_fd
        self._writes_wait = is_ready or make_non_blocking(write_fd)
        self._is_room_waited_for = False

    def send_nowait(self, data: memoryview) -> int:
        """Write what fits. Raises BrokenPipeError (an OSError) when the reader is gone or we have closed."""
        if self._write_fd is None:
            raise BrokenPipeError("our sending side is closed")
        try:
            return write_quietly(self._write_fd, data)
        except BlockingIOError:
            return 0

    async def wait_sendable(self) -> None:
        """Return when there is room, or when writing would fail. Safe to cancel."""
        if self._write_fd is None or not self._writes_wait:
            await anyio.lowlevel.checkpoint()
            return
        self._is_room_waited_for = True
        try:
            with contextlib.suppress(anyio.ClosedResourceError):  # closed meanwhile: the next write says so
                await anyio.wait_writable(self._write_fd)
        finally:
            self._is_room_waited_for = False

    def abandon(self) -> None:
        """As for the reader, for both descriptors."""
        super().abandon()
        if self._write_fd is not None:
            os.close(self._write_fd)
            self._write_fd = None

    def close_send(self) -> None:
        """Close the writing descriptor. Idempotent."""
        if self._write_fd is not None:
            fd, self._write_fd = self._write_fd, None
            _close(fd, waited_for=self._is_room_waited_for)

    def close(self) -> None:
        """Close both descriptors. Idempotent."""
        self.close_send()
        super().close()


def _close(fd: int, *, waited_for: bool) -> None:
    if waited_for:
        anyio.notify_closing(fd)
    os.close(fd)


class _Channel:
    """One direction of a memory pair."""

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity = capacity_bytes
        self.buffer = bytearray()
        self.writer_closed = False
        self.reader_closed = False
        self._changed = anyio.Event()

    def change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def changed(self) -> None:
        await self._changed.wait()


class MemoryTransport:
    """One end of a pair; make both with `memory_pair`."""

    def __init__(self, incoming: _Channel, outgoing: _Channel) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def receive(self) -> bytes:
        """All bytes that are there; empty at EOF. Safe to cancel."""
        channel = self._incoming
        while not (channel.buffer or channel.writer_closed or channel.reader_closed):
            await channel.changed()
        return self.receive_nowait()

    def receive_nowait(self) -> bytes:
        """All bytes that are there now."""
        channel = self._incoming
        data = b"" if channel.reader_closed else bytes(channel.buffer)
        channel.buffer.clear()
        channel.change()
        return data

    def send_nowait(self, data: memoryview) -> int:
        """Write what fits. Raises BrokenPipeError once the other end is closed, or this one for sending."""
        channel = self._outgoing
        if channel.reader_closed or channel.writer_closed:
            raise BrokenPipeError("the memory pair is closed")
        taken = data[: channel.capacity - len(channel.buffer)]
        channel.buffer += taken
        channel.change()
        return len(taken)

    async def wait_sendable(self) -> None:
        """Return when there is room, or when writing would fail. Safe to cancel."""
        channel = self._outgoing
        while len(channel.buffer) >= channel.capacity and not (channel.reader_closed or channel.writer_closed):
            await channel.changed()

    def close_send(self) -> None:
        """The other end sees EOF after what is buffered."""
        self._outgoing.writer_closed = True
        self._outgoing.change()

    def close(self) -> None:
        """Close both directions."""
        self.close_send()
        self._incoming.reader_closed = True
        self._incoming.change()


def memory_pair(capacity_bytes: int = DEFAULT_CAPACITY_BYTES) -> tuple[MemoryTransport, MemoryTransport]:
    """Two connected transports; what one sends the other receives. Call it inside a running event loop.

    Example: `Peer(ours, …)` on one end and `acp_agent.serve(agent, transport=theirs)` on the other.
    """
    there, back = _Channel(capacity_bytes), _Channel(capacity_bytes)
    return MemoryTransport(back, there), MemoryTransport(there, back)
