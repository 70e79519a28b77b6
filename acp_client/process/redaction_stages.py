"""The stages of a redaction: text in, text with secrets replaced out, whole or in pieces.

Owns the promise that a text cut into pieces anywhere comes out as if it had never been cut, in
bounded memory and linear time. Leaves to `secret_patterns` what is looked for, and to `redaction`
in which order.
"""

import json
import re
from collections.abc import Iterable
from typing import Final

from acp_client.process.secret_patterns import (
    LONGEST_HEAD_CHARS,
    LONGEST_LOOKAHEAD_CHARS,
    LONGEST_LOOKBEHIND_CHARS,
    Needles,
)

REDACTED: Final = "[redacted]"
"""Stands where a secret was."""

SHORTEST_SECRET_CHARS: Final = 8
"""A known value shorter than this is left alone: it would be found in the middle of plain words."""

LONGEST_HELD_CHARS: Final = 4 * LONGEST_HEAD_CHARS
"""Of a secret that does not end, more than this is not kept: what it was is already decided."""

_RESCAN_SHARE: Final = 4  # an open match is looked at again when it has grown by a quarter,
_RESCAN_CHARS: Final = 256  # and by this much: so the work stays linear in what has come
_UNRESERVED: Final = frozenset("-._~")
_SCHEME: Final = re.compile(r"(?:bearer|basic|token)[ \t]+", re.IGNORECASE)
_URL_PASSWORD: Final = re.compile(r"://[^\s/:@]*:([^\s@]+)@")


class PatternStage:
    """Replaces whatever one expression of `secret_patterns` finds."""

    __slots__ = ("_needles", "pattern")

    def __init__(self, pattern: re.Pattern[str], needles: Needles) -> None:
        self.pattern = pattern
        self._needles = needles

    def may_match(self, text: str) -> bool:
        """False, for next to nothing, only if there is nothing in it."""
        return self._needles.may_match(text)

    def apply(self, text: str) -> str:
        """The whole text, redacted; the same object if there was nothing in it."""
        return self.pattern.sub(_replacement, text) if self._needles.may_match(text) else text

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the secrets stand."""
        if not self._needles.may_match(text):
            return []
        return [
            (match.end(match.lastindex) if match.lastindex else match.start(), match.end())
            for match in self.pattern.finditer(text)
        ]

    def stream(self) -> "PatternStream":
        """The same for a text that comes in pieces."""
        return PatternStream(self.pattern)


class PatternStream:
    """Lets whole lines through; holds the last line, and a secret whose end is not yet seen.

    That is right because no pattern decides across a line end, and one that goes on across it
    (a private key) shows in a match that reaches the end of what has come. A line too long to be
    held is let through up to the longest head of a pattern.
    """

    __slots__ = ("_behind", "_held", "_open", "_pattern", "_scan_at_chars")

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._reset()

    def _reset(self) -> None:
        self._behind = ""  # text let through, as it came: what a pattern may look back at
        self._held = ""
        self._open = False  # _held begins with a match that may go on
        self._scan_at_chars = 2 * LONGEST_HEAD_CHARS

    def feed(self, text: str) -> str:
        """Take the next piece; give what is decided by now, possibly nothing."""
        self._held += text
        due = len(self._held) >= self._scan_at_chars or (not self._open and "\n" in text)
        return self._scan(final=False) if due else ""

    def flush(self) -> str:
        """No more will come: give the rest. The stream can be used for another text then."""
        rest = self._scan(final=True)
        self._reset()
        return rest

    def _scan(self, *, final: bool) -> str:
        text, start = self._behind + self._held, len(self._behind)
        lines_end = text.rfind("\n") + 1
        decided = len(text) if final else max(lines_end, len(text) - LONGEST_HEAD_CHARS, start)
        settled = max(lines_end - 1, len(text) - LONGEST_LOOKAHEAD_CHARS)
        done: list[str] = []
        for match in self._pattern.finditer(text, start):
            if match.start() >= decided:
                break
            done.append(text[start : match.start()])
            start = match.start()
            if match.end() > settled and not final:
                self._hold(text, start, match)
                return "".join(done)
            done.append(_replacement(match))
            start = match.end()
        keep_from = max(start, decided)
        done.append(text[start:keep_from])
        self._hold(text, keep_from, None)
        return "".join(done)

    def _hold(self, text: str, start: int, match: re.Match[str] | None) -> None:
        self._behind = text[max(0, start - LONGEST_LOOKBEHIND_CHARS) : start]
        self._held = text[start:]
        self._open = match is not None
        self._scan_at_chars = 2 * LONGEST_HEAD_CHARS
        if match is not None:
            if len(self._held) > LONGEST_HELD_CHARS:
                self._held = self._without_middle(text, match)
            size = len(self._held)
            self._scan_at_chars = size + max(size // _RESCAN_SHARE, _RESCAN_CHARS)

    def _without_middle(self, text: str, match: re.Match[str]) -> str:
        """The same open match, shorter: its head and some of its run, then what follows it."""
        start = match.start()
        begun = self._pattern.match(text, start, start + LONGEST_HEAD_CHARS)
        assert begun is not None  # a head is never longer than that
        return text[start : begun.end()] + text[match.end() :]


class KnownStage:
    """Replaces given secret values, also as JSON or a URL would spell them, longest first."""

    __slots__ = ("_by_first", "_firsts", "_longest_chars", "_pattern")

    def __init__(self, secrets: Iterable[str]) -> None:
        spelled = {form for secret in secrets for form in _spellings(secret)}
        ordered = sorted(spelled, key=lambda form: (-len(form), form))
        self._longest_chars = len(ordered[0]) if ordered else 0
        self._by_first: dict[str, list[str]] = {}
        for form in ordered:
            self._by_first.setdefault(form[0], []).append(form)
        self._pattern = re.compile("|".join(map(re.escape, ordered)) or r"(?!)")
        self._firsts = re.compile(f"[{re.escape(''.join(self._by_first))}]" if ordered else r"(?!)")

    def __len__(self) -> int:
        """How many spellings are looked for."""
        return sum(map(len, self._by_first.values()))

    def apply(self, text: str) -> str:
        """The whole text, redacted; the same object if there was nothing in it."""
        return self._pattern.sub(REDACTED, text) if self._by_first else text

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where they stand."""
        return [match.span() for match in self._pattern.finditer(text)] if self._by_first else []

    def begun_at(self, text: str, least: int) -> int:
        """Where at least so many characters of one begin that the text ends in; its length where none does."""
        start = self._undecided_from(text) if self._by_first else len(text)
        return start if len(text) - start >= least else len(text)

    def stream(self) -> "KnownStream":
        """The same for a text that comes in pieces."""
        return KnownStream(self)

    def split(self, text: str) -> tuple[str, str]:
        """The part that nothing to come can change, redacted; and the rest, as it is.

        The rest begins where a secret may have begun, and is shorter than the longest secret.
        """
        undecided = self._undecided_from(text)
        done: list[str] = []
        start = 0
        for match in self._pattern.finditer(text):
            if match.start() >= undecided:
                break
            done += (text[start : match.start()], REDACTED)
            start = match.end()
        keep_from = max(start, undecided)
        return "".join((*done, text[start:keep_from])), text[keep_from:]

    def _undecided_from(self, text: str) -> int:
        for match in self._firsts.finditer(text, max(0, len(text) - self._longest_chars + 1)):
            index = match.start()
            if _begins_one_of(text[index:], self._by_first[text[index]]):
                return index
        return len(text)


class KnownStream:
    """Holds back only what may be the beginning of a known secret."""

    __slots__ = ("_held", "_stage")

    def __init__(self, stage: KnownStage) -> None:
        self._stage = stage
        self._held = ""

    def feed(self, text: str) -> str:
        """Take the next piece; give what is decided by now."""
        done, self._held = self._stage.split(self._held + text)
        return done

    def flush(self) -> str:
        """No more will come: give the rest."""
        rest, self._held = self._stage.apply(self._held), ""
        return rest


def _replacement(match: re.Match[str]) -> str:
    """What is kept of a match (see `secret_patterns` on groups), and the mark."""
    if match.lastindex is None:
        return REDACTED
    return match.string[match.start() : match.end(match.lastindex)] + REDACTED


def _begins_one_of(beginning: str, forms: list[str]) -> bool:
    return any(len(form) > len(beginning) and form.startswith(beginning) for form in forms)


def _spellings(secret: str) -> set[str]:
    """The value as it may turn up: bare, trimmed, in JSON, in a URL; a login's or a header's secret alone."""
    trimmed = secret.strip()
    scheme = _SCHEME.match(trimmed)
    bare = {trimmed, trimmed[scheme.end() if scheme else 0 :], *_URL_PASSWORD.findall(secret)}
    escaped = {json.dumps(form)[1:-1] for form in bare}
    escaped |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in bare}
    quoted = {_percent_encoded(form) for form in bare}
    return {part for form in bare | escaped | quoted for part in _clear_of_mark(form)}


def _percent_encoded(text: str) -> str:
    return "".join(
        char
        if char.isascii() and (char.isalnum() or char in _UNRESERVED)
        else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in text
    )


def _clear_of_mark(form: str) -> list[str]:
    """The parts of a secret that cannot overlap a mark, so that redacting twice changes nothing."""
    parts = (_trim(part) for part in form.split(REDACTED))
    return [part for part in parts if len(part) >= SHORTEST_SECRET_CHARS and part not in REDACTED]


def _trim(part: str) -> str:
    pieces = [(REDACTED[:cut], REDACTED[cut:]) for cut in range(1, len(REDACTED))]
    trimmed, before = part, None
    while trimmed != before:
        before = trimmed
        for beginning, end in pieces:
            trimmed = trimmed.removesuffix(beginning).removeprefix(end)
    return trimmed
