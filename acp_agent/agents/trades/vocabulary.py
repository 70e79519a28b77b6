"""The words that the readers know, from the package's data, each list read once.

Owns the loading. Leaves what a word means to the module that asks for its list.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import cast

__all__ = ["mapping", "section", "words"]


@cache
def words(*path: str) -> frozenset[str]:
    """Return the list of words at a path of the vocabulary."""
    return frozenset(cast("Sequence[str]", _at(path)))


@cache
def mapping(*path: str) -> Mapping[str, str]:
    """Return the table at a path that says one word for another."""
    return cast("Mapping[str, str]", _at(path))


@cache
def section(*path: str) -> Mapping[str, Sequence[str]]:
    """Return the table of lists at a path."""
    return cast("Mapping[str, Sequence[str]]", _at(path))


def _at(path: Sequence[str]) -> object:
    found: object = _vocabulary()
    for name in path:
        found = cast("Mapping[str, object]", found)[name]
    return found


@cache
def _vocabulary() -> Mapping[str, object]:
    source = resources.files("acp_agent.agents.trades").joinpath("data", "vocabulary.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))
