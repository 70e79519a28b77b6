"""Trees of runs as the JSON data of the page: every word is decided and made safe here, the page only lays it out.

Owns the shape that `assets/page.js` reads. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from acp_client.record.tree.forest import timeline
from acp_client.record.tree.items import Permission
from acp_client.record.tree.runs import Run, counts, failures
from acp_client.record.viewer.cards import Card, card
from acp_client.record.viewer.lanes import lanes
from acp_client.record.viewer.words import (
    block,
    facts,
    line,
    pairs,
    seconds,
    status_word,
    task,
    told_counts,
    why_failed,
)
from acp_client.record.viewer.words import usage as usage_words

STDERR_CHARS: Final = 4000
"""Of what is shown beside a failure: its end, which says most; all of it is among the items."""

Json = dict[str, Any]


def page_data(roots: Sequence[Run], title: str) -> Json:
    """All that the page shows."""
    runs = [run for root in roots for run in root.walk()]
    at = {run: number for number, run in enumerate(runs)}
    shown = [_run(run, at) for run in runs]
    asked = [
        [number, place]
        for number, run in enumerate(runs)
        for place, item in enumerate(timeline(run))
        if isinstance(item, Permission)
    ]
    return {
        "title": line(title),
        "headline": told_counts(counts(runs)),
        "runs": shown,
        "roots": [at[root] for root in roots],
        "failures": [at[run] for run in failures(runs)],
        "asked": asked,
        "lanes": lanes(roots, at),
    }


def _run(run: Run, at: dict[Run, int]) -> Json:
    word, tone = status_word(run)
    is_failed = run.failed
    return {
        "name": line(run.name),
        "crumb": [[at[one], line(one.name)] for one in reversed(list(run.lineage()))],
        "task": task(run),
        "status": word,
        "tone": tone,
        "facts": facts(run),
        "why": why_failed(run) if is_failed else "",
        "meaning": run.meaning,
        "failure": _failure(run) if is_failed else [],
        "stderr": block(run.stderr[-STDERR_CHARS:].strip()) if is_failed else "",
        "info": _info(run),
        "items": [
            {"r": at[one]} if isinstance(one, Run) else _item(card(one), one.t, one.seconds) for one in timeline(run)
        ],
    }


def _item(shown: Card, t: float | None, took: float | None) -> Json:
    """Short names, since there may be many; what is empty is left out."""
    told: Json = {
        "g": shown.group,
        "l": shown.label,
        "x": shown.title,
        "b": shown.badge,
        "c": shown.tone,
        "n": shown.note,
        "d": seconds(took) if took else "",
        "f": int(shown.bad),
        "o": int(shown.open),
        "s": [[section.type, section.heading, section.content] for section in shown.body],
    }
    kept = {key: value for key, value in told.items() if value}
    return kept if t is None else {"t": round(t, 3), **kept}


def _failure(run: Run) -> list[tuple[str, str]]:
    failure = {key: value for key, value in run.failure.items() if key != "message" and value not in (None, False)}
    diagnostics = (run.result or {}).get("diagnostics")
    known = diagnostics if isinstance(diagnostics, dict) else {}
    for key in ("exit_code", "signal"):
        if known.get(key) is not None:
            failure[key] = known[key]
    return [(key.replace("_", " "), text) for key, text in pairs(failure)]


def _info(run: Run) -> list[tuple[str, str]]:
    header = run.header
    known = [
        ("run", line(header.run_id) if header else ""),
        ("parent run", line(header.parent_run_id) if header and header.parent_run_id else ""),
        ("agent", line(run.agent_name) if run.agent_name and run.agent_name != run.name else ""),
        ("command", line(" ".join(header.command)) if header else ""),
        ("folder", line(header.cwd) if header else ""),
        ("started", line(header.started) if header else ""),
        ("usage", ", ".join(f"{name} {amount}" for name, amount in usage_words(run.usage, run.result))),
        ("file", line(run.source)),
        ("known from", "what its parent handed up; it left no transcript" if run.handed_up else ""),
        ("faults", "; ".join(line(f"line {one.line}: {one.rule}") for one in run.faults)),
    ]
    return [(name, text) for name, text in known if text]
