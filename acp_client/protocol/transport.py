"""What a peer needs of a byte stream: a small protocol, implemented over file descriptors and in memory.

Owns nothing but the shape. Writing is decided synchronously (`send_nowait`), so that a frame costs no task switch
while there is room; only a full pipe waits.
"""

from __future__ import annotations

from typing import Protocol


class Transport(Protocol):
    """A bidirectional byte stream with one reader and one writer task."""

    async def receive(self) -> bytes:
        """The next bytes, as many as are there; empty at EOF, also where the stream broke. Safe to cancel."""
        ...

    def receive_nowait(self) -> bytes:
        """What has arrived, without waiting; empty if there is nothing (EOF is told by `receive` alone)."""
        ...

    def send_nowait(self, data: memoryview) -> int:
        """Write what fits now and return how much that was, 0 for none. Raises OSError once the reader is gone."""
        ...

    async def wait_sendable(self) -> None:
        """Return when `send_nowait` may take more. Safe to cancel."""
        ...

    def close_send(self) -> None:
        """Let the other side see EOF. Idempotent, never blocks."""
        ...

    def close(self) -> None:
        """Release everything; a task that waits in `receive` gets EOF. Idempotent, never blocks."""
        ...
