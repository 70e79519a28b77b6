"""What recordings are called: a name for each test that no other one in its folder has, and who has taken which.

Owns the way from a test's id to the name of a file, and what is said of two tests that want the same. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"[\w.-]+")
_ODD: Final = re.compile(r"[^\w.-]+")
_MAX_BYTES: Final = 200
"""Of a name: a file's has at most 255, with what it ends in."""
_KEPT_BYTES: Final = 100
"""Of a name that cannot be kept as it is, before its mark."""
_MARK_CHARS: Final = 8
"""Of the hash by which two names that look alike then differ."""


def name_of(node_id: str) -> str:
    """`MODULE.Class.test-case`: unique among the tests of one folder."""
    path, _, within = node_id.partition("::")
    test, bracket, case = within.partition("[")
    name = ".".join([Path(path).stem, *test.split("::")])
    return _fitting(f"{name}-{case.removesuffix(']')}" if bracket else name)


def _fitting(name: str) -> str:
    kept = _ODD.sub("_", name)
    data = kept.encode()
    if kept == name and len(data) <= _MAX_BYTES:
        return name
    mark = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:_MARK_CHARS]
    return f"{data[:_KEPT_BYTES].decode(errors='ignore')}-{mark}"


def check_name(name: object, taken: Iterable[str]) -> str:
    """The name, if this test can call a recording so. Raises ValueError, which says what to give."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a recording; use letters, digits, '.', '_' and '-'")
    if name in taken:
        raise ValueError(
            f"this test has a recording called {name!r} already: each run has its own; "
            "call this one otherwise, such as acp_record(spec, name='judge')"
        )
    return name


class Taken:
    """Which test writes which file, in one session. Files that are only read may have any number of readers."""

    def __init__(self) -> None:
        self._tests: dict[Path, str] = {}

    def take(self, file: Path, node_id: str) -> None:
        """The test is going to write it. Raises ValueError where another one is."""
        other = self._tests.setdefault(file, node_id)
        if other != node_id:
            raise ValueError(
                f"{file} is recorded by two tests, {other!r} and {node_id!r}: the later one would overwrite it; "
                "leave out `name`, which makes names that differ, or give each test a name of its own"
            )
