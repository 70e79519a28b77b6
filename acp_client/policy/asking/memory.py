"""What a conversation remembers of its approvals: one key for each call that was approved. Pure.

Owns what makes two calls the same: the tool, its canonical arguments, and all that a person was shown with them, so
that nothing wider than what was shown is remembered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from acp_client.policy.permission import Decision, PermissionRequest

MAX_REMEMBERED: Final = 10_000
"""Approvals of one conversation; the oldest is forgotten, which costs a question."""


class Memory:
    """The approvals of one conversation. A rejection is never put here."""

    def __init__(self) -> None:
        self._approved: dict[str, Decision] = {}

    def find(self, key: str) -> Decision | None:
        """Who approved this call, if anybody has."""
        return self._approved.get(key)

    def keep(self, key: str, decision: Decision) -> None:
        """It was approved."""
        if len(self._approved) >= MAX_REMEMBERED:
            del self._approved[next(iter(self._approved))]
        self._approved[key] = decision


def key_of(request: PermissionRequest) -> str:
    """What the call is remembered by: a hash over the session, the tool, its arguments, paths and diffs.

    The arguments are compared as JSON values: the order of keys and spacing mean nothing, 1 is 1.0 and not true, and a
    text that holds an object is that object. Where the agent names no tool, or sends no arguments (or empty ones, as
    some always do), the title and all of the content count too.
    """
    try:
        text = canonical(_parts(request, _as_object(request.arguments)))
    except RecursionError:  # a text that holds an object nested too deep for that
        text = canonical(_parts(request, request.arguments))
    return hashlib.sha256(text.encode()).hexdigest()


def _parts(request: PermissionRequest, arguments: Any) -> list[Any]:
    told = request.name is not None and arguments not in (None, "", {}, [])
    content = request.raw.get("content")
    shown = [item for item in content if not told or _is_diff(item)] if isinstance(content, list) else []
    title = None if told else request.title
    return [request.session_id, request.kind, request.name, title, arguments, request.paths, shown]


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spacing; whole floats as integers."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _as_object(arguments: Any) -> Any:
    """The object that a text holds; any other value as it is."""
    if not isinstance(arguments, str) or not arguments.lstrip().startswith("{"):
        return arguments
    try:
        return json.loads(arguments, object_pairs_hook=_without_twins, parse_float=_exact, parse_constant=_no_constant)
    except (ValueError, ArithmeticError, RecursionError):
        return arguments


def _exact(text: str) -> float:
    """With more digits than a float has, two texts would be one number."""
    number = float(text)
    if Decimal(text) != Decimal(repr(number)):
        raise ValueError("it is no float")
    return number


def _no_constant(_text: str) -> float:
    raise ValueError("NaN and Infinity are no JSON")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """With a key twice, readers differ on what it says: then it is no object, but a text."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _is_diff(item: Any) -> bool:
    """Other content is what a call gives, and changes as it runs."""
    return isinstance(item, dict) and item.get("type") == "diff"
