r"""The JSON values in an answer: the whole of it, fenced blocks, and what stands in prose.

Owns where a value begins and ends, in time that grows with the text and no faster, whatever the text is. Which value is
wanted is `fitting`'s business. Pure.

Each attempt to read a value at an opening bracket goes on where it failed, so that no stretch of text is read more
than a few times. What broke off inside (a comma too many, an end that never comes) is passed over as a whole where its
brackets match: a part of a broken value is no answer.
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

MAX_LOOKED_AT_CHARS: Final = 4 * 1024 * 1024
"""Of a text that is no value as a whole, its end."""
MAX_READS: Final = 20_000
"""Attempts to read a value, some ten microseconds each. Where a text invites more, less of its end is looked at."""
LESS: Final = 8
"""By which factor."""
MAX_CANDIDATES: Final = 100
"""The last of each kind: each is tried until one fits."""

FIRST_WINDOW_CHARS: Final = 1024
LONGEST_TOKEN_CHARS: Final = 16
"""`-Infinity` or an escaped pair, cut by the end of a window."""

_BEGUN: Final = re.compile(r"""\{\s*["'}]|\[\s*(?:["'\[{\]]|-?\d|true\b|false\b|null\b|NaN\b|-?Infinity\b)""")
"""What was meant as JSON, as it went wrong later; anything else is a bracket in prose."""
_BALANCE: Final = re.compile(r'(?<!\\)"[^"\\\n]*(?:\\.[^"\\\n]*)*"|[\[{]|[\]}]|^[ \t]*(?:`{3}|~{3})', re.MULTILINE)
_CLOSING: Final = {"[": "]", "{": "}"}
_FENCE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_LOOSE: Final = re.compile(
    r'(?<!\\)"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"'
    r"|(?<![\w.+\-/])(?<!\d[,:])-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+\-]?\d+)?(?![\w%/\-]|[.,:]\d)"
    r"|(?<![\w\-])(?:true|false|null)(?![\w\-])"
)
"""Scalars in prose: a string, a number that is no part of a date, a version or a word, a literal."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A JSON value, and where in the text it begins."""

    at: int
    value: Any


@dataclass(frozen=True, slots=True)
class Broken:
    """What was meant as JSON and is none: where it begins, where reading it failed, and why."""

    at: int
    failed: int
    why: str


@dataclass(slots=True)
class Found:
    """What a text holds, each kind in the order of the text. `broken` is the last of its kind."""

    text: str
    """What was looked at."""
    marked: deque[Candidate] = field(default_factory=lambda: deque(maxlen=MAX_CANDIDATES))
    """Objects and arrays anywhere, and scalars that are all of a fenced block."""
    spans: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=MAX_CANDIDATES))
    broken: Broken | None = None


def parse(text: str) -> Any:
    """The value of a text that is JSON as a whole. Raises ValueError; NaN and Infinity are no JSON."""
    try:
        return _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def find(whole: str) -> Found:
    """What there is of objects, arrays and fenced blocks at the end of a text."""
    text = whole[-MAX_LOOKED_AT_CHARS:]
    while not _Scan(found := Found(text)).run():
        text = text[-(len(text) // LESS) :]
    fenced = [one for at, body in _fences(text) if (one := _scalar(at, body)) is not None]
    if fenced:
        found.marked = deque(sorted([*found.marked, *fenced], key=lambda one: one.at), MAX_CANDIDATES)
    return found


def loose_scalars(found: Found) -> Iterator[Candidate]:
    """Scalars in the prose around what was found, the last one first."""
    end = found.spans[0][1] if len(found.spans) == MAX_CANDIDATES else 0
    last: deque[re.Match[str]] = deque(maxlen=MAX_CANDIDATES)
    for begin, after in [*found.spans, (len(found.text), 0)]:
        last.extend(_LOOSE.finditer(found.text, end, max(begin, end)))
        end = after
    for match in reversed(last):
        if (one := _scalar(match.start(), match[0])) is not None:
            yield one


def _scalar(at: int, text: str) -> Candidate | None:
    """None for what is no JSON, or an object or array: the scan finds those."""
    if text[:1] in ("{", "["):
        return None
    try:
        value = parse(text)
    except ValueError:
        return None
    return Candidate(at, value)


def _fences(text: str) -> Iterator[tuple[int, str]]:
    """The bodies of fenced blocks; the last one may lack its end."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            yield opened.end(), text[opened.end() : fence.start()].strip()
            opened = None
    if opened is not None:
        yield opened.end(), text[opened.end() :].strip()


class _Scan:
    """One pass over a text for objects and arrays that no other holds."""

    def __init__(self, found: Found) -> None:
        self._text = found.text
        self._found = found
        self._unbalanced_until = 0

    def run(self) -> bool:
        """From the first opening bracket to the last. False if there were too many."""
        at = reads = 0
        while (begun := _BEGUN.search(self._text, at)) is not None:
            at = self._read(begun.start())
            reads += 1
            if reads > MAX_READS:
                return False
        return True

    def _read(self, begin: int) -> int:
        """Read a value at a bracket; returns where to go on."""
        try:
            value, end = self._decode(begin)
        except json.JSONDecodeError as error:
            return self._pass_over(begin, error.pos, error.msg) or self._after_failure(begin, error.pos)
        except (ValueError, RecursionError) as error:  # no JSON, or none that can be read; where, is not known
            why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            return self._pass_over(begin, begin, why) or len(self._text)
        self._found.marked.append(Candidate(begin, value))
        self._found.spans.append((begin, end))
        return end

    def _decode(self, begin: int) -> tuple[Any, int]:
        """The value that begins here, and its end. In windows that grow: an error of the decoder costs its whole text.

        Raises JSONDecodeError with the place in the text, ValueError or RecursionError.
        """
        size = FIRST_WINDOW_CHARS
        while True:
            window = self._text[begin : begin + size]
            try:
                value, length = _DECODER.raw_decode(window)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(window) - LONGEST_TOKEN_CHARS or error.msg.startswith("Unterminated")
                if not cut or begin + size >= len(self._text):
                    error.pos += begin
                    raise
                size *= 2
            else:
                return value, begin + length

    def _pass_over(self, begin: int, failed: int, why: str) -> int | None:
        """Note a broken value; its end, if its brackets match."""
        self._found.broken = Broken(begin, failed, why)
        end = self._balance(begin)
        if end is not None:
            self._found.spans.append((begin, end))
        return end

    def _after_failure(self, begin: int, failed: int) -> int:
        """Where the decoder stopped; a string right before that may have swallowed a bracket: `["so: {"a": 1}`."""
        quote = self._text.rfind('"', begin, failed + 1)
        swallowed = quote > 0 and not self._text[quote + 1 : failed].strip()
        return max(begin + 1, quote - 1 if swallowed else failed)

    def _balance(self, begin: int) -> int | None:
        """Where the brackets that open here are closed again, before the fence around them ends."""
        if begin < self._unbalanced_until:
            return None
        closing: list[str] = []
        for token in _BALANCE.finditer(self._text, begin):
            word = token[0]
            if word in _CLOSING:
                closing.append(_CLOSING[word])
            elif word[-1] == '"':
                continue
            elif word != closing.pop():
                self._unbalanced_until = token.start()
                return None
            elif not closing:
                return token.end()
        self._unbalanced_until = len(self._text)
        return None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]} is beyond every float")
    return number


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
