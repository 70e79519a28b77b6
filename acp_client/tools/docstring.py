"""A function's docstring, read for a model: the description, and what it says of each parameter. Pure.

Knows the two plain shapes, Google's `Args:` and Sphinx's `:param name:`. What it does not know stays description.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import Any, Final

_SECTION: Final = re.compile(r"(Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?):\s*\Z")
_ARGUMENT_SECTIONS: Final = frozenset({"Args", "Arguments", "Parameters"})
_GOOGLE: Final = re.compile(r"(\s+)\*{0,2}(\w+)(?: ?\([^)]*\))?:(?:\s+(.*))?\Z")
_SPHINX: Final = re.compile(r":param (?:[^:]*\s)?(\w+):\s*(.*)\Z")
_SPHINX_OTHER: Final = re.compile(r":(?:type|returns?|rtype|raises?|yields?)\b[^:]*:")


@dataclass(slots=True)
class Described:
    """What was found. `parameters` has those that are described, by name."""

    text: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def describe(function: Any) -> Described:
    """Read the docstring of a function; empty where there is none."""
    lines = (inspect.getdoc(function) or "").splitlines()
    reader = _Reader()
    for line in lines:
        reader.read(line)
    return reader.found()


class _Reader:
    """One pass over the lines. `_into` is where a line that begins nothing belongs."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._parameters: dict[str, list[str]] = {}
        self._into: list[str] | None = self._text
        self._in_arguments = False
        self._indent: str | None = None

    def read(self, line: str) -> None:
        if (section := _SECTION.match(line)) is not None:
            self._in_arguments = section[1] in _ARGUMENT_SECTIONS
            self._into, self._indent = None, None
        elif (sphinx := _SPHINX.match(line)) is not None:
            self._into = self._parameters.setdefault(sphinx[1], [])
            self._into.append(sphinx[2])
        elif _SPHINX_OTHER.match(line) is not None:
            self._into = None
        elif self._in_arguments and self._begins_argument(line):
            return
        elif self._into is not None:
            self._into.append(line)

    def _begins_argument(self, line: str) -> bool:
        """True for a line `    name (type): text` at the indentation of the first one."""
        found = _GOOGLE.match(line)
        if found is None or found[1] != (self._indent or found[1]):
            return False
        self._indent = found[1]
        self._into = self._parameters.setdefault(found[2], [])
        self._into.append(found[3] or "")
        return True

    def found(self) -> Described:
        parameters = {name: " ".join(" ".join(lines).split()) for name, lines in self._parameters.items()}
        return Described("\n".join(self._text).strip(), {name: text for name, text in parameters.items() if text})
