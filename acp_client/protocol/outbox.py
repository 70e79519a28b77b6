"""What is to be written, and the requests that are open, ours and theirs.

Owns the bytes between `Peer` and its transport: one queue, one writer, in order, bounded by whoever fills it. Writes at
once while there is room, so that most frames cost no task switch. A broken pipe is remembered, not raised: what it cost
shows as requests without answers. What is legal on the wire is `link`'s: one that was given up here is open there.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import anyio

from acp_client.loop.threads import in_thread
from acp_client.loop.waits import LazyEvent, Start
from acp_client.protocol.dispatch import CANCELLED, CLOSING, TOO_MANY, Answer, Dispatcher, Rest
from acp_client.protocol.errors import ConnectionClosed, MalformedAnswer, RemoteError, RequestFailed
from acp_client.protocol.link import Link
from acp_client.protocol.states import (
    ErrorReceived,
    MalformedReceived,
    OurRequest,
    RequestLost,
    RequestReceived,
    ResultReceived,
    TheirRequest,
)
from acp_client.protocol.transport import Transport

TAP_VARIABLE: Final = "ACP_WIRE_TAP"
"""A file to which every frame that a peer sends is appended, after its method: to see, and to check, what goes out.
Not redacted. Read when the connection is made."""

Outcome: TypeAlias = ResultReceived | ErrorReceived | MalformedReceived | RequestLost
OUTCOMES: Final = (ResultReceived, ErrorReceived, MalformedReceived, RequestLost)
"""What the link says of a request of ours."""

Settled: TypeAlias = ResultReceived | RemoteError
"""What became of it, for who waits."""


@dataclass(slots=True)
class _Frame:
    """Bytes still to be written, and what they belong to."""

    rest: memoryview
    answer_bytes: int
    request: OurRequest | None


class Outbox:
    """The frames still to be written.

    `answer_bytes` counts those that answer the other side, which nobody here can stop asking for. `on_lost` is told
    each request of ours that can never be written whole, because the other side has closed its reading end.
    """

    def __init__(self, transport: Transport, on_lost: Callable[[OurRequest], None]) -> None:
        self._transport = transport
        self._on_lost = on_lost
        self._frames: deque[_Frame] = deque()
        self.start: Start | None = None
        self._writing: anyio.CancelScope | None = None
        self._changed: anyio.Event | None = None
        self._tap = os.environ.get(TAP_VARIABLE)
        self.answer_bytes = 0
        self.lost = LazyEvent()

    def __bool__(self) -> bool:
        return bool(self._frames)

    def put(self, frame: bytes, method: str, *, is_answer: bool = False, request: OurRequest | None = None) -> None:
        """Queue a frame; it is written now if there is room. Lost if the pipe is broken."""
        if self._tap is not None:
            _append(self._tap, method.encode() + b" " + frame)
        answer_bytes = len(frame) if is_answer else 0
        self.answer_bytes += answer_bytes
        self._frames.append(_Frame(memoryview(frame), answer_bytes, request))
        if self.lost.is_set():
            self.clear()
        elif len(self._frames) == 1:
            self._write_some()
        self._write_rest_later()

    def open(self, start: Start) -> None:
        """From now on what does not fit into the pipe at once is written by a task, which `start` starts."""
        self.start = start
        self._write_rest_later()

    def close(self) -> None:
        """The task that writes ends, and none is started any more."""
        self.start = None
        if self._writing is not None:
            self._writing.cancel()

    def _write_rest_later(self) -> None:
        if self._frames and self.start is not None and self._writing is None:
            self._writing = anyio.CancelScope()
            self.start(self._write_rest, self._writing)

    def clear(self) -> None:
        """Drop what is queued."""
        lost = [frame.request for frame in self._frames if frame.request is not None]
        self._frames.clear()
        self.answer_bytes = 0
        for request in lost:
            self._on_lost(request)
        self.signal()

    def signal(self) -> None:
        """Wake those who wait for a change."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    async def changed(self) -> None:
        """Return after the next change: something was written, dropped or answered. Safe to cancel."""
        if self._changed is None:
            self._changed = anyio.Event()
        await self._changed.wait()

    async def flush(self) -> None:
        """Return when nothing is left to write. Safe to cancel; the caller bounds it."""
        while self._frames:
            await self.changed()

    async def _write_rest(self, scope: anyio.CancelScope) -> None:
        """The one writer that waits."""
        try:
            with scope:
                while self._frames:
                    await self._transport.wait_sendable()
                    self._write_some()
        finally:
            self._writing = None

    def _write_some(self) -> None:
        try:
            while self._frames:
                frame = self._frames[0]
                sent = self._transport.send_nowait(frame.rest)
                if sent < len(frame.rest):
                    frame.rest = frame.rest[sent:]
                    break
                self._frames.popleft()
                self.answer_bytes -= frame.answer_bytes
        except OSError:  # nobody reads any more; who cares waits for `lost`
            self.lost.set()
            self.clear()
        self.signal()


class Serving:
    """The requests of the other side that are open: a task for each that cannot be answered at once."""

    def __init__(self, link: Link, dispatcher: Dispatcher, outbox: Outbox) -> None:
        self._link = link
        self._dispatcher = dispatcher
        self._outbox = outbox
        self._scopes: dict[TheirRequest, anyio.CancelScope] = {}
        self._loading = anyio.Lock()
        self._closing = False

    def __bool__(self) -> bool:
        return bool(self._scopes)

    def close(self) -> None:
        """End the tasks. What they serve is answered with an error, if it can be."""
        self._closing = True
        for scope in self._scopes.values():
            scope.cancel()

    def take(self, event: RequestReceived) -> None:
        """A request has arrived: answer it now, or begin to."""
        begun = TOO_MANY if event.refused else self._dispatcher.begin(event.request)
        if isinstance(begun, Answer):
            self._respond(event.request, begun)
        else:
            assert self._outbox.start is not None  # nothing is read before `open` has set it
            self._scopes[event.request] = anyio.CancelScope()
            self._outbox.start(self._serve, event.request, begun)

    def cancel(self, request: TheirRequest) -> None:
        """They have given it up."""
        self._scopes[request].cancel()

    async def _serve(self, request: TheirRequest, begun: Rest | None) -> None:
        scope = self._scopes[request]
        answer = CLOSING
        try:
            with scope:
                if begun is None and self._dispatcher.needs_loading(request.method):
                    async with self._loading:
                        await in_thread(self._dispatcher.load)
                answer = await (self._dispatcher.dispatch(request) if begun is None else begun())
            if scope.cancelled_caught and not self._closing:
                answer = CANCELLED
        finally:
            del self._scopes[request]
            self._respond(request, answer)
            self._outbox.signal()

    def _respond(self, request: TheirRequest, answer: Answer) -> None:
        if self._link.can_send:
            self._outbox.put(_frame(self._link, request, answer), request.method, is_answer=True)
        else:
            self._link.give_up(request)  # there is nobody to tell


class Pending:
    """A request of ours on its way; `wait` gives its outcome. Made by `Peer.start_request`."""

    __slots__ = ("_done", "_on_settled", "outcome", "request")

    def __init__(self, request: OurRequest, on_settled: Callable[[Settled], None] | None) -> None:
        self.request = request
        self.outcome: Settled | None = None
        self._done = LazyEvent()
        self._on_settled = on_settled

    def settle(self, outcome: Settled) -> None:
        """The outcome is there: tell it at this place in wire order, then wake who waits."""
        self.outcome = outcome
        if self._on_settled is not None:
            self._on_settled(outcome)
        self._done.set()

    async def wait(self) -> Any:
        """The raw result. Raises RequestFailed, MalformedAnswer, FrameTooLong, ConnectionClosed. Safe to cancel."""
        await self._done.wait()
        assert self.outcome is not None  # settle sets it before the event
        if isinstance(self.outcome, RemoteError):
            raise self.outcome
        return self.outcome.result


class PendingRequests:
    """All that wait. What comes for another one (given up, or failed when a frame was cut) is passed over."""

    def __init__(self) -> None:
        self._waiting: dict[OurRequest, Pending] = {}

    def add(self, request: OurRequest, on_settled: Callable[[Settled], None] | None) -> Pending:
        """Wait for this one, from now on."""
        pending = self._waiting[request] = Pending(request, on_settled)
        return pending

    def give_up(self, request: OurRequest) -> bool:
        """Wait no longer. False if nobody waited."""
        return self._waiting.pop(request, None) is not None

    def settle(self, outcome: Outcome) -> None:
        """What the link says has become of one."""
        self._settle(outcome.request, _settled(outcome))

    def lose(self, request: OurRequest) -> None:
        """No answer can come: the connection has ended, or the request was never written whole."""
        self._settle(request, ConnectionClosed(request.method))

    def lose_all(self) -> None:
        """The connection has ended."""
        for request in list(self._waiting):
            self.lose(request)

    def fail_all(self, error: RemoteError) -> None:
        """Nobody can say which of the answers this was."""
        for request in list(self._waiting):
            self._settle(request, error)

    def _settle(self, request: OurRequest, outcome: Settled) -> None:
        pending = self._waiting.pop(request, None)
        if pending is not None:
            pending.settle(outcome)


def _settled(outcome: Outcome) -> Settled:
    match outcome:
        case ErrorReceived():
            return RequestFailed(outcome.request.method, outcome.code, outcome.message, outcome.data)
        case MalformedReceived():
            return MalformedAnswer(outcome.request.method, outcome.detail)
        case RequestLost():
            return ConnectionClosed(outcome.request.method)
        case _:
            return outcome


def _frame(link: Link, request: TheirRequest, answer: Answer) -> bytes:
    if answer.code is None:
        return link.respond(request, answer.result)
    return link.respond_error(request, answer.code, answer.message, answer.data)


def _append(path: str, line: bytes) -> None:
    with open(path, "ab", buffering=0) as file:  # noqa: PTH123  # whole lines, also from several processes
        file.write(line)
