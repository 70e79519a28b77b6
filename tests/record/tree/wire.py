"""Lines of a transcript, written short: what a test says of a run is what stands in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from acp_client.record.format.lines import TO_AGENT, TO_CLIENT, Frame, Header, Line, Note, Stderr
from acp_client.record.tree.fold import fold
from acp_client.record.tree.runs import Run

STARTED = "2026-12-01T04:00:00.000Z"


def header(run_id: str = "r1", parent: str | None = None, agent: str = "child", started: str = STARTED) -> Header:
    """A first line."""
    command = ("run-child", "--acp")
    return Header(run_id=run_id, parent_run_id=parent, agent=agent, started=started, command=command, cwd="/w")


def to_agent(t: float | None, **message: Any) -> Frame:
    """A frame of the client."""
    return Frame(direction=TO_AGENT, message={"jsonrpc": "2.0", **message}, t=t)


def to_client(t: float | None, **message: Any) -> Frame:
    """A frame of the agent."""
    return Frame(direction=TO_CLIENT, message={"jsonrpc": "2.0", **message}, t=t)


def update(t: float | None, kind: str, /, **fields: Any) -> Frame:
    """A `session/update`."""
    params = {"sessionId": "s", "update": {"sessionUpdate": kind, **fields}}
    return to_client(t, method="session/update", params=params)


def said(t: float | None, text: str, message_id: str | None = "m", kind: str = "agent_message_chunk") -> Frame:
    """A piece of a message."""
    given = {} if message_id is None else {"messageId": message_id}
    return update(t, kind, content={"type": "text", "text": text}, **given)


def prompt(t: float | None, text: str, request_id: int = 3) -> Frame:
    """A prompt."""
    blocks = [{"type": "text", "text": text}]
    return to_agent(t, id=request_id, method="session/prompt", params={"sessionId": "s", "prompt": blocks})


def ended(t: float | None, stop: str = "end_turn", request_id: int = 3, **result: Any) -> Frame:
    """The answer to a prompt."""
    return to_client(t, id=request_id, result={"stopReason": stop, **result})


OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]


def ask(t: float | None, call_id: str = "c", request_id: Any = "p", **call: Any) -> Frame:
    """A request for permission."""
    params = {"sessionId": "s", "toolCall": {"toolCallId": call_id, **call}, "options": OPTIONS}
    return to_client(t, id=request_id, method="session/request_permission", params=params)


def pick(t: float | None, option_id: str | None, request_id: Any = "p") -> Frame:
    """The answer to it; None is cancelled."""
    picked = {"outcome": "cancelled"} if option_id is None else {"outcome": "selected", "optionId": option_id}
    return to_agent(t, id=request_id, result={"outcome": picked})


def decided(t: float | None, call_id: str = "c", **record: Any) -> Note:
    """What the parent notes of an answer."""
    usual = {"tool_call_id": call_id, "subject": "tool", "action": "allow", "outcome": "selected", "seconds": 0.5}
    return Note(kind="permission", fields={**usual, "decided_by": "rule 1: allow", **record}, t=t)


def stderr(t: float | None, text: str) -> Stderr:
    """A piece of stderr."""
    return Stderr(text=text, t=t)


def end(t: float | None, reason: str = "end_turn", status: str = "completed", **result: Any) -> Note:
    """An end note."""
    return Note(kind="end", fields={"result": {"status": status, "reason": reason, **result}}, t=t)


def run_of(*lines: Line, source: str = "x.jsonl") -> Run:
    """The run that these lines tell."""
    return fold(lines, source)


def names(items: Iterable[object]) -> list[str]:
    """The types of items."""
    return [type(item).__name__ for item in items]
