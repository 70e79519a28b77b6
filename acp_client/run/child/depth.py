"""How deep runs may be nested, and how that goes from process to process.

Owns the two variables and what they mean; the environment of a run's child always has them from here, whatever its
spec says. What cannot be read is taken for the deepest, never for the surface. Pure. A process that forges its own
environment is a sandbox's matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

DEPTH_VARIABLE: Final = "ACP_SUBAGENTS_DEPTH"
"""How many runs are around a process; 0 where there is none."""
MAX_DEPTH_VARIABLE: Final = "ACP_SUBAGENTS_MAX_DEPTH"
"""The depth that no run may pass, counted as in `DEPTH_VARIABLE`; without it there is no limit."""

DEEPEST: Final = 1_000_000
"""Stands for a depth that cannot be read: deeper than any that our own processes write."""
_NUMBER: Final = re.compile(r"[0-9]{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Depth:
    """Where this process is: `here` runs are around it, and none may be deeper than `deepest` (None: no limit)."""

    here: int = 0
    deepest: int | None = None
    fault: str = ""
    """Which variable could not be read."""

    def limited(self, levels: int | None) -> Depth:
        """With so many levels of runs below this process at the most: the stricter of both limits counts."""
        if levels is None:
            return self
        deepest = self.here + levels
        return replace(self, deepest=deepest if self.deepest is None else min(self.deepest, deepest))

    def refusal(self) -> str | None:
        """Why a run that is started here would be too deep, if it would be."""
        if self.fault:
            return (
                f"this process cannot tell how deep it is: {self.fault} in its environment is no number, "
                "and only this library may set it; start the process without it"
            )
        if self.deepest is not None and self.here >= self.deepest:
            return (
                f"a run here would be at depth {self.here + 1}, and {self.deepest} is the deepest allowed; "
                "raise max_depth where the first of them is started, or let this agent do its work itself"
            )
        return None

    def variables(self) -> dict[str, str]:
        """What a child of this process has in its environment."""
        return {name: str(value) for name, value in zip(_VARIABLES, self._below(), strict=True) if value is not None}

    def meta(self) -> dict[str, Any]:
        """The same for a child that knows our extension, whose environment may have been changed on the way."""
        return {key: value for key, value in zip(_KEYS, self._below(), strict=True) if value is not None}

    def _below(self) -> tuple[int, int | None]:
        return self.here + 1, self.deepest


_VARIABLES: Final = (DEPTH_VARIABLE, MAX_DEPTH_VARIABLE)
_KEYS: Final = ("depth", "max_depth")


def read_depth(environment: Mapping[str, str]) -> Depth:
    """Where the process with this environment is."""
    read = {name: _read(environment[name]) for name in _VARIABLES if name in environment}
    unreadable = [name for name, value in read.items() if value is None]
    if unreadable:
        return Depth(DEEPEST, DEEPEST, unreadable[0])
    return Depth(read.get(DEPTH_VARIABLE) or 0, read.get(MAX_DEPTH_VARIABLE))


def without_depth(variables: Mapping[str, str]) -> dict[str, str]:
    """An environment without what only `Depth.variables` may say."""
    return {name: value for name, value in variables.items() if name not in _VARIABLES}


def _read(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def check_levels(levels: object) -> int | None:
    """Raises ValueError unless it is None or a number of levels."""
    if levels is not None and (type(levels) is not int or levels < 0):
        raise ValueError(
            f"max_depth is {levels!r}; it is how many levels of runs there may be below this process: an integer of "
            "at least 0, or None for no limit of our own"
        )
    return levels
