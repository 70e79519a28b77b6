"""The change that a tool call shows, as lines of a unified diff. Pure; bounded in time for any two texts."""

from __future__ import annotations

import difflib
from typing import Final

CONTEXT_LINES: Final = 3
MAX_COMPARED: Final = 4_000_000
"""Lines of the one side times lines of the other: about a second. More is shown as all removed, all added."""
HUNK: Final = "@@"


def diff(old: str | None, new: str) -> str:
    """Lines that begin with a blank, `-`, `+` or `@@`; all added where there was nothing. Empty for no change."""
    before, after = (old or "").splitlines(), new.splitlines()
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    middle_old, middle_new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(middle_old) * len(middle_new) > MAX_COMPARED:
        hunk = f"{HUNK} -{head + 1},{len(middle_old)} +{head + 1},{len(middle_new)} {HUNK}"
        return "\n".join([hunk, *(f"-{one}" for one in middle_old), *(f"+{one}" for one in middle_new)])
    start = max(0, head - CONTEXT_LINES)
    ends = [len(side) - max(0, tail - CONTEXT_LINES) for side in (before, after)]
    hunks = difflib.unified_diff(before[start : ends[0]], after[start : ends[1]], n=CONTEXT_LINES, lineterm="")
    return "\n".join(_moved(one, start) for one in list(hunks)[2:])


def _common(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _moved(shown: str, lines: int) -> str:
    """A hunk's heading counted from the start of the file, where the lines above were left out."""
    if not shown.startswith(HUNK) or not lines:
        return shown
    words = shown.split(" ")
    for at in (1, 2):
        sign, (first, comma, rest) = words[at][0], words[at][1:].partition(",")
        words[at] = f"{sign}{int(first) + lines}{comma}{rest}"
    return " ".join(words)
