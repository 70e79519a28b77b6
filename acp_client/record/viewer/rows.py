"""Trees of runs as rows for a terminal: what happened in order, nested, and a summary at the end.

Owns what a row says and how much of a text is shown; how rows are drawn is the command line's. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from acp_client.record.tree.forest import timeline
from acp_client.record.tree.items import Item, Permission
from acp_client.record.tree.runs import Run, counts, failures
from acp_client.record.viewer.cards import CALL_ID, Card, Section, card
from acp_client.record.viewer.words import (
    ANSWER_TONES,
    Tone,
    answer,
    asked_for,
    block,
    crumb,
    facts,
    line,
    many,
    status_word,
    task,
    told_counts,
    why_failed,
)

STREAMED: Final = ("messages", "thoughts", "output")
"""Groups of items that are nothing but their text."""
HEADED: Final = ("permissions", "plans")
"""Groups whose heading says enough."""
MAX_LINES: Final = 12
"""Of one card's body; the page shows all of it."""
MAX_STDERR_LINES: Final = 20
"""Of a failed run, from the end."""
TIME_CHARS: Final = 9
LABEL_CHARS: Final = 10
INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Row:
    """One line; without a label it goes on from the row above. `mark` is the word that has the tone, `t` its time."""

    depth: int
    text: str
    label: str = ""
    mark: str = ""
    tone: Tone = ""
    t: float | None = None

    @property
    def time(self) -> str:
        """The time in its column."""
        return f"{'' if self.t is None else f'{self.t:.2f} s':>{TIME_CHARS}}"

    def __str__(self) -> str:
        mark = f"{self.mark}: " if self.mark else ""
        return f"{INDENT * self.depth}{self.time} {self.label:<{LABEL_CHARS}} {mark}{self.text}".rstrip()


def tree_rows(roots: Sequence[Run]) -> Iterator[Row]:
    """All of the trees, then the summary."""
    for root in roots:
        yield from _run_rows(root)
    yield Row(0, "")
    yield from summary_rows([run for root in roots for run in root.walk()])


def _run_rows(top: Run) -> Iterator[Row]:
    """Depth first, with a stack of our own: a chain of runs may be longer than Python's."""
    stack: list[Iterator[Item | Run]] = [iter([top])]
    while stack:
        one = next(stack[-1], None)
        if one is None:
            stack.pop()
        elif isinstance(one, Run):
            yield run_row(one, len(stack) - 1)
            stack.append(iter(timeline(one)))
        else:
            yield from item_rows(one, len(stack) - 1)


def run_row(run: Run, depth: int = 0, *, live: bool = False) -> Row:
    """The heading of a run."""
    word, tone = status_word(run, live=live)
    return Row(depth, f"{line(run.name)}: {', '.join([word, *facts(run)])}", "run", tone=tone)


def item_rows(item: Item, depth: int = 0) -> Iterator[Row]:
    """An item's heading and what of its body a terminal has room for; none for frames that only keep the wire going."""
    told = card(item)
    if told.group == "protocol" and not told.bad:
        return
    body = [] if told.group in HEADED else list(_body(told.body))
    if told.group in STREAMED and body:
        first, *body = body
        yield Row(depth, first, told.label, t=item.t)
    else:
        yield heading_row(told, depth, item.t)
    yield from (Row(depth, text) for text in body[:MAX_LINES])
    if len(body) > MAX_LINES:
        yield Row(depth, f"… {many(len(body) - MAX_LINES, 'line')} more", tone="dim")


def heading_row(told: Card, depth: int, t: float | None) -> Row:
    """What an item is, and its state."""
    took = f" ({told.note})" if told.note else ""
    return Row(depth, f"{told.title}{took}", told.label, told.badge, told.tone, t)


def _body(sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
        if isinstance(section.content, str):
            yield from [section.heading] if section.heading else []
            yield from section.content.split("\n")
            continue
        for name, text in section.content:
            if name == CALL_ID:
                continue
            first, *rest = text.split("\n")
            yield f"{name or section.heading}: {first}"
            yield from (f"  {one}" for one in rest)


def summary_rows(runs: Sequence[Run], *, live: bool = False) -> Iterator[Row]:
    """Who asked for what and who answered, why a run failed, and the counts."""
    for run in runs:
        for item in run.of(Permission):
            yield Row(0, f"{_who(run)}: {asked_for(item)}: {answer(item)}", "asked", tone=ANSWER_TONES[item.answer])
    for run in failures(runs):
        yield from _failure_rows(run, live=live)
    yield Row(0, told_counts(counts(runs)), "in all")


def _who(run: Run) -> str:
    told = task(run)
    return f"{crumb(run)} [{told}]" if told else crumb(run)


def _failure_rows(run: Run, *, live: bool) -> Iterator[Row]:
    word, tone = status_word(run, live=live)
    first, *rest = why_failed(run).split("\n")
    reason = f"{line(run.reason)}: " if run.reason != run.status else ""
    yield Row(0, f"{_who(run)}: {reason}{first}", word, tone=tone)
    yield from (Row(0, text) for text in rest)
    stderr = block(run.stderr.strip()).split("\n")
    left_out = len(stderr) - MAX_STDERR_LINES
    if left_out > 0:
        yield Row(0, f"… {many(left_out, 'line')} before", "stderr", tone="dim")
    for at, text in enumerate(stderr[-MAX_STDERR_LINES:]):
        if text or at:
            yield Row(0, text, "stderr" if at == 0 and left_out <= 0 else "")
