"""What is wrong with a value, in words that a model can act on: where, which rule, and what is there instead.

Owns the wording and its bounds. A value itself is never shown: it may be huge, or secret. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from acp_client.safe_text import printable

MAX_FAULTS: Final = 30
"""Faults that are listed; a value with more is another value altogether."""
MAX_PATH_CHARS: Final = 200
MAX_RULE_CHARS: Final = 300

_KINDS: Final[dict[type, str]] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: a JSON path (`$` is the whole value), the rule, and the kind of what is there."""

    path: str
    rule: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.rule}{f' (it is {self.kind})' if self.kind else ''}"


class OutputInvalid(ValueError):
    """A value, or an answer as a whole, that does not fit. The message lists every fault; no value is in it."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        every = tuple(faults)
        self.faults: Final = every[:MAX_FAULTS]
        """The first of them."""
        self.count: Final = len(every)
        more = f"; and {self.count - MAX_FAULTS} more" if self.count > MAX_FAULTS else ""
        super().__init__("; ".join(map(str, self.faults)) + more)


def fault(path: Sequence[str | int], rule: str, kind: str = "") -> Fault:
    """A fault, its parts made safe to show and cut."""
    return Fault(json_path(path), printable(rule, max_chars=MAX_RULE_CHARS), kind)


def kind_of(value: Any) -> str:
    """The kind of a JSON value, in JSON's words."""
    return _KINDS.get(type(value), "no JSON value")


def json_path(steps: Sequence[str | int]) -> str:
    """`$.trades[3]["net price"]`; the end of one that is very long."""
    path = "$" + "".join(_step(step) for step in steps)
    if len(path) > MAX_PATH_CHARS:
        path = f"$…{path[-MAX_PATH_CHARS:]}"
    return printable(path)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{json.dumps(step[:MAX_PATH_CHARS], ensure_ascii=False)}]"
