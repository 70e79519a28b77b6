"""One unix socket, read and written without blocking the event loop. The bytes only.

The stream of the event loop's own library would do, but one that is cancelled as the other side closes leaves an
`InvalidStateError` in the log on asyncio; to wait for a descriptor does not.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final

import anyio
import anyio.lowlevel

READ_BYTES: Final = 64 * 1024
BACKLOG: Final = 32
FULL_SECONDS: Final = 0.1
"""Before another look at a connection that could not be taken, for want of a descriptor."""


class Link:
    """A connected socket, which it owns. One task may read and one may write; cancelling either loses no byte order."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self.socket: Final = connected

    async def receive(self) -> bytes:
        """What there is; nothing once the other side has closed, or is gone."""
        await anyio.lowlevel.checkpoint()
        while True:
            try:
                return self.socket.recv(READ_BYTES)
            except BlockingIOError:
                await anyio.wait_readable(self.socket)
            except OSError:
                return b""

    async def send(self, data: bytes) -> None:
        """All of it. Raises OSError where nobody reads any more."""
        view = memoryview(data)
        while view:
            try:
                view = view[self.socket.send(view) :]
            except BlockingIOError:
                await anyio.wait_writable(self.socket)

    def close(self) -> None:
        """No task may wait for it any more."""
        self.socket.close()


def listen(path: Path) -> socket.socket:
    """A socket at this path, listening. Raises OSError."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.setblocking(False)
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


async def accept(listener: socket.socket) -> Link:
    """The next connection. Where the system gives none, it is tried again a little later."""
    while True:
        await anyio.wait_readable(listener)
        try:
            connected, _ = listener.accept()
        except (BlockingIOError, ConnectionError):
            continue  # it went again
        except OSError:
            await anyio.sleep(FULL_SECONDS)
        else:
            return Link(connected)
