"""What a sub-agent said and did, in order, for people to see: JSON data, each entry with its agent's breadcrumb.

Owns the entries and their bounds. A sub-agent that delegates in turn hands its own trace up; those entries are taken
over under its breadcrumb, so that none can speak for an agent elsewhere in the tree. Nothing here is for a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from acp_client.outcome.result import PermissionRecord, RunResult, ToolCallState
from acp_client.safe_text import ELLIPSIS, printable
from acp_client.session.events import Event, EventsLost, PermissionAnswered, TextChunk, ToolCallUpdated

SEPARATOR: Final = " › "
"""Between the names of a breadcrumb."""
MAX_ENTRIES: Final = 2000
"""A run of an hour has some hundred."""
MAX_TEXT_CHARS: Final = 16 * 1024
"""Of a message, an argument or a result: what somebody reads on a screen."""
MAX_TRACE_CHARS: Final = 1024 * 1024
"""Of one trace, nested ones included."""
MAX_NAMES: Final = 16
"""Of a nested breadcrumb: more levels than anybody allows."""
MAX_NAME_CHARS: Final = 80

Entry = dict[str, Any]


class Trace:
    """The trace of one run, as it grows. `see` takes its events, `finish` its result."""

    def __init__(self, agent: str, task: str) -> None:
        self._agent = agent
        self._entries: list[Entry] = []
        self._left = MAX_TRACE_CHARS
        self._dropped = 0
        self._calls: dict[str, Entry] = {}
        self._message: tuple[str | None, list[str]] | None = None
        self._said = 0
        self._add("task", text=_cut(task))

    def see(self, event: Event) -> None:
        """Take what belongs into a trace."""
        if isinstance(event, TextChunk):
            self._see_text(event)
            return
        if isinstance(event, ToolCallUpdated):
            self._see_call(event.id)
        elif isinstance(event, PermissionAnswered):
            self._end_message()
            self._keep({"agent": self._agent, "type": "permission", **_permission(event.record)})
        elif isinstance(event, EventsLost):
            self._end_message()
            self._add("lost", count=event.count)

    def finish(self, result: RunResult) -> list[Entry]:
        """The whole trace: tool calls as they ended, then what was handed up, then how the run ended."""
        self._end_message()
        for call in result.tool_calls:
            if call.id in self._calls:
                self._fill(self._calls[call.id], _tool_call(call))
        for entry in nested_entries(result.nested_trace, self._agent):
            self._keep(entry)
        end: Entry = {"status": result.status, "reason": result.reason}
        if result.failure is not None:
            end["message"] = _cut(result.failure.message)
        cut = [] if not self._dropped else [{"agent": self._agent, "type": "cut", "count": self._dropped}]
        return [*self._entries, *cut, {"agent": self._agent, "type": "end", **end}]

    def _see_call(self, call_id: str) -> None:
        if call_id in self._calls:
            return
        self._end_message()
        entry = self._add("tool_call", id=printable(call_id, max_chars=MAX_NAME_CHARS))
        if self._entries[-1] is entry:
            self._calls[call_id] = entry

    def _see_text(self, chunk: TextChunk) -> None:
        if self._message is not None and self._message[0] == chunk.message_id:
            if chunk.text and self._said <= MAX_TEXT_CHARS:
                self._message[1].append(chunk.text)
                self._said += len(chunk.text)
            return
        self._end_message()
        self._message, self._said = (chunk.message_id, [chunk.text]), len(chunk.text)

    def _end_message(self) -> None:
        if self._message is not None:
            text = _cut("".join(self._message[1]))
            self._message = None
            self._add("message", text=text)

    def _add(self, kind: str, **fields: Any) -> Entry:
        return self._keep({"agent": self._agent, "type": kind, **fields})

    def _keep(self, entry: Entry) -> Entry:
        size = _size(entry)
        if len(self._entries) < MAX_ENTRIES and size <= self._left:
            self._left -= size
            self._entries.append(entry)
        else:
            self._dropped += 1
        return entry

    def _fill(self, entry: Entry, fields: Mapping[str, Any]) -> None:
        size = _size(fields)
        if size <= self._left:
            self._left -= size
            entry.update(fields)


def nested_entries(given: Iterable[Any], agent: str) -> list[Entry]:
    """Entries that a sub-agent handed up, under its breadcrumb. What has another shape is left out."""
    return [nested for entry in given if (nested := _nested(entry, agent)) is not None]


def _nested(entry: Any, agent: str) -> Entry | None:
    if not isinstance(entry, Mapping):
        return None
    crumb, kind = entry.get("agent"), entry.get("type")
    if not isinstance(crumb, str) or not isinstance(kind, str):
        return None
    below = [printable(name, max_chars=MAX_NAME_CHARS) for name in crumb.split(SEPARATOR)[1 : MAX_NAMES + 1]]
    return {**entry, "agent": SEPARATOR.join([agent, *below]), "type": printable(kind, max_chars=MAX_NAME_CHARS)}


def _tool_call(call: ToolCallState) -> Entry:
    shown = {"title": call.title, "name": call.name, "kind": call.kind, "status": call.status}
    values = {
        "input": call.raw.get("rawInput"),
        "output": call.raw.get("rawOutput"),
        "content": call.raw.get("content"),
    }
    return {key: _cut(value) for key, value in shown.items() if value is not None} | {
        key: _bounded(value) for key, value in values.items() if value is not None
    }


def _permission(record: PermissionRecord) -> Entry:
    fields = record.model_dump(
        mode="json", include={"tool_call_id", "title", "kind", "subject", "action", "decided_by"}
    )
    return {key: _cut(value) if isinstance(value, str) else value for key, value in fields.items()}


def _bounded(value: Any) -> Any:
    """As it is; what is too long as the beginning of its text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= MAX_TEXT_CHARS else _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1] + ELLIPSIS


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))
