"""What a person sees of a question, as text for a terminal. Pure.

Every line of the agent's stands behind a margin of ours, made safe and cut to the terminal's width before it could run
over into the next line: so none of it can look like our own words, or like the prompt.
"""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any, Final

from acp_client.policy.approval import ApprovalRequest, Diff
from acp_client.safe_text import printable

LABEL_CHARS: Final = 9
MARGIN: Final = "| "
MIN_TEXT_CHARS: Final = 20
"""On a terminal that is narrower than that, lines do run over."""

MAX_LINES: Final = {"title": 8, "reason": 4, "path": 20, "argument": 40, "diff": 80, "option": 30, "field": 12}
"""Lines of the terminal that each part may take; how much is left out is said."""
MAX_TEXT_CHARS: Final = 200_000
"""Of one part, no more is looked at."""
MAX_COUNTED: Final = 1000
"""Lines that are left out are counted so far."""
MAX_DIFFS: Final = 20
"""Of one request; more would scroll the others, and the rest of the question, away."""
MAX_DIFF_LINES: Final = 2000
"""Of a file: comparing takes time that grows with the square."""
TAB_CHARS: Final = 4
WIDE: Final = frozenset("WFA")

HEADS: Final = {
    "tool": "wants to use a tool",
    "choice": "wants a choice that is more than a permission",
    "elicitation": "asks you to fill in a form",
    "turn": "is to be given its next turn",
}


def show(request: ApprovalRequest, columns: int) -> str:
    """The whole question but the keys; ends with a newline."""
    return "".join(f"{line}\n" for line in _lines(request, columns))


def _lines(request: ApprovalRequest, columns: int) -> Iterator[str]:
    yield ""
    left = request.asked_at + request.timeout_seconds - time.time()
    yield f"APPROVAL, role {request.role}, {duration(max(left, 0))} left. This agent {HEADS[request.subject]}:"
    for label, limit, text in parts(request):
        yield from block(label, text, columns, MAX_LINES[limit])


def parts(request: ApprovalRequest) -> Iterator[tuple[str, str, Iterable[str]]]:
    """What it asks, in order: a label, the part of `MAX_LINES` that bounds it, and lines as the agent sent them."""
    yield "agent", "title", [request.agent]
    if request.subject in ("tool", "choice"):
        yield "kind", "title", [request.kind]
        if request.tool is not None:
            yield "tool", "title", [request.tool]
    yield "title", "title", _split(request.title)
    if request.why is not None:
        yield "because", "reason", _split(request.why)
    if request.paths:
        yield "paths", "path", request.paths
    if request.arguments is not None:
        yield "with", "argument", _split(_pretty(request.arguments))
    yield from _changes(request.diffs)
    if request.subject == "choice":
        yield "options", "option", [f"{n}  {o.name} ({o.kind or 'no kind'})" for n, o in enumerate(request.options, 1)]


def _changes(diffs: Sequence[Diff]) -> Iterator[tuple[str, str, Iterable[str]]]:
    for diff in diffs[:MAX_DIFFS]:
        yield "change", "diff", _diff(diff)
    if len(diffs) > MAX_DIFFS:
        yield "changes", "diff", [f"{len(diffs) - MAX_DIFFS} more are NOT SHOWN"]


def block(label: str, lines: Iterable[str], columns: int, limit: int) -> Iterator[str]:
    """Lines of the agent's behind our margin, at most so many."""
    room = max(columns - LABEL_CHARS - len(MARGIN) - 1, MIN_TEXT_CHARS)
    wrapped = (piece for line in lines for piece in wrap(printable(line[:MAX_TEXT_CHARS].expandtabs(TAB_CHARS)), room))
    for number, piece in enumerate(islice(wrapped, limit)):
        yield f"{label if number == 0 else '':<{LABEL_CHARS}}{MARGIN}{piece}"
    more = sum(1 for _ in islice(wrapped, MAX_COUNTED))
    if more:
        yield f"{'':<{LABEL_CHARS}}({more}{' or' if more == MAX_COUNTED else ''} more lines are NOT SHOWN)"


def wrap(text: str, room: int) -> Iterator[str]:
    """Pieces that take at most so many columns. In doubt a character counts as wide."""
    piece: list[str] = []
    used = 0
    for character in text:
        width = 2 if unicodedata.east_asian_width(character) in WIDE else 1
        if used + width > room:
            yield "".join(piece)
            piece, used = [], 0
        piece.append(character)
        used += width
    yield "".join(piece)


def _pretty(value: Any) -> str:
    """Readable JSON; characters as they are, since the margin's own cleaning comes after."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _split(text: str) -> list[str]:
    return text[:MAX_TEXT_CHARS].split("\n")


def _diff(diff: Diff) -> Iterable[str]:
    old, new = (diff.old_text or "").split("\n"), diff.new_text.split("\n")
    if diff.old_text is None:
        return [f"+++ {diff.path} (a new file, {len(new)} lines)", *(f"+{line}" for line in new)]
    if max(len(old), len(new)) > MAX_DIFF_LINES or max(len(diff.old_text), len(diff.new_text)) > MAX_TEXT_CHARS:
        return [f"*** {diff.path}: {len(old)} lines become these {len(new)} lines", *(f"+{line}" for line in new)]
    changes = unified_diff(old, new, diff.path, diff.path, lineterm="")
    return [line.replace("\n", " ") for line in changes] or [f"*** {diff.path}: no change"]


def duration(seconds: float) -> str:
    """About how long, in the largest unit that fits."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
