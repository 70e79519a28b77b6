"""Bytes to lines: one frame a line, split on LF alone, bounded, each byte looked at once; and which lines repeat.

Owns the unfinished line and its bound; a line may be a frame, a blank or noise.
(ACP v1, transports: messages are delimited by newlines and must not contain embedded newlines.)

An agent sends its answer in hundreds of frames that differ in one string. Once one of them is decoded, what stands
before and after that string is known; a line with the same bytes around a string that needs no unescaping is the same
JSON value with another text, whoever wrote it and in whatever order of keys. All other lines are decoded. Leaves to
`link` which frames are updates, to the listener what an update means. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from pydantic_core import from_json, to_json

DEFAULT_MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
"""64 MiB: above the largest frame seen from real agents and above the conformance kit's own limit."""

HEAD_BYTES: Final = 4096
"""How much of an over-long line is kept: enough to see its method or id, small enough to log."""

SMALL_PIECE_BYTES: Final = 4096
"""Pieces below this are gathered in one growing buffer, so that a drip of bytes costs no object each."""

MAX_LEARNT_BYTES: Final = 4096
"""Of a frame that is looked at: the gain is in small ones, and looking costs as much as decoding once more."""
MAX_PENALTY: Final = 1024
"""Frames that are not looked at, at most, after others that nothing was like."""

_CHUNKS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk"})
_UNLIKELY: Final = b'"such a text stands in no frame"'
_QUOTE: Final = ord('"')
_BACKSLASH: Final = ord("\\")
_CONTROL: Final = re.compile(rb"[\x00-\x09\x0b-\x1f]").search
"""But the line feed, which ends every line."""


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


class Repeats:
    """What was learnt of one connection. `message` is the update that others repeat; it is never changed."""

    __slots__ = ("_head", "_hit", "_penalty", "_skip", "_tail", "message")

    def __init__(self) -> None:
        self._forget()
        self._hit = True
        self._penalty = 0
        self._skip = 0

    def _forget(self) -> None:
        self.message: dict[str, Any] = {}
        self._head = b"\n"  # no line begins so
        self._tail = b""

    def take(self, lines: Sequence[object], start: int) -> list[str]:
        """The texts of the lines from `start` on that repeat `message`, up to the first that does not. Never raises."""
        head, tail = self._head, self._tail
        begin, end, least = len(head), -len(tail), len(head) + len(tail)
        bodies = []
        for line in islice(lines, start, None):
            if type(line) is not bytes or not line.startswith(head) or not line.endswith(tail) or len(line) < least:
                break
            body = line[begin:end]
            if _QUOTE in body or _BACKSLASH in body:
                break
            bodies.append(body)
        return self._read(bodies) if bodies else []

    def _read(self, bodies: list[bytes]) -> list[str]:
        """As text. What JSON does not allow in a string is left to be decoded as it is wherever else it comes."""
        self._hit = True
        joined = b"\n".join(bodies)
        if not _CONTROL(joined):
            with suppress(UnicodeDecodeError):
                return joined.decode().split("\n")
        self._forget()
        return []

    def learn(self, message: dict[str, Any], line: bytes) -> None:
        """An update that was decoded from this line: others may be like it. Looked at less often where none are."""
        if self._skip:
            self._skip -= 1
        elif len(line) <= MAX_LEARNT_BYTES and (text := _text_of(message)) and not self._is_known(line):
            self._penalty = 0 if self._hit else min(2 * self._penalty + 1, MAX_PENALTY)
            self._skip = self._penalty
            self._hit = False
            self._learn(message, line, text)

    def _is_known(self, line: bytes) -> bool:
        """True for one of these whose text needs to be decoded: there is nothing new in it."""
        return line.startswith(self._head) and line.endswith(self._tail)

    def _learn(self, message: dict[str, Any], line: bytes, text: str) -> None:
        head, found, tail = line.partition(to_json(text))
        if found and (like := from_json(head + _UNLIKELY + tail)) == with_text(message, from_json(_UNLIKELY)):
            self.message, self._head, self._tail = like, head + b'"', b'"' + tail


def _text_of(message: dict[str, Any]) -> str | None:
    update = message["params"].get("update")
    if type(update) is dict and type(kind := update.get("sessionUpdate")) is str and kind in _CHUNKS:
        content = update.get("content")
        if type(content) is dict and content.get("type") == "text" and type(text := content.get("text")) is str:
            return text
    return None


def with_text(message: dict[str, Any], text: str) -> dict[str, Any]:
    """The same update with another text; all else in it is shared."""
    params = message["params"]
    update = params["update"]
    content = update["content"] | {"text": text}
    return message | {"params": params | {"update": update | {"content": content}}}
