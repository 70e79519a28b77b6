"""Redaction of one text that comes in pieces, each of which stands in a frame of its own.

Owns which part of a piece is a secret that began, or ends, in another piece, and when that is decided. Unlike a stream
of text, nothing moves from one piece to the next: a piece keeps its own text, with marks in it. Pure.
"""

from __future__ import annotations

import re
from typing import Final

from acp_client.process.redaction import REDACTED, Redactor, last_blank

LEAST_BEGUN_CHARS: Final = 2
"""So many characters of a known secret are held back until it is clear whether it goes on; one tells nothing."""
TELLING_CHARS: Final = 8
"""Of a secret that has begun and does not go on, so much is masked all the same: as long as the shortest secret."""
MAX_KEPT_CHARS: Final = 16 * 1024
"""What is remembered of a text that was let through: the longest beginning that a pattern needs."""
HEAD_CHARS: Final = 1024
TAIL_CHARS: Final = 256
"""Of a secret that goes on and on, this is remembered: how it began, and where it is now."""
ARMED_CHARS: Final = 96
"""How far behind its name the value of a secret can begin: quotes, blanks, separator, scheme."""

_ARMS: Final = re.compile(
    r"pass(?:word|wd|phrase)|secret|token|credential|connection|key|authorization|cookie|bearer|basic|digest|negotiate"
    r"|-----begin|_(?:pwd|pass|creds|auth|pat|dsn|jwt|headers|webhook)=|x-amz|sig=",
    re.IGNORECASE,
)


class Piece:
    """A part of the text, and which parts of it are secret."""

    __slots__ = ("masks", "owner", "start", "text")

    def __init__(self, text: str, owner: object) -> None:
        self.text = text
        self.owner = owner
        """Who is told by `Pieces.feed` that it is decided."""
        self.start = 0
        self.masks: list[tuple[int, int]] = []


class Pieces:
    """One text. `feed` gives the pieces that are decided now, in order: their `text` is redacted then."""

    __slots__ = ("_kept", "_marked", "_open", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._kept = ""  # what the next piece is read together with: all that is open, and what was let through before
        self._open: list[Piece] = []
        self._marked = False  # what was let through last ends in a mark

    @property
    def is_open(self) -> bool:
        """True while something is held back."""
        return bool(self._open)

    def feed(self, piece: Piece, after: str = "") -> list[Piece]:
        """Take the next piece; `after` stands between it and the next one."""
        piece.start = len(self._kept)
        self._open.append(piece)
        text = self._kept = self._kept + piece.text + after
        spans = self._redactor.secrets_in(text)
        if piece.start:  # that which only looks so alone
            spans += [(piece.start + begin, piece.start + end) for begin, end in self._redactor.secrets_in(piece.text)]
        self._mask(spans)
        done = self._settle(self._redactor.begun_at(text, LEAST_BEGUN_CHARS))
        self._forget(text, max((end for _, end in spans), default=0) == len(text), spans)
        return done

    def pass_by(self, texts: list[str]) -> bool:
        """Take many pieces at once if nothing in them is secret, or may become so. False: feed them one by one."""
        if self._open:
            return False
        text = self._kept + "".join(texts)
        if self._redactor.begun_at(text, LEAST_BEGUN_CHARS) < len(text):
            return False
        if not self._redactor.is_clear(text) and any(  # the second is that which only looks so alone
            self._redactor.secrets_in(joined) for joined in (text, "\n".join(texts))
        ):
            return False
        self._marked = False
        self._forget(text, False, [])
        return True

    def close(self, *, forced: bool = False) -> list[Piece]:
        """Decide what is open as if nothing came any more: a long beginning of a secret is masked.

        With `forced` something may well come, and any beginning is.
        """
        if not self._open:
            return []
        text = self._kept
        start = self._redactor.begun_at(text, LEAST_BEGUN_CHARS, logins=forced)
        if forced or len(text) - start >= TELLING_CHARS:
            self._mask([(start, len(text))])
        return self._settle(len(text))

    def _mask(self, spans: list[tuple[int, int]]) -> None:
        for piece in self._open:
            start, size = piece.start, len(piece.text)
            for begin, end in spans:
                if begin < start + size and end > start and begin < end:
                    piece.masks.append((max(begin - start, 0), min(end - start, size)))

    def _settle(self, decided: int) -> list[Piece]:
        done = []
        while self._open and self._open[0].start + len(self._open[0].text) <= decided:
            piece = self._open.pop(0)
            if piece.text:
                piece.text, self._marked = _masked(piece, marked=self._marked)
            done.append(piece)
        return done

    def _forget(self, text: str, ends_in_secret: bool, spans: list[tuple[int, int]]) -> None:  # noqa: FBT001
        """Keep what the next piece has to be read with."""
        keep = last_blank(text) + 1
        keep = min(keep, self._redactor.begun_at(text), _armed_from(text))
        if ends_in_secret:
            keep = min(keep, *(begin for begin, end in spans if end == len(text)))
            keep = min(keep, _armed_from(text[:keep]))
        if self._open:
            keep = min(keep, self._open[0].start)
        elif len(text) - keep > HEAD_CHARS + TAIL_CHARS and ends_in_secret:
            short = text[keep : keep + HEAD_CHARS] + text[-TAIL_CHARS:]
            if any(end == len(short) for _, end in self._redactor.secrets_in(short)):
                self._kept = short
                return
        if not self._open:
            keep = max(keep, len(text) - MAX_KEPT_CHARS)
        self._kept = text[keep:]
        for piece in self._open:
            piece.start -= keep


def _armed_from(text: str) -> int:
    """Where the name stands whose secret value may still come; the length of the text where none does."""
    for match in _ARMS.finditer(text, max(0, len(text) - ARMED_CHARS)):
        if "\n" not in text[match.end() :]:
            start = max(0, match.start() - ARMED_CHARS)
            return max(start, last_blank(text[: match.start()]) + 1)
    return len(text)


def _masked(piece: Piece, *, marked: bool) -> tuple[str, bool]:
    """The text with one mark for each run of secrets, none where the run began in the piece before."""
    out: list[str] = []
    at = 0
    for begin, end in sorted(piece.masks):
        if end <= at and at:
            continue
        if begin > at:
            out.append(piece.text[at:begin])
        if not (begin <= at and (marked or at)):
            out.append(REDACTED)
        at = max(at, end)
    out.append(piece.text[at:])
    return "".join(out), bool(piece.masks) and at == len(piece.text)
