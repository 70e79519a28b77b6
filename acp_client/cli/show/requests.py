"""Approval requests for a reviewer's eyes: a line, all of it, or JSON. Pure.

Owns what is told of a row: its state, who decided. How a question looks is `approvals.terminal.question`'s, which also
keeps every text of an agent's behind a margin, so that none can pass for a line of ours.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, Final

from acp_client.approvals.errors import Unreadable
from acp_client.approvals.store import Entry
from acp_client.approvals.terminal.question import MAX_LINES, block, parts, wrap
from acp_client.policy.approval import ApprovalRequest
from acp_client.safe_text import printable

ID_CHARS: Final = 8
"""Of an id in a list, more where two begin alike."""
TITLE_CHARS: Final = 400
PARTS: Final = 50
"""An agent may announce any number of changes; beyond that, --json shows all."""

_UNITS: Final = ((86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def lines_of(entries: Sequence[Entry], now: float, columns: int, *, with_state: bool) -> list[str]:
    """A line for each: id, state, role, time left or past, agent, what it asks."""
    width = _width([entry.id for entry in entries])
    return [line_of(entry, now, columns, id_chars=width, with_state=with_state) for entry in entries]


def line_of(entry: Entry, now: float, columns: int, *, id_chars: int = ID_CHARS, with_state: bool = False) -> str:
    """One line, cut before a terminal with so many columns would begin another."""
    waits = entry.state == "waiting"
    left = f"{_span(entry.expires_at - now)} left" if waits else f"{_span(now - (entry.decided_at or now))} ago"
    by = [f"by {entry.decided_by}:"] if entry.decided_by else []
    state = [f"{entry.state:<9}"] if with_state else []
    words = [entry.id[:id_chars], *state, f"{entry.role:<8}", f"{left:<11}", *by, _subject(entry)]
    return next(wrap(printable("  ".join(words)), columns - 1))


def to_json(entry: Entry) -> dict[str, Any]:
    """Everything, JSON-ready. `request` is None, and `fault` says why, where this version cannot read it."""
    document = {
        name: getattr(entry, name)
        for name in ("id", "state", "role", "asked_at", "expires_at", "decided_by", "decided_role", "decided_at")
    }
    document |= {name: getattr(entry, name) for name in ("why", "option_id", "delivered")}
    document["pid"] = None if entry.owner is None else entry.owner.pid
    document["host"] = None if entry.owner is None else entry.owner.host
    try:
        return {**document, "content": entry.content, "request": _plain(entry.request), "fault": None}
    except Unreadable as error:
        return {**document, "content": None, "request": None, "fault": str(error)}


def describe(entry: Entry, now: float, columns: int) -> list[str]:
    """All that a reviewer needs, in lines. Raises Unreadable."""
    request = entry.request
    lines = [line for label, text in _row(entry, request, now) for line in block(label, [text], columns, 4)]
    for label, limit, text in islice(parts(request), PARTS):
        if label != "options":
            lines += block(label, text, columns, MAX_LINES[limit])
    offered = [f"{option.id}  {option.kind or 'no kind'}  {option.name}" for option in request.options]
    lines += block("options", offered, columns, MAX_LINES["option"]) if offered else []
    form = json.dumps(_plain(request.schema), indent=2, ensure_ascii=False).split("\n") if request.schema else []
    lines += block("form", form, columns, MAX_LINES["argument"]) if form else []
    if len(request.diffs) > PARTS or any("NOT SHOWN" in line for line in lines):
        lines.append("(cut; --json shows all)")
    return lines


def _row(entry: Entry, request: ApprovalRequest, now: float) -> Iterator[tuple[str, str]]:
    yield "request", entry.id
    yield "state", _state(entry, now)
    yield "role", request.role
    yield "run", f"{request.run_id}, session {request.session_id or '-'}"
    yield "asks for", request.subject
    if request.remembers:
        yield "counts", "for the same call again in this conversation"


def _state(entry: Entry, now: float) -> str:
    if entry.state == "waiting":
        return f"waiting since {_moment(entry.asked_at)}, {_span(entry.expires_at - now)} left"
    by = f" by {entry.decided_by} ({entry.decided_role})" if entry.decided_by else ""
    why = f": {entry.why}" if entry.why else ""
    late = " (too late for its run)" if entry.delivered is False else ""
    return f"{entry.state}{by} at {_moment(entry.decided_at or 0)}{late}{why}"


def _subject(entry: Entry) -> str:
    try:
        request = entry.request
    except Unreadable as error:
        return str(error)
    tool = f"{request.tool}: " if request.tool else ""
    return f"{request.agent}  {request.kind}  {tool}{request.title[:TITLE_CHARS]}"


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _width(ids: Iterable[str]) -> int:
    """As few characters as tell these ids apart."""
    known = set(ids)
    width = ID_CHARS
    while len({one[:width] for one in known}) < len(known):
        width += 1
    return width


def _moment(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return f"{seconds:g}"


def _span(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "no end"
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"
