r"""Answer text for a terminal, as it streams: chunks may split what belongs together.

Owns what is held back between chunks: a `\r` or a joiner, whose meaning the next chunk decides. Which characters are
dangerous is `safe_text`'s.
"""

from __future__ import annotations

import re
from typing import Final

from acp_client.safe_text import printable

_UNDECIDED: Final = re.compile(r"[\r\u200c\u200d]{1,4}\Z")
"""Longer runs are no text: their beginning is shown as what it is."""


class StreamText:
    """`feed` chunks, `end` once: together they give what `printable` makes of the whole text."""

    def __init__(self) -> None:
        self._held = ""
        self._before = ""

    def feed(self, chunk: str) -> str:
        """What can be shown now."""
        text = self._held + chunk
        undecided = _UNDECIDED.search(text)
        end = undecided.start() if undecided else len(text)
        self._held = text[end:]
        return self._show(text[:end])

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return self._show(held)

    def _show(self, text: str) -> str:
        """A character that is shown as it is goes before the next text, since what follows depends on it."""
        if not text:
            return ""
        shown = printable(self._before + text, multiline=True)[len(self._before) :]
        last = text[-1]
        self._before = last if printable(last, multiline=True) == last else ""
        return shown
