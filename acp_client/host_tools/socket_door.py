"""The private socket by which bridges reach the tools of one run: who may connect, and how many.

Owns the check of who comes. Where the socket lies is `folder`'s, what is said over a connection `lines`'.
"""

from __future__ import annotations

import hmac
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import anyio

from acp_client.host_tools.link import Link, accept
from acp_client.logs import get_logger

MAX_CONNECTIONS: Final = 16
"""Of one run, that have shown the secret; agents have been seen to start two bridges."""
MAX_WAITING: Final = 16
"""That have not; one more takes the place of the first. A bridge sends the secret as soon as it is connected, so who
only waits cannot keep it out."""
SECRET_SECONDS: Final = 5.0
"""Until the secret is there."""
MAX_SECRET_BYTES: Final = 256

Talk: TypeAlias = Callable[[Link, bytes], Awaitable[None]]


class Doorkeeper:
    """Lets in whom it may, and hands each connection to `talk` with what came after the secret."""

    def __init__(self, secret: str, talk: Talk, *, secret_seconds: float = SECRET_SECONDS) -> None:
        self._secret = secret.encode()
        self._talk = talk
        self._secret_seconds = secret_seconds
        self._waiting: list[anyio.CancelScope] = []
        self._inside = 0

    async def serve(self, listener: socket.socket) -> None:
        """Take connections until it is cancelled; with it, all of them end."""
        async with anyio.create_task_group() as tasks:
            while True:
                link = await accept(listener)
                if peer_uid(link.socket) != os.geteuid():
                    link.close()  # without a word
                    continue
                if len(self._waiting) >= MAX_WAITING:
                    self._waiting.pop(0).cancel()
                wait = anyio.CancelScope(deadline=anyio.current_time() + self._secret_seconds)
                self._waiting.append(wait)
                tasks.start_soon(self._receive, link, wait)

    async def _receive(self, link: Link, wait: anyio.CancelScope) -> None:
        """One connection, to its end. Who does not know the secret is sent away without a word."""
        try:
            rest = await self._check(link, wait)
            if rest is not None and self._inside < MAX_CONNECTIONS:
                await self._let_in(link, rest)
        except Exception:  # noqa: BLE001  # the boundary: one connection must not end the others, nor the run
            get_logger(__name__).exception("a connection to the host tools failed")
        finally:
            link.close()

    async def _let_in(self, link: Link, rest: bytes) -> None:
        self._inside += 1
        try:
            await self._talk(link, rest)
        finally:
            self._inside -= 1

    async def _check(self, link: Link, wait: anyio.CancelScope) -> bytes | None:
        """What came after the right secret; None for a wrong one, or none in time."""
        got = b""
        with wait:
            while b"\n" not in got and len(got) <= MAX_SECRET_BYTES:
                more = await link.receive()
                if not more:
                    break
                got += more
        if wait in self._waiting:  # not sent away
            self._waiting.remove(wait)
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
