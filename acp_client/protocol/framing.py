"""Bytes to lines: one frame a line, split on LF alone, bounded, each byte looked at once.

Owns the unfinished line and its bound. Knows nothing of JSON: a line may be a frame, a blank or noise.
(ACP v1, transports: messages are delimited by newlines and must not contain embedded newlines.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
"""64 MiB: above the largest frame seen from real agents and above the conformance kit's own limit."""

HEAD_BYTES: Final = 4096
"""How much of an over-long line is kept: enough to see its method or id, small enough to log."""

SMALL_PIECE_BYTES: Final = 4096
"""Pieces below this are gathered in one growing buffer, so that a drip of bytes costs no object each."""


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line over the limit; only its head was kept, the rest is skipped up to the next newline."""

    head: bytes


class LineSplitter:
    """Splits a byte stream into lines without their LF. Never searches the same byte twice.

    Holds at most `max_frame_bytes` plus one piece. A line over the limit is reported once, as soon as the limit is
    passed (not at its end, which may never come).
    """

    __slots__ = ("_max", "_parts", "_size", "_skipping")

    def __init__(self, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        self._max = max_frame_bytes
        self._parts: list[bytes | bytearray] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes | Overlong]:
        """Take the next piece; return the lines that it completes, in order."""
        if self._skipping:
            end = data.find(b"\n")
            if end < 0:
                return []
            self._skipping = False
            data = data[end + 1 :]
        lines: list[bytes | Overlong] = data.split(b"\n")  # type: ignore[assignment]  # list is invariant
        rest: bytes = lines.pop()  # type: ignore[assignment]  # split yields bytes only
        may_exceed = self._size + len(data) > self._max
        if self._parts and lines:
            self._parts.append(lines[0])  # type: ignore[arg-type]  # split yields bytes only
            lines[0] = b"".join(self._parts)
            self._parts = []
            self._size = 0
        if rest:
            self._hold(rest)
        return self._bounded(lines) if may_exceed else lines

    def finish(self) -> bytes:
        """The stream has ended: return the line that had no newline, or nothing."""
        rest = b"".join(self._parts)
        self._parts = []
        self._size = 0
        return rest

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        last = self._parts[-1] if self._parts else None
        if len(piece) >= SMALL_PIECE_BYTES:
            self._parts.append(piece)
        elif type(last) is bytearray and len(last) < SMALL_PIECE_BYTES * 16:
            last += piece
        else:
            self._parts.append(bytearray(piece))

    def _bounded(self, lines: list[bytes | Overlong]) -> list[bytes | Overlong]:
        """Replace each line over the limit by its head, the unfinished one too."""
        bounded: list[bytes | Overlong] = [
            Overlong(line[:HEAD_BYTES]) if type(line) is bytes and len(line) > self._max else line for line in lines
        ]
        if self._size > self._max:
            bounded.append(Overlong(self.finish()[:HEAD_BYTES]))
            self._skipping = True
        return bounded
