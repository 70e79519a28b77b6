"""The private socket by which bridges reach the tools of one run: who may connect, how many, and how it goes again.

Owns the folder, the socket and the check of who comes. What is said over a connection is `lines`'.
"""

from __future__ import annotations

import hmac
import os
import shutil
import socket
import struct
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

import anyio

from acp_client.host_tools.link import Link, accept
from acp_client.logs import get_logger

MAX_CONNECTIONS: Final = 16
"""Of one run; agents have been seen to start two bridges."""
SECRET_SECONDS: Final = 5.0
"""Until the secret is there, which a bridge sends first."""
MAX_SECRET_BYTES: Final = 256
MAX_PATH_BYTES: Final = 100
"""Of the socket's path: the kernel takes 107, some 103."""

Talk: TypeAlias = Callable[[Link, bytes], Awaitable[None]]


def make_folder() -> Path:
    """A folder that only this user may enter, short enough for a socket in it. Blocks; raises OSError."""
    for parent in (tempfile.gettempdir(), "/tmp"):  # noqa: S108  # a private folder is made in it
        if len(os.fsencode(parent)) + len("/acp-tools-12345678/s") <= MAX_PATH_BYTES:
            return Path(tempfile.mkdtemp(prefix="acp-tools-", dir=parent))
    raise OSError(
        f"no temporary folder has a path short enough for a socket (at most {MAX_PATH_BYTES} bytes): set TMPDIR"
    )


def remove_folder(folder: Path) -> None:
    """Gone, with what is in it. Blocks; never raises."""
    shutil.rmtree(folder, ignore_errors=True)


class Doorkeeper:
    """Lets in whom it may, and hands each connection to `talk` with what came after the secret."""

    def __init__(self, secret: str, talk: Talk) -> None:
        self._secret = secret.encode()
        self._talk = talk
        self._inside = 0

    async def serve(self, listener: socket.socket) -> None:
        """Take connections until it is cancelled; with it, all of them end."""
        async with anyio.create_task_group() as tasks:
            while True:
                link = await accept(listener)
                if self._inside < MAX_CONNECTIONS and peer_uid(link.socket) == os.geteuid():
                    self._inside += 1
                    tasks.start_soon(self._receive, link)
                else:
                    link.close()  # without a word

    async def _receive(self, link: Link) -> None:
        """One connection, to its end. Who does not know the secret is sent away without a word."""
        try:
            rest = await self._check(link)
            if rest is not None:
                await self._talk(link, rest)
        except Exception:  # noqa: BLE001  # the boundary: one connection must not end the others, nor the run
            get_logger(__name__).exception("a connection to the host tools failed")
        finally:
            link.close()
            self._inside -= 1

    async def _check(self, link: Link) -> bytes | None:
        """What came after the right secret; None for a wrong one, or none in time."""
        got = b""
        with anyio.move_on_after(SECRET_SECONDS):
            while b"\n" not in got and len(got) <= MAX_SECRET_BYTES:
                more = await link.receive()
                if not more:
                    return None
                got += more
        secret, newline, rest = got.partition(b"\n")
        return rest if newline and hmac.compare_digest(secret, self._secret) else None


def peer_uid(link: socket.socket) -> int | None:
    """The user at the other end of a unix socket, as the kernel knows; None where it does not say."""
    try:
        if hasattr(socket, "SO_PEERCRED"):  # Linux: struct ucred
            credentials = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", credentials)[1])
        credentials = link.getsockopt(0, _LOCAL_PEERCRED, _XUCRED_BYTES)  # macOS, the BSDs: struct xucred
        return int(struct.unpack("=II", credentials[:8])[1])
    except (OSError, struct.error):
        return None


_LOCAL_PEERCRED: Final = 1
_XUCRED_BYTES: Final = 76
