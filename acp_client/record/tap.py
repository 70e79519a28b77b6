"""A transport that tells what went through it: the bytes of both directions, in order, as they were read and written.

Owns nothing of the bytes and changes none. Waits before it reads while its listener is behind, so that an agent that
writes faster than its transcript meets back-pressure.
"""

from __future__ import annotations

from typing import Protocol

from acp_client.protocol.transport import Transport


class Listener(Protocol):
    """Who is told of the bytes."""

    @property
    def is_behind(self) -> bool:
        """True while nothing more should be read."""
        ...

    def received(self, data: bytes) -> None:
        """The other side sent these."""
        ...

    def sent(self, data: bytes) -> None:
        """The other side was sent these."""
        ...

    async def caught_up(self) -> None:
        """Return when it is not behind any more. Safe to cancel."""
        ...


class Tap:
    """A transport around another one."""

    def __init__(self, transport: Transport, listener: Listener) -> None:
        self._transport = transport
        self._listener = listener

    async def receive(self) -> bytes:
        """As the transport's own; waits for the listener first."""
        while self._listener.is_behind:
            await self._listener.caught_up()
        data = await self._transport.receive()
        if data:
            self._listener.received(data)
        return data

    def receive_nowait(self) -> bytes:
        """As the transport's own; nothing while the listener is behind."""
        if self._listener.is_behind:
            return b""
        data = self._transport.receive_nowait()
        if data:
            self._listener.received(data)
        return data

    def send_nowait(self, data: memoryview) -> int:
        """As the transport's own."""
        sent = self._transport.send_nowait(data)
        if sent:
            self._listener.sent(bytes(data[:sent]))
        return sent

    async def wait_sendable(self) -> None:
        """As the transport's own."""
        await self._transport.wait_sendable()

    def close_send(self) -> None:
        """As the transport's own."""
        self._transport.close_send()

    def close(self) -> None:
        """As the transport's own."""
        self._transport.close()
