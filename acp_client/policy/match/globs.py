"""Does a glob match a text of the agent's? In two readings: for certain, or perhaps. Pure.

Owns what a glob sees of a text: for certain, only what a reader sees too. Leaves to `rules` which reading a rule takes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from acp_client.safe_text import printable

MAX_TEXT_CHARS: Final = 10_000
"""A tool's name or title that is looked at; of a longer one nobody reads the end."""


def certainly_matches(text: str | None, globs: Iterable[str]) -> bool:
    """True if the text, one line without anything unseen, matches a glob to the letter, case included."""
    if not text or len(text) > MAX_TEXT_CHARS:
        return False
    seen = text.strip()
    return seen == printable(seen) and any(fnmatchcase(seen, glob) for glob in globs)


def perhaps_matches(text: str | None, globs: Iterable[str]) -> bool:
    """True if the text or a line of it matches a glob, whatever the case, widths, blanks, and what is not seen.

    So does a text that is too long to be read. No text matches nothing.
    """
    if not text:
        return False
    if len(text) > MAX_TEXT_CHARS:
        return True
    folded = [_folded(line) for line in (text, *text.splitlines())]
    return any(fnmatchcase(line, _folded(glob)) for line in folded for glob in globs)


def _folded(text: str) -> str:
    """As a careless reader takes it: without accents, widths, case, and what is not seen; any blanks are one."""
    plain = unicodedata.normalize("NFKD", text)
    seen = "".join(char for char in plain if char.isspace() or _is_seen(char))
    return " ".join(seen.casefold().split())


def _is_seen(char: str) -> bool:
    if char.isascii():
        return char.isprintable()
    return unicodedata.category(char) not in {"Mn", "Me"} and printable(f"x{char}x")[1] == char
