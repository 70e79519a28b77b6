"""Live events of a run: typed, bounded, and built only for a listener.

Owns the stream between a run and its reader. The run appends raw updates without waiting; the reader turns them into
typed events in its own task. A reader that is too slow loses events, which are counted; it never holds the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final

import anyio

from acp_client.outcome import PermissionRecord, RunResult
from acp_client.policy.permission import PermissionRequest

EARLY_EVENTS: Final = 256
"""Kept until a first reader comes, so that one who asks right after `start` misses nothing."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a run; `type` names it in JSON lines."""

    type: ClassVar[str] = "event"

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict: `{"event": type, …fields}`."""
        return {"event": self.type} | {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """The process runs."""

    type: ClassVar[str] = "run_started"
    run_id: str
    agent: str
    pid: int


@dataclass(frozen=True, slots=True)
class SessionStarted(Event):
    """The session exists; the prompt follows."""

    type: ClassVar[str] = "session_started"
    session_id: str
    agent_info: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class TextChunk(Event):
    """A piece of the answer."""

    type: ClassVar[str] = "text"
    text: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class ThoughtChunk(Event):
    """A piece of the agent's reasoning; no part of the answer."""

    type: ClassVar[str] = "thought"
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallUpdated(Event):
    """A tool call began or changed; only what this update says (`raw` is all of it, in wire names)."""

    type: ClassVar[str] = "tool_call"
    id: str
    title: str | None
    kind: str | None
    status: str | None
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlanUpdated(Event):
    """The agent's plan, whole."""

    type: ClassVar[str] = "plan"
    entries: list[Any]


@dataclass(frozen=True, slots=True)
class UsageUpdated(Event):
    """Context window (tokens) and cumulative cost, as reported."""

    type: ClassVar[str] = "usage"
    used: int | None
    size: int | None
    cost: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class OtherUpdate(Event):
    """Any other update, as it came: modes, commands, options, session info, kinds that are not known here."""

    type: ClassVar[str] = "update"
    kind: str
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PermissionAsked(Event):
    """The agent asks for permission."""

    type: ClassVar[str] = "permission_asked"
    request: PermissionRequest

    def to_json(self) -> dict[str, Any]:
        """The request without the options' details."""
        request = self.request
        return {"event": self.type, "tool_call_id": request.tool_call_id, "title": request.title, "kind": request.kind}


@dataclass(frozen=True, slots=True)
class PermissionAnswered(Event):
    """A permission was answered."""

    type: ClassVar[str] = "permission_answered"
    record: PermissionRecord

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in the result."""
        return {"event": self.type} | self.record.model_dump(mode="json")


@dataclass(frozen=True, slots=True)
class StderrOutput(Event):
    """Something on stderr, redacted and safe to print: a sign of life while an agent starts."""

    type: ClassVar[str] = "stderr"
    text: str


@dataclass(frozen=True, slots=True)
class EventsLost(Event):
    """So many events were dropped here, because the reader was too slow."""

    type: ClassVar[str] = "events_lost"
    count: int


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """The run is over and nothing is left of it."""

    type: ClassVar[str] = "run_ended"
    status: str
    reason: str


class EventHub:
    """The run's end: takes events, keeps the early ones for the first reader."""

    def __init__(self, max_buffered: int) -> None:
        self._max = max_buffered
        self._early: deque[Any] | None = deque()
        self._early_lost = 0
        self._streams: list[EventStream] = []
        self._ending: RunEnded | None = None
        self.dropped = 0

    def put(self, event: Event | dict[str, Any]) -> None:
        """Offer an event, or a raw update that becomes one when it is read."""
        if self._early is not None:
            if len(self._early) < min(EARLY_EVENTS, self._max):
                self._early.append(event)
            else:
                self._early_lost += 1
        for stream in self._streams:
            if not stream.offer(event):
                self.dropped += 1

    def wake(self) -> None:
        """Wake the readers, once for all that a read brought."""
        for stream in self._streams:
            stream.wake()

    def close(self, result: RunResult) -> None:
        """The run is over: readers end after what they have not read yet."""
        self._ending = RunEnded(result.status, result.reason)
        for stream in self._streams:
            stream.close(self._ending)

    def stream(self) -> EventStream:
        """A new reader: it sees what comes from now on, the first one also what came before."""
        stream = EventStream(self._max, self._early or (), self._early_lost)
        self._early = None
        self._streams.append(stream)
        if self._ending is not None:
            stream.close(self._ending)
        return stream


class EventStream(AsyncIterator[Event]):
    """One reader's bounded buffer; iterate over it. Ends after `RunEnded`."""

    def __init__(self, max_buffered: int, early: Any, early_lost: int) -> None:
        self._max = max_buffered
        self._buffer: deque[Any] = deque(early)
        self._lost = early_lost
        self._ending: RunEnded | None = None
        self._wake = anyio.Event()

    def offer(self, event: Any) -> bool:
        """Take an event if there is room; else count it as lost."""
        if len(self._buffer) >= self._max:
            self._lost += 1
            return False
        if self._lost:
            self._buffer.append(EventsLost(self._lost))
            self._lost = 0
        self._buffer.append(event)
        return True

    def wake(self) -> None:
        """Let the reader go on."""
        self._wake.set()

    def close(self, ending: RunEnded) -> None:
        """Nothing more will come."""
        self._ending = ending
        self._wake.set()

    async def __anext__(self) -> Event:
        """The next event. Safe to cancel: nothing is lost."""
        while not self._buffer:
            if self._lost:
                lost, self._lost = self._lost, 0
                return EventsLost(lost)
            if self._ending is not None:
                return self._finish()
            self._wake = anyio.Event()
            await self._wake.wait()
        event = self._buffer.popleft()
        return event if isinstance(event, Event) else to_event(event)

    def _finish(self) -> Event:
        if self._max == 0:
            raise StopAsyncIteration
        self._max = 0  # RunEnded is told once
        assert self._ending is not None  # noqa: S101  # the caller has looked
        return self._ending


def to_event(update: dict[str, Any]) -> Event:
    """The typed event for a raw update; never raises."""
    kind = update.get("sessionUpdate")
    build = _BUILDERS.get(kind) if isinstance(kind, str) else None
    return (build(update) if build else None) or OtherUpdate(str(kind), update)


def _text(update: dict[str, Any]) -> str | None:
    content = update.get("content")
    text = content.get("text") if isinstance(content, dict) and content.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _text_chunk(update: dict[str, Any]) -> Event | None:
    text = _text(update)
    message_id = update.get("messageId")
    return None if text is None else TextChunk(text, message_id if isinstance(message_id, str) else None)


def _thought(update: dict[str, Any]) -> Event | None:
    text = _text(update)
    return None if text is None else ThoughtChunk(text)


def _tool_call(update: dict[str, Any]) -> Event | None:
    def word(key: str) -> str | None:
        value = update.get(key)
        return value if isinstance(value, str) else None

    call_id = word("toolCallId")
    return None if call_id is None else ToolCallUpdated(call_id, word("title"), word("kind"), word("status"), update)


def _plan(update: dict[str, Any]) -> Event:
    entries = update.get("entries")
    return PlanUpdated(entries if isinstance(entries, list) else [])


def _usage(update: dict[str, Any]) -> Event:
    def number(key: str) -> int | None:
        value = update.get(key)
        return value if type(value) is int else None

    cost = update.get("cost")
    return UsageUpdated(number("used"), number("size"), cost if isinstance(cost, dict) else None)


_BUILDERS: Final[dict[str, Callable[[dict[str, Any]], Event | None]]] = {
    "agent_message_chunk": _text_chunk,
    "agent_thought_chunk": _thought,
    "tool_call": _tool_call,
    "tool_call_update": _tool_call,
    "plan": _plan,
    "usage_update": _usage,
}
