"""Live events of a run: their types, and which one a raw update becomes.

Owns what a reader sees. How events get from a run to its reader is in `stream`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final

from acp_client.outcome.result import HostToolCall, PermissionRecord
from acp_client.policy.budget import Figure
from acp_client.policy.permission import PermissionRequest


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Event:
    """Something that happened in a run; `type` names it in JSON lines."""

    type: ClassVar[str] = "event"

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict: `{"event": type, …fields}`."""
        return {"event": self.type} | {field.name: getattr(self, field.name) for field in fields(self)}

    # Once for all kinds, as a dataclass makes them for each: two dozen classes are made whenever a program starts.

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, field.name) for field in fields(self)])

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        values = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))
        return f"{type(self).__qualname__}({values})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunStarted(Event):
    """The process runs."""

    type: ClassVar[str] = "run_started"
    run_id: str
    agent: str
    pid: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SessionStarted(Event):
    """The session exists; the prompt follows."""

    type: ClassVar[str] = "session_started"
    session_id: str
    agent_info: dict[str, Any] | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextChunk(Event):
    """A piece of the answer."""

    type: ClassVar[str] = "text"
    text: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ThoughtChunk(Event):
    """A piece of the agent's reasoning; no part of the answer."""

    type: ClassVar[str] = "thought"
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToolCallUpdated(Event):
    """A tool call began or changed; only what this update says (`raw` is all of it, in wire names)."""

    type: ClassVar[str] = "tool_call"
    id: str
    title: str | None
    kind: str | None
    status: str | None
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlanUpdated(Event):
    """The agent's plan, whole."""

    type: ClassVar[str] = "plan"
    entries: list[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UsageUpdated(Event):
    """Context window (tokens) and cumulative cost, as reported."""

    type: ClassVar[str] = "usage"
    used: int | None
    size: int | None
    cost: dict[str, Any] | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OtherUpdate(Event):
    """Any other update, as it came: modes, commands, options, session info, kinds that are not known here."""

    type: ClassVar[str] = "update"
    kind: str
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PermissionAsked(Event):
    """The agent asks for permission."""

    type: ClassVar[str] = "permission_asked"
    request: PermissionRequest

    def to_json(self) -> dict[str, Any]:
        """The request without the options' details."""
        request = self.request
        return {"event": self.type, "tool_call_id": request.tool_call_id, "title": request.title, "kind": request.kind}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PermissionAnswered(Event):
    """A permission was answered."""

    type: ClassVar[str] = "permission_answered"
    record: PermissionRecord

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in the result."""
        return {"event": self.type} | self.record.model_dump(mode="json")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HostToolsOffered(Event):
    """The parent's tools are offered to the agent, over "http" or "stdio"; whether it has listed them by the prompt."""

    type: ClassVar[str] = "host_tools_offered"
    server: str
    way: str
    listed: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HostToolCalled(Event):
    """The agent calls a tool of the parent's. `tool_call_id` is that of the call it announced, where it is known."""

    type: ClassVar[str] = "host_tool_called"
    ordinal: int
    name: str
    arguments: Any
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HostToolReturned(Event):
    """A call of a tool of the parent's is over."""

    type: ClassVar[str] = "host_tool_returned"
    call: HostToolCall

    def to_json(self) -> dict[str, Any]:
        """The record as it stands in the result."""
        return {"event": self.type} | self.call.model_dump(mode="json")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BudgetWarning(Event):
    """80 % of a limit of the budget are spent; told once for each. `shared`: of the runner's budget, by all its runs.

    `figure` is "steps", "cost_usd", "tokens" or "wall_seconds".
    """

    type: ClassVar[str] = "budget_warning"
    figure: Figure
    spent: float
    limit: float
    shared: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BudgetUnreported(Event):
    """The agent has not reported a figure that a budget has a limit for: until it does, the limit cannot hold."""

    type: ClassVar[str] = "budget_unreported"
    figure: Figure
    why: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StderrOutput(Event):
    """Something on stderr, redacted and safe to print: a sign of life while an agent starts."""

    type: ClassVar[str] = "stderr"
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EventsLost(Event):
    """So many events were dropped here, because the reader was too slow."""

    type: ClassVar[str] = "events_lost"
    count: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunEnded(Event):
    """The run is over and nothing is left of it."""

    type: ClassVar[str] = "run_ended"
    status: str
    reason: str


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
