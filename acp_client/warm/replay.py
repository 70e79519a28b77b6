"""What an agent was told and has said before its run: told and said again when the run is there.

So the run's own code greets the agent and judges its answer, as it does everywhere. A transport over another one; owns
the record. (ACP v1, initialization.)
"""

from __future__ import annotations

from collections import deque
from typing import Final

import anyio
import anyio.lowlevel

from acp_client.protocol.transport import Transport

MAX_RECORD_BYTES: Final = 1024 * 1024
"""What an agent may say before it has a session; the answer to initialize has some kilobytes."""


class Replay:
    """Swallows `greeting`, which was sent already, then gives what was recorded; from there on the transport itself."""

    def __init__(self, transport: Transport, greeting: bytes) -> None:
        self._transport: Final = transport
        self._expected = memoryview(greeting)
        self._record: deque[bytes] = deque()
        self._recorded_bytes = 0
        self._greeted = anyio.Event()

    def record(self, data: bytes) -> bool:
        """Keep what was read ahead of the run; False once it is too much."""
        self._record.append(data)
        self._recorded_bytes += len(data)
        return self._recorded_bytes <= MAX_RECORD_BYTES

    async def receive(self) -> bytes:
        """The record, once the run has greeted; then what comes."""
        if not self._greeted.is_set():
            await self._greeted.wait()
        if self._record:
            await anyio.lowlevel.checkpoint()
        return self._recorded() or await self._transport.receive()

    def receive_nowait(self) -> bytes:
        """The same without waiting."""
        if not self._greeted.is_set():
            return b""
        return self._recorded() or self._transport.receive_nowait()

    def _recorded(self) -> bytes:
        return self._record.popleft() if self._record else b""

    def send_nowait(self, data: memoryview) -> int:
        """Write what fits; the greeting is at the other end already."""
        if not self._expected:
            return self._transport.send_nowait(data)
        size = min(len(data), len(self._expected))
        assert data[:size] == self._expected[:size]  # of the same spec, by the same code
        self._expected = self._expected[size:]
        if not self._expected:
            self._greeted.set()
        return size

    async def wait_sendable(self) -> None:
        """As the transport's."""
        await self._transport.wait_sendable()

    def close_send(self) -> None:
        """As the transport's. A run that ends without a greeting has not asked for what was answered."""
        if self._expected:
            self._record.clear()
        self._greeted.set()
        self._transport.close_send()

    def close(self) -> None:
        """As the transport's."""
        self.close_send()
        self._transport.close()
