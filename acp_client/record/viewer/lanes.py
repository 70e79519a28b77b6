"""The time line: which runs are drawn over one axis, from when to when, and what happened on the way. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from acp_client.record.tree.items import HostCall, Item, Permission, ToolCall
from acp_client.record.tree.runs import Run
from acp_client.record.viewer.words import ANSWER_TONES

APART_SECONDS: Final = 60.0
"""Root runs that begin so long after all others have ended get an axis of their own."""
MAX_MARKS: Final = 200
"""On one lane; more could not be told apart, so evenly chosen ones stand for all."""


def lanes(roots: Sequence[Run], at: dict[Run, int]) -> list[dict[str, Any]]:
    """Axes with their lanes: `span` seconds from the first start; a lane's run, start, length and marks."""
    return [_axis(group, at) for group in _groups(roots)]


def _groups(roots: Sequence[Run]) -> Iterator[list[Run]]:
    """Roots that ran at about the same time; one without a start stands alone."""
    group: list[Run] = []
    end = 0.0
    for root in roots:
        began = root.started
        if began is None or (group and began.timestamp() > end + APART_SECONDS):
            if group:
                yield group
            group = []
        if began is None:
            yield [root]
        else:
            group.append(root)
            end = max(end, began.timestamp() + _length(root))
    if group:
        yield group


def _length(root: Run) -> float:
    return max((run.seconds or 0.0) for run in root.walk())


def _axis(group: list[Run], at: dict[Run, int]) -> dict[str, Any]:
    began = group[0].started
    rows: list[dict[str, Any]] = []
    for run in (run for root in group for run in root.walk() if not run.handed_up):
        start = (run.started - began).total_seconds() if began and run.started else 0.0
        rows.append({"r": at[run], "at": round(start, 3), "len": round(run.seconds or 0.0, 3), "m": _marks(run)})
    span = max(row["at"] + row["len"] for row in rows)
    return {"from": began.isoformat(timespec="seconds") if began else "", "span": max(span, 0.001), "rows": rows}


def _marks(run: Run) -> list[tuple[float, float, str]]:
    """When, for how long, and in which tone."""
    found = [_mark(item) for item in run.items if isinstance(item, (ToolCall, HostCall, Permission))]
    marks = [mark for mark in found if mark is not None]
    step = -(-len(marks) // MAX_MARKS) or 1
    return marks[::step]


def _mark(item: Item) -> tuple[float, float, str] | None:
    if item.t is None:
        return None
    tone = ANSWER_TONES[item.answer] if isinstance(item, Permission) else "bad" if item.failed else "call"
    shape = f"asked {tone}" if isinstance(item, Permission) else tone
    return round(item.t, 3), round(item.seconds or 0.0, 3), shape
