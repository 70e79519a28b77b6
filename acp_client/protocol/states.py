"""What a connection and its requests can be, and what can happen to them: tables and plain data.

Owns the transition tables that `link` obeys, the open requests of both directions and the events. Holds no logic but
following a table.

The point of view: *our* requests are those that this side sends, *their* requests those that it receives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from acp_client.protocol.envelope import Request, RequestId
from acp_client.protocol.errors import LocalError

CONNECTION: Final = {
    ("open", "receive_eof"): "half_closed_remote",
    ("open", "send_eof"): "half_closed_local",
    ("half_closed_local", "receive_eof"): "closed",
    ("half_closed_remote", "send_eof"): "closed",
    # Both ends are idempotent: closing is asked for by several parties, in any order.
    ("half_closed_remote", "receive_eof"): "half_closed_remote",
    ("half_closed_local", "send_eof"): "half_closed_local",
    ("closed", "receive_eof"): "closed",
    ("closed", "send_eof"): "closed",
}

OUR_REQUEST: Final = {
    ("pending", "answer"): "settled",
    ("pending", "cancel"): "cancelling",
    ("pending", "lose"): "settled",
    # After $/cancel_request the other side still owes an answer (ACP v1, cancellation).
    ("cancelling", "answer"): "settled",
    ("cancelling", "cancel"): "cancelling",
    ("cancelling", "lose"): "settled",
}

THEIR_REQUEST: Final = {
    ("open", "respond"): "settled",
    ("open", "cancel"): "cancelling",
    ("open", "lose"): "settled",
    ("cancelling", "respond"): "settled",
    ("cancelling", "cancel"): "cancelling",
    ("cancelling", "lose"): "settled",
}


class Stateful:
    """Something with a state that only moves along its table."""

    __slots__ = ("state",)
    table: dict[tuple[str, str], str]
    state: str

    def move(self, action: str) -> None:
        """Follow the table, or raise LocalError: the caller asked for what is not legal now."""
        target = self.table.get((self.state, action))
        if target is None:
            raise LocalError(f"{self!r}: cannot {action} while {self.state}")
        self.state = target


class OurRequest(Stateful):
    """A request that we sent. `state` is pending, cancelling or settled."""

    __slots__ = ("id", "method")
    table = OUR_REQUEST

    def __init__(self, request_id: int, method: str) -> None:
        self.id = request_id
        self.method = method
        self.state = "pending"

    def __repr__(self) -> str:
        return f"<our request {self.id} {self.method} {self.state}>"


class TheirRequest(Stateful):
    """A request that we received and owe an answer to. `state` is open, cancelling or settled."""

    __slots__ = ("id", "method", "params", "raw")
    table = THEIR_REQUEST

    def __init__(self, request: Request) -> None:
        self.id = request.id
        self.method = request.method
        self.params = request.params
        self.raw = request.raw
        self.state = "open"

    def __repr__(self) -> str:
        return f"<their request {self.id!r} {self.method!r} {self.state}>"


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """They ask something; answer with `Link.respond` or `Link.respond_error`, once.

    `refused` is set where too many are open already: answer with an error, at once.
    """

    request: TheirRequest
    refused: bool = False


@dataclass(frozen=True, slots=True)
class CancelReceived:
    """They want this request of theirs cancelled; it must still be answered."""

    request: TheirRequest


@dataclass(frozen=True, slots=True)
class ResultReceived:
    """They answered a request of ours."""

    request: OurRequest
    result: Any


@dataclass(frozen=True, slots=True)
class ErrorReceived:
    """They answered a request of ours with an error. `code` is None where there was no integer."""

    request: OurRequest
    code: int | None
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class MalformedReceived:
    """They answered a request of ours with something that is no answer; `detail` says what is wrong."""

    request: OurRequest
    detail: str


@dataclass(frozen=True, slots=True)
class NoiseReceived:
    """A line that is no message. `code` and `detail` are what an agent answers to it, and a client to a request."""

    line: bytes
    code: int
    detail: str
    id: RequestId = None
    unfinished: bool = False
    """True for the rest of a line that EOF cut."""
    is_request: bool = False
    """True for a request whose params cannot be used: whoever sent it waits for an answer."""


@dataclass(frozen=True, slots=True)
class FrameDropped:
    """A frame that was read and cannot be used: an answer nobody waits for, or an update over the size limit."""

    why: str
    method: str | None
    id: Any


@dataclass(frozen=True, slots=True)
class OverlongReceived:
    """A frame over the limit that may be an answer or a request: nothing after it can be trusted."""

    head: bytes


@dataclass(frozen=True, slots=True)
class RequestLost:
    """The connection ended with this request of ours unanswered."""

    request: OurRequest


Event: TypeAlias = (
    dict[str, Any]
    | RequestReceived
    | CancelReceived
    | ResultReceived
    | ErrorReceived
    | MalformedReceived
    | NoiseReceived
    | FrameDropped
    | OverlongReceived
    | RequestLost
)
"""What happened. A plain dict is a notification, as received: it is never wrapped, so that an update costs nothing."""


class Listener(Protocol):
    """What a peer tells while it reads. All calls are synchronous and in wire order; none may block or raise."""

    def on_read(self, _size: int, /) -> None:
        """Bytes arrived; their events follow."""

    def on_notification(self, message: dict[str, Any]) -> None:
        """A notification, as received."""

    def on_texts(self, texts: list[str], like: dict[str, Any]) -> None:
        """So many updates, one after another, each like this one but for its text."""

    def on_noise(self, noise: NoiseReceived) -> None:
        """A line that is no message."""

    def on_dropped(self, frame: FrameDropped) -> None:
        """A frame that could not be used."""

    def on_batch_end(self) -> None:
        """All events of the last read were told."""

    def on_eof(self) -> None:
        """They will send no more; handlers have `drain_seconds` to finish."""
