"""Whether two normalised JSON values are the same, and where they differ, to be read by a person.

Owns what counts as equal beside equality (a member that is null is as good as absent; what was redacted fits anything)
and the text of a difference: a unified diff, bounded, printable. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from acp_client.safe_text import ELLIPSIS, printable

MASK: Final = "[redacted]"
"""What a record has in the place of a secret."""

MAX_LINES: Final = 60
"""Of a difference: what fits on a screen."""
MAX_CHARS: Final = 4000
"""Of a difference: it travels in an error message."""
_MAX_COMPARED_LINES: Final = 400
"""On each side, once equal beginnings and ends are left away: comparing takes the square of it."""
_LINE_CHARS: Final = 160
_CONTEXT_LINES: Final = 3


def settled(expected: Any, found: Any) -> tuple[Any, Any]:
    """Both values as they are compared by `==`: nulls left out; where a secret was masked, what fits is the mask."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return _settled_objects(expected, found)
    if isinstance(expected, list) and isinstance(found, list):
        pairs = [settled(*pair) for pair in zip(expected, found, strict=False)]
        rest = len(pairs)
        return (
            [one for one, _ in pairs] + [_without_nulls(item) for item in expected[rest:]],
            [other for _, other in pairs] + [_without_nulls(item) for item in found[rest:]],
        )
    if isinstance(expected, str) and isinstance(found, str) and MASK in expected and _fits(expected, found):
        return expected, expected
    return _without_nulls(expected), _without_nulls(found)


def same(expected: Any, found: Any) -> bool:
    """True if the found value is as good as the expected one."""
    one, other = settled(expected, found)
    return bool(one == other and _kinds(one) == _kinds(other))


def difference(
    expected: Any,
    found: Any,
    *,
    names: tuple[str, str] = ("recorded", "received"),
    max_lines: int = MAX_LINES,
    max_chars: int = MAX_CHARS,
) -> str:
    """A unified diff of two normalised JSON values; empty if they are the same.

    At most `max_lines` lines and `max_chars` characters, a note of what was cut included; free of control characters,
    so that it can be written to a terminal.
    """
    if same(expected, found):
        return ""
    one, other = settled(expected, found)
    lines = list(_diff(list(_lines(one)), list(_lines(other)), names))
    return _bounded(lines, max_lines, max_chars)


# ---- equality


def _settled_objects(expected: dict[str, Any], found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    one: dict[str, Any] = {}
    other: dict[str, Any] = {}
    for key, value in expected.items():
        if value is not None:
            one[key], settled_found = settled(value, found.get(key))
            if settled_found is not None:
                other[key] = settled_found
    other |= {key: _without_nulls(found[key]) for key in found.keys() - one.keys() if found[key] is not None}
    return one, other


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _fits(masked: str, text: str) -> bool:
    """What is around the masks stands in the text in the same order. Linear: the leftmost place of each part does."""
    first, *middle, last = masked.split(MASK)
    if not (text.startswith(first) and text.endswith(last) and len(text) >= len(first) + len(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _kinds(value: Any) -> Any:
    """Where booleans stand: to Python, True is 1."""
    if isinstance(value, dict):
        return {key: _kinds(member) for key, member in value.items()}
    return [_kinds(item) for item in value] if isinstance(value, list) else isinstance(value, bool)


# ---- text


def _lines(value: Any) -> Iterator[str]:
    """Indented JSON; a long text in pieces, each line of it in one of its own."""
    for line in json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).split("\n"):
        if len(line) <= _LINE_CHARS:
            yield line
            continue
        for piece in re.split(r"(?<=\\n)(?=.)", line):
            yield from (piece[start : start + _LINE_CHARS] for start in range(0, len(piece), _LINE_CHARS))


def _diff(one: list[str], other: list[str], names: tuple[str, str]) -> Iterator[str]:
    from difflib import unified_diff  # noqa: PLC0415  # most runs of a replay have no difference

    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    first = max(0, start - _CONTEXT_LINES)
    last = max(0, end - _CONTEXT_LINES)
    before, after = (side[first : len(side) - last][:_MAX_COMPARED_LINES] for side in (one, other))
    for line in unified_diff(before, after, *names, n=_CONTEXT_LINES, lineterm=""):
        if not line.startswith("@@"):  # numbers of lines that nobody sees
            yield printable(line)


def _bounded(lines: list[str], max_lines: int, max_chars: int) -> str:
    kept: list[str] = []
    room = max_chars
    for line in lines:
        note = f"{ELLIPSIS} {len(lines) - len(kept)} more lines"
        if (len(kept) >= max_lines - 1 and len(lines) > max_lines) or len(line) + 1 + len(note) > room:
            kept.append(note[:room])
            break
        kept.append(line)
        room -= len(line) + 1
    return "\n".join(kept)
