"""The async shell around a `Link`: reads, writes, and runs a task for each request of the other side.

Owns the tasks of one connection: a reader where the transport needs one, a writer while the pipe is full, a task per
inbound request that has to wait, and bounded queues.
Notifications are handed to the listener synchronously and in wire order; an answer resolves at its own place in that
order. A handler never runs on the read loop, so it may call the other side; but for what is answered without a wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

import anyio

from acp_client.loop.waits import LazyEvent, Start
from acp_client.loop.waits import Rest as Wait
from acp_client.protocol.dispatch import Dispatcher
from acp_client.protocol.errors import FrameTooLong
from acp_client.protocol.framing import DEFAULT_MAX_FRAME_BYTES
from acp_client.protocol.link import CANCEL_REQUEST, Link
from acp_client.protocol.outbox import OUTCOMES, Outbox, Pending, PendingRequests, Serving, Settled
from acp_client.protocol.states import (
    CancelReceived,
    Event,
    FrameDropped,
    Listener,
    NoiseReceived,
    OverlongReceived,
    RequestReceived,
)
from acp_client.protocol.streams import FdReader
from acp_client.protocol.transport import Transport

__all__ = ["MAX_QUEUED_ANSWER_BYTES", "Peer", "Pending", "Settled"]

MAX_QUEUED_ANSWER_BYTES: Final = 1024 * 1024
"""Answers that they have not read. Beyond it we stop reading them: a flood of requests meets back-pressure."""


class Peer:
    """One live connection over a transport.

    `run` must be running (in a task of the caller's), or `open` have been called, for anything to arrive; `eof` is set
    when nothing more can. `answer_noise` is the agent's way: each line that is no message is answered with an error; a
    client answers only what is a request all the same.
    """

    def __init__(
        self,
        transport: Transport,
        listener: Listener,
        dispatcher: Dispatcher,
        *,
        answer_noise: bool = False,
        drain_seconds: float = 0,
        max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES,
    ) -> None:
        self._transport = transport
        self._listener = listener
        self._answer_noise = answer_noise
        self._drain_seconds = drain_seconds
        self._max_frame_bytes = max_frame_bytes
        self._link = Link(max_frame_bytes=max_frame_bytes)
        self._pending = PendingRequests()
        self._ended = False
        self._is_faulty = False
        self.eof: Final = LazyEvent()
        self._outbox = Outbox(transport, self._pending.lose)
        self._serving = Serving(self._link, dispatcher, self._outbox)

    def __repr__(self) -> str:
        return f"<Peer {self._link!r}, {'writing' if self._outbox else 'nothing to write'}>"

    def open(self, start: Start) -> None:
        """Read from now on, until EOF; `start` is `start_soon` of the group for the tasks of this connection.

        End it with `close` before the group ends: the tasks do not end by themselves.
        """
        self._outbox.open(start)
        if isinstance(self._transport, FdReader):
            self._transport.hand_over(self._take, start)  # no task is needed to ask it
        else:
            start(self._read)

    async def run(self) -> None:
        """Read until EOF, then let handlers finish for `drain_seconds` and cancel the rest. Safe to cancel."""
        async with anyio.create_task_group() as tasks:
            try:
                self.open(tasks.start_soon)
                await self.eof.wait()
                with anyio.move_on_after(self._drain_seconds):
                    while self._serving or self._outbox:
                        await self._outbox.changed()
            finally:
                self.close()

    def close(self) -> None:
        """End the tasks of this connection; what waits for an answer gets none. Idempotent."""
        if not self._ended:
            self._ended = True
            self._outbox.close()
            self._serving.close()
            if not self._is_faulty:  # a fault of ours is not the other side's end
                self._pending.lose_all()

    def read_pending(self) -> None:
        """Handle what has arrived and was not read yet, without waiting: at most what a pipe holds."""
        if not self._ended and (data := self._transport.receive_nowait()):
            self._receive(data)

    async def _read(self) -> None:
        """From a transport that has to be asked."""
        while not self._ended and not self.eof.is_set():
            rest = self._take(await self._transport.receive())
            if rest is not None:
                await rest()

    def _take(self, data: bytes) -> Wait | None:
        """What has been read, empty at EOF; returns what to wait for before more is."""
        try:
            if self._ended:
                return None
            if data:
                self._receive(data)
            else:
                self._end()
        except Exception:
            self._is_faulty = True
            raise
        return self._room if self._outbox.answer_bytes > MAX_QUEUED_ANSWER_BYTES else None

    async def _room(self) -> None:
        while self._outbox.answer_bytes > MAX_QUEUED_ANSWER_BYTES:
            await self._outbox.changed()

    def _receive(self, data: bytes) -> None:
        listener = self._listener
        listener.on_read(len(data))
        on_notification, repeats = listener.on_notification, self._link.repeats
        for event in self._link.receive_each(data):
            if type(event) is list:
                listener.on_texts(event, repeats.message)
            elif type(event) is dict:
                on_notification(event)
            else:
                self._HANDLERS[type(event)](self, event)
        listener.on_batch_end()

    def _end(self) -> None:
        for event in self._link.receive_eof():
            self._handle(event)
        self._listener.on_batch_end()
        self._listener.on_eof()
        self.eof.set()
        if not self._drain_seconds:
            self.close()

    def _handle(self, event: Event) -> None:
        if type(event) is dict:
            self._listener.on_notification(event)
        else:
            self._HANDLERS[type(event)](self, event)

    def _on_noise(self, event: NoiseReceived) -> None:
        self._listener.on_noise(event)
        if (self._answer_noise or event.is_request) and self._link.can_send:
            self._outbox.put(self._link.reject(event), "", is_answer=True)

    def _on_overlong(self, event: OverlongReceived) -> None:
        """An answer may be in the frame that was cut: fail what waits, rather than let it wait for ever."""
        self._pending.fail_all(FrameTooLong(self._max_frame_bytes, event.head))
        self._listener.on_dropped(FrameDropped("a frame over max_frame_bytes", None, None))

    _HANDLERS: ClassVar[dict[type, Callable[..., None]]] = {
        RequestReceived: lambda self, event: self._serving.take(event),
        CancelReceived: lambda self, event: self._serving.cancel(event.request),
        **dict.fromkeys(OUTCOMES, lambda self, event: self._pending.settle(event)),
        NoiseReceived: _on_noise,
        FrameDropped: lambda self, event: self._listener.on_dropped(event),
        OverlongReceived: _on_overlong,
    }

    def start_request(
        self, method: str, params: dict[str, Any], on_settled: Callable[[Settled], None] | None = None
    ) -> Pending:
        """Send a request; `on_settled` is called at its answer's place in wire order. Raises ConnectionClosed."""
        request, frame = self._link.request(method, params)
        pending = self._pending.add(request, on_settled)
        self._outbox.put(frame, method, request=request)
        return pending

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and wait for its result, as JSON. Raises as `Pending.wait` and `start_request` do.

        Cancelling the caller sends `$/cancel_request` and gives the answer up.
        """
        pending = self.start_request(method, params)
        try:
            return await pending.wait()
        except anyio.get_cancelled_exc_class():
            self.cancel(pending)
            raise

    def cancel(self, pending: Pending) -> None:
        """Ask the other side to give up a request of ours. Nothing happens if it is settled already."""
        if self._pending.give_up(pending.request) and self._link.can_send:
            self._outbox.put(self._link.cancel(pending.request), CANCEL_REQUEST)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Queue a notification; written at once where there is room. Lost if the connection is closed."""
        if self._link.can_send:
            self._outbox.put(self._link.notify(method, params), method)

    async def lost(self) -> None:
        """Return once they have closed their reading end: nothing of ours arrives any more. Safe to cancel."""
        await self._outbox.lost.wait()

    @property
    def is_busy(self) -> bool:
        """True while a request of theirs is open, or something is to be written."""
        return bool(self._serving or self._outbox)

    async def answer_all(self) -> None:
        """Wait until every request of theirs that has arrived is answered. Safe to cancel; bound it yourself."""
        while self._serving:
            await self._outbox.changed()

    async def flush(self) -> None:
        """Wait until all that was queued is written, or cannot be. Safe to cancel; bound it yourself."""
        await self._outbox.flush()

    def close_send(self) -> None:
        """Close our sending side now: they see EOF. What is still queued is lost; `flush` before. Idempotent."""
        self._link.send_eof()
        self._outbox.clear()
        self._transport.close_send()
