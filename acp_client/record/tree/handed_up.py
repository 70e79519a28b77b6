"""The runs of an agent's own sub-agents as it tells of them, where there are no transcripts of theirs. Pure.

Owns the way from the entries of such a trace to runs. It is hearsay: no times, no frames, and only what was handed up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from acp_client.record.format.lines import Header
from acp_client.record.tree.items import Item, Other, Permission, Said, ToolCall, word
from acp_client.record.tree.runs import Run

SEPARATOR: Final = " › "
"""Between the names of an entry's breadcrumb; the first one is the agent that tells."""
_OUTCOMES: Final = {"allow": "accepted", "reject": "declined"}
_CALL_FIELDS: Final = {"input": "rawInput", "output": "rawOutput"}


def take_in(run: Run, trace: Iterable[Any]) -> None:
    """Make the runs that a trace tells of children of this run, and of each other."""
    latest: dict[tuple[str, ...], Run] = {(): run}
    for entry in trace:
        if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
            continue
        path = tuple(str(entry.get("agent")).split(SEPARATOR)[1:])
        if path and (entry["type"] == "task" or path not in latest):
            _begin(path, latest)
        if path:
            _take(latest[path], entry)


def _begin(path: tuple[str, ...], latest: dict[tuple[str, ...], Run]) -> None:
    above = next(latest[path[:at]] for at in range(len(path) - 1, -1, -1) if path[:at] in latest)
    started = Run(header=Header(run_id="", agent=path[-1], depth=len(path)), parent=above, handed_up=True)
    above.children.append(started)
    latest[path] = started


def _take(run: Run, entry: dict[str, Any]) -> None:
    fields = {key: value for key, value in entry.items() if key not in ("agent", "type")}
    if entry["type"] == "end":
        message = word(fields.get("message"))
        run.result = fields | ({"failure": {"message": message}} if message else {})
        return
    make = _ITEMS.get(entry["type"])
    item = make(fields) if make else Other(t=None, name=entry["type"], fields=fields)
    run.items.append(item)


def _said(fields: dict[str, Any]) -> Item:
    return Said(t=None, role="message", pieces=[str(fields.get("text", ""))])


def _task(fields: dict[str, Any]) -> Item:
    return Said(t=None, role="user", pieces=[str(fields.get("text", ""))])


def _tool_call(fields: dict[str, Any]) -> Item:
    named = {_CALL_FIELDS.get(key, key): value for key, value in fields.items() if key != "id"}
    return ToolCall(t=None, id=str(fields.get("id", "")), fields=named, hearsay=True)


def _permission(fields: dict[str, Any]) -> Item:
    outcome = _OUTCOMES.get(str(fields.get("action")), "cancelled")
    subject = word(fields.get("subject")) or "tool"
    call_id = word(fields.get("tool_call_id"))
    return Permission(t=None, subject=subject, tool_call_id=call_id, outcome=outcome, record=fields)


_ITEMS: Final[dict[str, Callable[[dict[str, Any]], Item]]] = {
    "task": _task,
    "message": _said,
    "tool_call": _tool_call,
    "permission": _permission,
}
