"""What the fields of a rule take, and what a wrong value is told. Owns their checks; the fields are `rules`'.

A check is for pydantic's BeforeValidator. It refuses what could never match, for a rule that never matches is a gap.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from pydantic import BeforeValidator

from acp_client.policy.match.paths import MAX_PATH_BYTES
from acp_client.safe_text import printable

MAX_TOLD_CHARS: Final = 100
"""What a message keeps of a value."""


def one_of(*words: str) -> BeforeValidator:
    """A validator for a word of a list."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and value in words:
            return value
        raise ValueError(no_word_of(words, value))

    return BeforeValidator(check)


def no_word_of(words: Sequence[str], value: Any) -> str:
    """What a value is told that is none of the words: the list, and the nearest."""
    near = get_close_matches(value, words, 1, 0.5) if isinstance(value, str) else []
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return f"must be {', '.join(words[:-1])} or {words[-1]}, not {_told(value)}{hint}"


def _told(value: Any) -> str:
    if isinstance(value, str):
        return f'"{printable(value, max_chars=MAX_TOLD_CHARS)}"'
    return f"{value} without quotes" if isinstance(value, int | float) else "a value of another type"


def as_list(value: Any) -> Any:
    """One word is a list of one."""
    if value is None:
        return None
    words: Any = (value,) if isinstance(value, str | os.PathLike) else value
    if not isinstance(words, Iterable) or isinstance(words, bytes | Mapping):
        raise ValueError(f"must be a text or a list of texts, not {_told(value)}")  # noqa: TRY004  # pydantic wants it
    words = tuple(words)
    if not words:
        raise ValueError("must not be empty, for then it matches nothing; leave it out where anything will do")
    return words


def checked_glob(value: Any) -> Any:
    """A glob that can match something."""
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {_told(value)}")  # noqa: TRY004  # as above
    if not value or value != value.strip() or printable(value) != value:
        raise ValueError(
            f'must be one line of visible text without blanks around it, such as "git *", not {_told(value)}'
        )
    return value


def absolute_from(base: str | None, value: Any) -> Any:
    """A rule's path, made absolute from a directory (None: the working one); the file system judges links and `..`.

    Raises ValueError for what would silently match nothing: a glob, a URI, a variable, an unknown home.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str) or not path.strip() or "\0" in path or len(path) > MAX_PATH_BYTES:
        raise ValueError(f"must be the path of a directory or a file, not {_told(path)}")
    if "*" in path:
        raise ValueError(f"is no glob, but covers all that is under it: not {_told(path)}; leave the * out")
    if "://" in path or path.startswith(("$", "file:")):
        raise ValueError(f"must be a plain path (~ is your home), no URI and no variable: not {_told(path)}")
    expanded = os.path.expanduser(path)  # noqa: PTH111  # raises nothing
    if expanded.startswith("~"):
        raise ValueError(f"{_told(path)} names a home that is not known here; write it out")
    absolute = os.path.join(base or os.getcwd(), expanded)  # noqa: PTH109, PTH118  # an absolute one stays as it is
    return absolute if ".." in absolute.split("/") else os.path.abspath(absolute)  # noqa: PTH100  # tidied


def absolute(value: Any) -> Any:
    """The same from the working directory."""
    return absolute_from(None, value)
