"""The last words of a child: the tail of its stderr, bounded, readable, without secrets.

Owns the ring of bytes and where it may be cut. Leaves reading from the pipe to the process, and what
a secret is to the redactor.
"""

import codecs
import re
from typing import Final

from acp_client.process.redaction import Redactor

MARGIN_BYTES: Final = 32 * 1024
"""Kept beyond the tail, never shown: so that a secret that straddles the cut is still seen whole."""

# What a token goes on with, and the rest of a character of several bytes.
_CUT_WORD: Final = re.compile(rb"[\w+/=.~%:\x80-\xbf-]*+")


class StderrTail:
    """Takes any amount of bytes in bounded memory; gives the last of them as redacted text.

    `feed` is cheap and may be called for every read; decoding and redacting wait until `text()`.
    """

    __slots__ = ("_kept", "_max_bytes", "_redactor", "_total_bytes")

    def __init__(self, max_bytes: int, redactor: Redactor) -> None:
        if max_bytes < 0:
            raise ValueError(f"max_bytes is {max_bytes}; it is a number of bytes, 0 or more")
        self._max_bytes = max_bytes
        self._redactor = redactor
        self._kept = bytearray()
        self._total_bytes = 0

    def __repr__(self) -> str:
        return f"<StderrTail of {self._total_bytes} bytes, {self.dropped_bytes} dropped>"

    @property
    def total_bytes(self) -> int:
        """How many bytes the child has written so far."""
        return self._total_bytes

    @property
    def dropped_bytes(self) -> int:
        """How many of them came before the tail and are not in `text()`, at the least."""
        return max(0, self._total_bytes - self._max_bytes)

    def feed(self, data: bytes) -> None:
        """Take what was read. Amortised constant work for a byte; keeps at most twice the bound."""
        self._total_bytes += len(data)
        bound = self._max_bytes + MARGIN_BYTES
        self._kept += data[-bound:]
        if len(self._kept) > 2 * bound:
            del self._kept[:-bound]

    def text(self) -> str:
        """The tail, redacted and then cut to `max_bytes` of UTF-8; may be asked for at any time.

        Begins with a whole line where it was cut, unless that would lose most of it, and else never
        inside a word. Bytes that are no UTF-8 are U+FFFD.
        """
        if not self._total_bytes:
            return ""
        kept = bytes(self._kept[-(self._max_bytes + MARGIN_BYTES) :])
        before, tail = self._at_tail(kept)
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        stream = self._redactor.stream()
        stream.feed(decode(before))  # what is decided by now lies before the tail: not shown
        shown = stream.feed(decode(tail, final=True)) + stream.flush()
        return self._cut(shown.encode())

    def _at_tail(self, kept: bytes) -> tuple[bytes, bytes]:
        """The margin, without the line that the ring cut at its front, and the tail."""
        cut = max(0, len(kept) - self._max_bytes)
        if self._total_bytes <= len(kept):
            return kept[:cut], kept[cut:]
        line = kept.find(b"\n", 0, cut) + 1
        front = line or _word_end(kept)
        cut = max(cut, front)
        return kept[front:cut], kept[cut:]

    def _cut(self, redacted: bytes) -> str:
        if len(redacted) <= self._max_bytes:
            return redacted.decode()
        tail = redacted[len(redacted) - self._max_bytes :]
        line = tail.find(b"\n", 0, len(tail) // 2) + 1
        return tail[line or _word_end(tail) :].decode()


def _word_end(cut: bytes) -> int:
    """Where the token-like word that the bytes begin in the middle of ends."""
    match = _CUT_WORD.match(cut)
    assert match is not None  # it matches nothing, too
    return match.end()


class StderrEvents:
    """The same stream as redacted text for whoever listens, a piece at a time.

    Characters and secrets that a read has cut come whole, with the next piece or at the end.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._redact = redactor.stream()

    def feed(self, data: bytes) -> str:
        """What can be shown by now, possibly nothing."""
        return self._redact.feed(self._decode(data))

    def finish(self) -> str:
        """No more will come: the rest."""
        return self._redact.feed(self._decode(b"", final=True)) + self._redact.flush()
