"""A peer with a test on the other end of its wire."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel

from acp_client.protocol.dispatch import Dispatcher
from acp_client.protocol.peer import Peer
from acp_client.protocol.states import FrameDropped, NoiseReceived, TheirRequest
from acp_client.protocol.streams import DEFAULT_CAPACITY_BYTES, memory_pair

SECONDS = 5.0


class Seen:
    """Writes down what a peer tells, in order."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.bytes = 0

    def on_read(self, size: int) -> None:
        """Count."""
        self.bytes += size

    def on_notification(self, message: dict[str, Any]) -> None:
        """By method."""
        self.told.append(message["method"])

    def on_texts(self, texts: list[str], like: dict[str, Any]) -> None:
        """By the method of what they are like."""
        self.told += [like["method"]] * len(texts)

    def on_noise(self, noise: NoiseReceived) -> None:
        """By line."""
        self.told.append(noise.line)

    def on_dropped(self, frame: FrameDropped) -> None:
        """Whole."""
        self.told.append(frame)

    def on_batch_end(self) -> None:
        """A bar."""
        self.told.append("|")

    def on_eof(self) -> None:
        """A word."""
        self.told.append("eof")


class Desk:
    """A peer on one end of a pair; the test holds the other end and speaks JSON lines."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY_BYTES, **options: Any) -> None:
        ours, self.far = memory_pair(capacity)
        self.seen = Seen()
        self.handlers: dict[str, Callable[[TheirRequest], Awaitable[Any]]] = {}
        self.peer = Peer(ours, self.seen, Dispatcher({}, direct=_Calls(self.handlers)), **options)
        self._rest = b""

    def say(self, *frames: dict[str, Any] | bytes) -> None:
        """Write frames in one piece."""
        data = b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in frames)
        assert self.far.send_nowait(memoryview(data)) == len(data)

    async def hear(self) -> dict[str, Any]:
        """The next frame of the peer."""
        with anyio.fail_after(SECONDS):
            while b"\n" not in self._rest:
                piece = await self.far.receive()
                assert piece, "the peer has closed its end"
                self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        frame: dict[str, Any] = json.loads(line)
        return frame

    def stop_reading(self) -> None:
        """Close the reading end alone: what the peer writes from now on breaks its pipe."""
        self.far._incoming.reader_closed = True
        self.far._incoming.change()

    async def see(self, what: Any) -> None:
        """Wait until the peer has told this."""
        with anyio.fail_after(SECONDS):
            while what not in self.seen.told:
                await anyio.lowlevel.checkpoint()


class _Calls(dict[str, Any]):
    """Handlers that a test may add later, since a dispatcher copies what it is given."""

    def __init__(self, handlers: dict[str, Any]) -> None:
        super().__init__({name: self._call(handlers) for name in ("slow", "ask", "quick")})

    @staticmethod
    def _call(handlers: dict[str, Any]) -> Callable[[TheirRequest], Awaitable[Any]]:
        async def call(request: TheirRequest) -> Any:
            return await handlers[request.method](request)

        return call


@asynccontextmanager
async def running(desk: Desk) -> AsyncIterator[None]:
    """The peer runs; leaving cancels it."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.peer.run)
        with anyio.fail_after(SECONDS):
            yield
        tasks.cancel_scope.cancel()


def note(method: str) -> dict[str, Any]:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method}


def ask(request_id: Any, method: str) -> dict[str, Any]:
    """A request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {}}


def answer(request_id: Any, **outcome: Any) -> dict[str, Any]:
    """An answer."""
    return {"jsonrpc": "2.0", "id": request_id, **outcome}
