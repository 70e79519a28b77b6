"""The file descriptors: bytes in, bytes out, never blocked on either.

Owns fds 0, 1 and 2 of the agent. Nothing here knows a frame's meaning. A descriptor is written only
while `poll` says that it takes PIPE_BUF bytes, so that one thread can read stdin, see its end and
see a signal while nobody reads our output; O_NONBLOCK would leak to whoever shares the pipe.
"""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PIPE_BUF = 4096  # a pipe that is ready takes so much at once; also the largest atomic write
_READ_BYTES = 65_536  # a pipe's usual capacity
MAX_LINE_BYTES = 256 * 1024 * 1024  # far above the largest frame that a test sends
MAX_PENDING_BYTES = 64 * 1024 * 1024  # unread answers; above it the client is not read either


class LineTooLongError(Exception):
    """The client sent a line above MAX_LINE_BYTES."""


class Outlet:
    """One descriptor to write to: a queue of bytes, each with the size of its single writes."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.broken = False
        self.pending_bytes = 0
        self._queue: list[tuple[memoryview, int]] = []
        self._held: list[bytes] | None = None
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)

    @property
    def empty(self) -> bool:
        """True if nothing waits to be written."""
        return not self._queue

    def hold(self) -> None:
        """Collect all that is put from here on."""
        self._held = []

    def release(self) -> None:
        """Put what was collected as one piece."""
        held, self._held = self._held, None
        self.put(b"".join(held or ()))

    def put(self, data: bytes, piece_bytes: int = PIPE_BUF) -> None:
        """Queue bytes and write what can be written now; dropped if the reader is gone."""
        if self._held is not None:
            self._held.append(data)
        elif data and not self.broken:
            self._queue.append((memoryview(data), piece_bytes))
            self.pending_bytes += len(data)
            self.flush()

    def flush(self) -> None:
        """Write as much as the reader's pipe takes without blocking."""
        while self._queue and self._poll.poll(0):
            data, piece_bytes = self._queue[0]
            try:
                written = os.write(self.fd, data[:piece_bytes])
            except OSError:  # the reader closed its end; nothing can be written to it any more
                self.broken = True
                self._queue.clear()
                self.pending_bytes = 0
                return
            self.pending_bytes -= written
            if written == len(data):
                del self._queue[0]
            else:
                self._queue[0] = (data[written:], piece_bytes)


class Inlet:
    """stdin: whole lines, or notice that the other end is gone."""

    def __init__(self, fd: int, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self.fd = fd
        self.reading = False
        self.watched = True  # False: deaf to bytes and to EOF
        self.eof = False
        self.hung_up = False  # EOF is known to come, though bytes may be unread before it
        self._max_line_bytes = max_line_bytes
        self._rest = bytearray()

    def events(self) -> int | None:
        """What to poll for; None for nothing at all."""
        if not self.watched or self.eof or (self.hung_up and not self.reading):
            return None
        return select.POLLIN if self.reading else 0

    def lines(self) -> Iterator[bytes]:
        """Read once; the whole lines that are there by now, and at EOF the torn rest."""
        data = os.read(self.fd, _READ_BYTES)
        searched = len(self._rest)
        self._rest += data
        start = 0
        while (end := self._rest.find(b"\n", max(start, searched))) >= 0:
            yield bytes(self._rest[start : end + 1])
            start = end + 1
        del self._rest[:start]
        if not data:
            self.eof = True
            if self._rest:
                yield bytes(self._rest)
        elif len(self._rest) > self._max_line_bytes:
            raise LineTooLongError


class Wire:
    """The three descriptors together, and a fourth that signals wake us by."""

    def __init__(self, stdin: Inlet | None = None, stdout: Outlet | None = None, stderr: Outlet | None = None) -> None:
        self.stdin = stdin or Inlet(0)
        self.stdout = stdout or Outlet(1)
        self.stderr = stderr or Outlet(2)
        self.max_pending_bytes = MAX_PENDING_BYTES
        self._wakeup_fd: int | None = None

    def wake_by(self, fd: int) -> None:
        """Also wake when this descriptor is readable."""
        self._wakeup_fd = fd

    def exchange(self, timeout_seconds: float | None) -> bool:
        """Wait until something can be moved and write what can be; True if stdin can be read."""
        poll = select.poll()
        events = self.stdin.events()
        if self.stdout.pending_bytes > self.max_pending_bytes:
            events = None
        if events is not None:
            poll.register(self.stdin.fd, events)
        for outlet in (self.stdout, self.stderr):
            if not outlet.empty:
                poll.register(outlet.fd, select.POLLOUT)
        if self._wakeup_fd is not None:
            poll.register(self._wakeup_fd, select.POLLIN)
        found = dict(poll.poll(None if timeout_seconds is None else timeout_seconds * 1000))
        self.stdout.flush()
        self.stderr.flush()
        if self._wakeup_fd is not None and self._wakeup_fd in found:
            os.read(self._wakeup_fd, PIPE_BUF)
        if self.stdin.fd not in found:
            return False
        self.stdin.hung_up = self.stdin.hung_up or bool(found[self.stdin.fd] & select.POLLHUP)
        return self.stdin.reading

    def drain(self, seconds: float) -> None:
        """Give the client a bounded time to read what is written; stdin is left alone."""
        deadline = time.monotonic() + seconds
        self.stdin.watched = False
        while not (self.stdout.empty and self.stderr.empty):
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self.exchange(left)

    def close(self, name: str) -> None:
        """Close one of ours for the other end; the number stays taken, by /dev/null."""
        mode = os.O_RDONLY if name == "stdin" else os.O_WRONLY
        null = os.open(os.devnull, mode)
        if name == "stdin":
            self.stdin.watched = False
            os.dup2(null, self.stdin.fd)
        else:
            outlet = self.stdout if name == "stdout" else self.stderr
            os.dup2(null, outlet.fd)
        os.close(null)
