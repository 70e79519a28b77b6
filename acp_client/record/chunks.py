"""The hot path of a transcript: frames that differ in one text alone, as an agent sends them while it speaks.

Owns the shape of the last such frame, by which the next ones are known without decoding them. What is no such frame, or
not written as JSON is written here, goes the long way. Pure; nothing is decided about secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import from_json, to_json

from acp_client.protocol.framing import Overlong
from acp_client.record.cleaner import Cleaner
from acp_client.record.held import Key, key_of_chunk

_TEXT: Final = b'"text":"'
_BARE: Final = rb'([^\x00-\x1f"\\\x7f-\xff]*+)'
"""A text that is written as it is, and needs no decoding."""


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that follow each other: chunks of the text `key` with their texts, or with no key whatever else came."""

    key: Key | None
    lines: Sequence[Any]
    texts: list[str]

    def halves(self) -> tuple[Run, Run]:
        """The same in two parts."""
        middle = len(self.lines) // 2
        return (
            Run(self.key, self.lines[:middle], self.texts[:middle]),
            Run(self.key, self.lines[middle:], self.texts[middle:]),
        )


class Chunks:
    """Knows the shape of one text's frames at a time."""

    __slots__ = ("_head", "_key", "_plain", "_tail")

    def __init__(self) -> None:
        self._key: Key | None = None
        self._head = b""
        self._tail = b""
        self._plain: Callable[[bytes], re.Match[bytes] | None] = _never

    def learn(self, line: bytes, message: dict[str, Any], cleaner: Cleaner) -> None:
        """Look at a frame that went the long way: the next ones may be like it."""
        key = key_of_chunk(message)
        if key is None or to_json(message) != line:
            return
        content = message["params"]["update"]["content"]
        text = to_json(content["text"])[1:-1]
        at = line.find(_TEXT + text + b'"')
        if at < 0:
            return
        head, tail = line[: at + len(_TEXT)], line[at + len(_TEXT) + len(text) :]
        bare = from_json(head + tail)
        if (
            key_of_chunk(bare) == key
            and bare["params"]["update"]["content"]["text"] == ""
            and cleaner.json(bare) == bare
        ):
            self._key, self._head, self._tail = key, head, tail
            self._plain = _never

    def runs(self, lines: Sequence[bytes | Overlong]) -> Iterator[Run]:
        """The lines in runs, as long as they can be."""
        start = 0
        while start < len(lines):
            texts = self._texts(lines, start)
            end = start + (len(texts) or 1)
            yield Run(self._key if texts else None, lines[start:end], texts)
            start = end

    def _texts(self, lines: Sequence[bytes | Overlong], start: int) -> list[str]:
        """The texts of the lines from there on that have the shape."""
        texts: list[str] = []
        if self._key is None:
            return texts
        head, tail = self._head, self._tail
        skip, cut = len(head), len(tail)
        for index in range(start, len(lines)):
            line = lines[index]
            if not isinstance(line, bytes):
                break
            if plain := self._plain(line):
                texts.append(plain[1].decode())
                continue
            if not (line.startswith(head) and line.endswith(tail) and len(line) >= skip + cut):
                break
            text = _unquoted(line[skip:-cut])
            if text is None:
                break
            texts.append(text)
            if self._plain is _never:  # the shape comes again, so it is worth its price
                self._plain = re.compile(re.escape(head) + _BARE + re.escape(tail)).fullmatch
        return texts


def _never(_line: bytes) -> re.Match[bytes] | None:
    """For a shape that was seen once."""
    return None


def _unquoted(body: bytes) -> str | None:
    """The text of the inside of a JSON string, if it is written as it would be written here."""
    quoted = b'"' + body + b'"'
    with suppress(ValueError):
        text = from_json(quoted)
        if isinstance(text, str) and to_json(text) == quoted:
            return text
    return None
