"""Many runs to trees, by their parent links; and the one order in which a run's items and children are shown.

Owns what becomes of odd links: a parent that is not there, or a circle, makes a root. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from acp_client.record.tree.handed_up import take_in
from acp_client.record.tree.items import Item
from acp_client.record.tree.runs import Run

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


def plant(runs: Iterable[Run]) -> list[Run]:
    """Link the runs and give the roots, in the order of their start, those without one first as they came.

    A run whose parent is not among them is a root (its header still names the parent). Of two with one id the first
    one has the children. Where an agent's own sub-agents left no transcripts, what it tells of them stands in.
    """
    every = list(runs)
    by_id: dict[str, Run] = {}
    for run in every:
        if run.run_id is not None:
            by_id.setdefault(run.run_id, run)
    roots = []
    for run in sorted(every, key=lambda one: one.started or _LONG_AGO):
        parent = by_id.get(run.header.parent_run_id or "") if run.header else None
        if parent is None or run in parent.lineage():
            roots.append(run)
        else:
            run.parent = parent
            parent.children.append(run)
    for run in every:
        if run.told and not run.children:
            take_in(run, run.told)
    return roots


def timeline(run: Run) -> list[Item | Run]:
    """The items of a run with its children among them, each where it began; of an unknown start: at the end."""
    ordered: list[Item | Run] = []
    waiting = [(child, offset(child)) for child in run.children]
    timed = sorted(((at, child) for child, at in waiting if at is not None), key=lambda pair: pair[0])
    for item in run.items:
        while timed and item.t is not None and timed[0][0] < item.t:
            ordered.append(timed.pop(0)[1])
        ordered.append(item)
    return [*ordered, *(child for _, child in timed), *(child for child, at in waiting if at is None)]


def offset(child: Run) -> float | None:
    """Seconds from the start of its parent to its own, None where that is not known."""
    began = child.parent.started if child.parent else None
    started = child.started
    return None if began is None or started is None else (started - began).total_seconds()
