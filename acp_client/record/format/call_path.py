"""Where a session is in a tree of agents: which request of which parent it answers. Pure.

A call path is text such as `primary/desk.1/risk_judge.2-1`: the primary session, its first request to `desk`, and in
there the request to `risk_judge` that the first tool call of the model's second message makes. It follows from what
the agents do, not from when they do it: no id, no clock, no order of starts is in it. It goes from process to process
in the environment and in the `_meta` of a prompt. Owns its grammar and the counting; who makes requests says to whom.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

CALL_PATH_VARIABLE: Final = "ACP_SUBAGENTS_CALL_PATH"
"""The call path of the sessions of a process; without it they are primary."""
CALL_PATH_KEY: Final = "call_path"
"""The same in the `_meta` of a prompt, where it counts more: an environment may be changed on the way."""
PRIMARY: Final = "primary"
MAX_CALL_PATH_CHARS: Final = 4096

_STEP: Final = r"[A-Za-z0-9_-]{1,64}\.[1-9][0-9]{0,5}(?:-[1-9][0-9]{0,5}){0,2}"
_SESSION: Final = r"(?:~[1-9][0-9]{0,5})?"
_PATH: Final = re.compile(f"{PRIMARY}{_SESSION}(?:/{_STEP}{_SESSION})*", re.ASCII)
_TOOL_CALL: Final = re.compile(r"[1-9][0-9]{0,5}-[1-9][0-9]{0,5}", re.ASCII)
_ODD: Final = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_MAX_NAME_CHARS: Final = 64

_tool_call: Final[ContextVar[str]] = ContextVar("acp_subagents_tool_call", default="")


def is_call_path(text: object) -> bool:
    """True for what this module writes."""
    return isinstance(text, str) and len(text) <= MAX_CALL_PATH_CHARS and _PATH.fullmatch(text) is not None


def of_session(path: str, number: int) -> str:
    """The path of the n-th session that a process opens (from 1): a client may open several in one process."""
    return path if number == 1 else f"{path}~{number}"


def order(path: str) -> tuple[tuple[str | int, ...], ...]:
    """A key to sort by: parents before children, the primary session first, numbers by value."""
    return tuple(
        tuple(int(part) if part.isdigit() else part for part in re.split(r"[.~-](?=[0-9])", step))
        for step in path.split("/")
    )


@contextmanager
def in_tool_call(message: int, call: int) -> Iterator[None]:
    """Say which tool call of a model makes the requests in this block: its message's number and its own, from 1.

    Then their call paths do not depend on which of the calls of one message comes first. It holds for tasks that are
    started in the block too, and for as long as they go on.
    """
    key = f"{message}-{call}"
    if not _TOOL_CALL.fullmatch(key):
        raise ValueError(f"tool call {key} is no pair of numbers; count messages and their tool calls from 1")
    token = _tool_call.set(key)
    try:
        yield
    finally:
        _tool_call.reset(token)


class CallPaths:
    """Gives each request that one session makes a path of its own.

    `here` is the path of the session, "" for a process that is no agent. `asked` counts its requests: an agent whose
    turns make one of these each hands it on from turn to turn. A request in a tool call is known by that, any other by
    how many to the same name were made before it.
    """

    def __init__(self, here: str = "", asked: Counter[str] | None = None) -> None:
        self.here: Final = here
        self._asked: Final = Counter[str]() if asked is None else asked

    def next(self, name: str) -> str:
        """The path of the request to this name that is made now."""
        tool_call = _tool_call.get()
        step = f"{_ODD.sub('-', name)[:_MAX_NAME_CHARS] or 'agent'}.{tool_call}"
        self._asked[step] += 1
        number = self._asked[step]
        last = (f"-{number}" if number > 1 else "") if tool_call else str(number)
        return f"{self.here or PRIMARY}/{step}{last}"


def read_call_path(environment: Mapping[str, str]) -> str:
    """The path of a process with this environment, "" for one that nobody of ours started, or with an odd value."""
    path = environment.get(CALL_PATH_VARIABLE, "")
    return path if is_call_path(path) else ""


def call_path_variables(path: str) -> dict[str, str]:
    """What a child of that path has in its environment."""
    return {CALL_PATH_VARIABLE: path} if path else {}


def call_path_meta(path: str) -> dict[str, str]:
    """What it is told with each prompt, if it knows our extension."""
    return {CALL_PATH_KEY: path} if path else {}
