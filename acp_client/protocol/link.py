"""The sans-IO state machine of one JSON-RPC connection, the same object on both sides.

Bytes and EOF in, events out; intents in, bytes out. Owns ids, open requests of both directions and what is legal
when; the legal transitions are the tables in `states`. Leaves all waiting to `peer` and all meaning to its callers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from acp_client.protocol import envelope
from acp_client.protocol.envelope import Invalid, Noise, Request, Response
from acp_client.protocol.errors import PARSE_ERROR, ConnectionClosed, LocalError
from acp_client.protocol.framing import DEFAULT_MAX_FRAME_BYTES, LineSplitter, Overlong, Repeats, with_text
from acp_client.protocol.methods import METHODS
from acp_client.protocol.states import (
    CONNECTION,
    CancelReceived,
    ErrorReceived,
    Event,
    FrameDropped,
    MalformedReceived,
    NoiseReceived,
    OurRequest,
    OverlongReceived,
    RequestLost,
    RequestReceived,
    ResultReceived,
    Stateful,
    TheirRequest,
)

CANCEL_REQUEST: Final = "$/cancel_request"

MAX_OUR_REQUESTS: Final = 1024
"""Requests of ours that may be open at once: far above need, so that a leak is an error and not growth."""

MAX_THEIR_REQUESTS: Final = 256
"""Requests of theirs that we hold open; one more is refused. The largest burst seen from a real agent is a dozen."""


class Link(Stateful):
    """One connection. `state` is open, half_closed_remote, half_closed_local or closed.

    Not safe for use from several threads; every call returns at once.
    """

    __slots__ = ("_lines", "_next_id", "_ours", "_theirs", "repeats")
    table = CONNECTION

    def __init__(self, *, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        self.state = "open"
        self.repeats = Repeats()
        self._lines = LineSplitter(max_frame_bytes)
        self._next_id = 1
        self._ours: dict[int, OurRequest] = {}
        self._theirs: list[TheirRequest] = []

    def __repr__(self) -> str:
        return f"<Link {self.state}, {len(self._ours)} of our requests open, {len(self._theirs)} of theirs>"

    # ---- receiving

    def receive(self, data: bytes) -> list[Event]:
        """Take the next bytes; return what they mean, in wire order. Never raises for what the bytes hold."""
        events: list[Event] = []
        for event in self.receive_each(data):
            if isinstance(event, list):
                events += [with_text(self.repeats.message, text) for text in event]
            else:
                events.append(event)
        return events

    def receive_each(self, data: bytes) -> Iterator[Event | list[str]]:
        """The same, one after another: to be gone through to the end.

        A list of texts stands for so many updates like `repeats.message`, as it is then, each with its own text. The
        hot path: any other update is looked at once, and is its own event. A list of these would be so many live
        objects that the garbage collector goes through them again and again, which costs more than their decoding.
        """
        lines = self._lines.feed(data)
        at = 0
        while at < len(lines):
            if texts := self.repeats.take(lines, at):
                at += len(texts)
                yield texts
            else:
                yield from self._receive_line(lines[at])
                at += 1

    def _receive_line(self, line: bytes | Overlong) -> Iterator[Event]:
        if isinstance(line, Overlong):
            yield self._overlong(line)
            return
        value = envelope.decode(line)
        if (
            type(value) is dict
            and len(value) == 3  # noqa: PLR2004  # these, and no id
            and value.get("method") == "session/update"
            and value.get("jsonrpc") == "2.0"
            and type(value.get("params")) is dict
        ):
            yield value
            self.repeats.learn(value, line)
        else:
            yield from self._receive_all(envelope.messages_of(value, line), line)

    def receive_eof(self) -> list[Event]:
        """They will send no more: a last line without newline counts, then every open request of ours is lost."""
        rest = self._lines.finish()
        events = list(self._receive_all(envelope.parse_line(rest), rest, unfinished=True))
        self.move("receive_eof")
        for request in list(self._ours.values()):
            self._settle(request, "lose")
            events.append(RequestLost(request))
        return events

    def _receive_all(
        self, messages: list[envelope.Message], line: bytes, *, unfinished: bool = False
    ) -> Iterator[Event]:
        for message in messages:
            if type(message) is dict and message["method"] != CANCEL_REQUEST:
                yield message
            elif (event := self._receive_message(message, line, unfinished=unfinished)) is not None:
                yield event

    def _receive_message(self, message: envelope.Message, line: bytes, *, unfinished: bool) -> Event | None:
        match message:
            case Request(id=None, method=method) if method in METHODS and METHODS[method].is_notification:
                # Some peers write `"id": null` into notifications; an absent id is what they mean.
                return message.raw if method != CANCEL_REQUEST else self._receive_cancel(message.raw)
            case Request():
                return self._receive_request(message)
            case Response():
                return self._receive_response(message)
            case Noise():
                return NoiseReceived(line, PARSE_ERROR, "not JSON", unfinished=unfinished)
            case Invalid():
                return NoiseReceived(line, message.code, message.detail, message.id, is_request=message.is_request)
            case _:
                return self._receive_cancel(message)

    def _receive_request(self, message: Request) -> RequestReceived:
        request = TheirRequest(message)
        refused = len(self._theirs) >= MAX_THEIR_REQUESTS
        self._theirs.append(request)
        return RequestReceived(request, refused)

    def _receive_cancel(self, message: dict[str, Any]) -> CancelReceived | None:
        wanted = (message.get("params") or {}).get("requestId")
        for request in self._theirs:
            if request.id == wanted and type(request.id) is type(wanted):
                request.move("cancel")
                return CancelReceived(request)
        return None  # an unknown id is ignored (ACP v1, cancellation)

    def _receive_response(self, message: Response) -> Event:
        # True == 1 in a dict, so the type is looked at too.
        request = self._ours.get(message.id) if type(message.id) is int else None
        if request is None:
            return FrameDropped("an answer to no open request", None, message.id)
        self._settle(request, "answer")
        return _answer(request, message.raw)

    def _overlong(self, line: Overlong) -> Event:
        if envelope.looks_like_update(line.head):
            return FrameDropped("an update over max_frame_bytes", "session/update", None)
        return OverlongReceived(line.head)

    def _settle(self, request: OurRequest, action: str) -> None:
        request.move(action)
        del self._ours[request.id]

    # ---- sending

    def request(self, method: str, params: dict[str, Any]) -> tuple[OurRequest, bytes]:
        """Open a request of ours. Raises ConnectionClosed if nothing can be answered any more."""
        if self.state != "open":
            raise ConnectionClosed(method, sent=False)
        if len(self._ours) >= MAX_OUR_REQUESTS:
            raise LocalError(f"{method}: {MAX_OUR_REQUESTS} requests are open already; wait for answers")
        request = OurRequest(self._next_id, method)
        frame = envelope.request_frame(request.id, method, params)
        self._next_id += 1
        self._ours[request.id] = request
        return request, frame

    def notify(self, method: str, params: dict[str, Any]) -> bytes:
        """A notification of ours. Raises ConnectionClosed if our sending side is closed."""
        self._check_sending(method)
        return envelope.notification_frame(method, params)

    def cancel(self, request: OurRequest) -> bytes:
        """Ask them to give up a request of ours; the answer is still to come. Raises LocalError if it is settled."""
        self._check_sending(CANCEL_REQUEST)
        request.move("cancel")
        return envelope.notification_frame(CANCEL_REQUEST, {"requestId": request.id})

    def respond(self, request: TheirRequest, result: Any) -> bytes:
        """Answer a request of theirs; `result` is JSON-ready. Raises LocalError if it has its answer already."""
        self._settle_theirs(request)
        return envelope.result_frame(request.id, result)

    def respond_error(self, request: TheirRequest, code: int, message: str, data: Any = None) -> bytes:
        """Answer a request of theirs with an error. Raises LocalError if it has its answer already."""
        self._settle_theirs(request)
        return envelope.error_frame(request.id, code, message, data)

    def give_up(self, request: TheirRequest) -> None:
        """Leave a request of theirs unanswered: our sending side is closed. Raises LocalError if it is settled."""
        request.move("lose")
        self._theirs.remove(request)

    def reject(self, noise: NoiseReceived) -> bytes:
        """What an agent answers to a line that is no message, once per line."""
        self._check_sending(None)
        return envelope.error_frame(noise.id, noise.code, noise.detail)

    def send_eof(self) -> None:
        """Our sending side is closed. Idempotent."""
        self.move("send_eof")

    def _settle_theirs(self, request: TheirRequest) -> None:
        request.move("respond")
        self._theirs.remove(request)
        self._check_sending(request.method)

    @property
    def can_send(self) -> bool:
        """False once our sending side is closed."""
        return self.state in ("open", "half_closed_remote")

    def _check_sending(self, method: str | None) -> None:
        if not self.can_send:
            raise ConnectionClosed(method, sent=False)


def _answer(request: OurRequest, raw: dict[str, Any]) -> ResultReceived | ErrorReceived | MalformedReceived:
    """Exactly one of result and error (JSON-RPC 2.0, section 5); a null beside the other counts as absent."""
    error = raw.get("error")
    if error is None:
        if "result" in raw:
            return ResultReceived(request, raw["result"])
        return MalformedReceived(request, "it has neither a result nor an error")
    if raw.get("result") is not None:
        return MalformedReceived(request, "it has both a result and an error")
    if not isinstance(error, dict):
        return ErrorReceived(request, None, str(error))
    code = error.get("code")
    message = error.get("message")
    return ErrorReceived(
        request,
        code if type(code) is int else None,
        message if isinstance(message, str) else "no message",
        error.get("data"),
    )
