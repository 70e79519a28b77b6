"""Our extension of the protocol, as the child knows it: what it advertises, and what a prompt may carry with it.

Owns the names and shapes under `_meta["acp-subagents"]`. Leaves sending to `context`. What a client sends under this
key is checked: it is ours, so a wrong shape is a fault of the client and no custom data to be ignored. (ACP v1,
extensibility: `_meta` is for such data, and clients that know nothing of it are served all the same.)
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from acp_client.protocol.errors import INVALID_PARAMS, RpcError
from acp_client.record.format.call_path import CALL_PATH_KEY, PRIMARY, is_call_path, of_session, read_call_path
from acp_client.record.format.lines import EXTENSION_KEY, TRANSCRIPTS_KEY

COMPLETE_METHOD: Final = "_acp_subagents/complete"
"""The structured value that a turn completes with, for clients that advertise it."""
TRACE_KEY: Final = "sub_agent_trace"
"""What the sub-agents of an agent did, handed up to who asked the agent."""
MAX_TRACE_CHARS: Final = 1024 * 1024
"""Of all that is handed up with one answer: as much as a client keeps, and no frame too long for it."""
MAX_HISTORY_MESSAGES: Final = 10_000
"""Messages of a history. Their bytes are bounded by the frame that they come in."""
MAX_FAULTS: Final = 1_000
"""Faults of a value that are told."""
MAX_SUB_AGENTS: Final = 100
"""Sub-agents that a client may declare for us: more than a model can choose from."""

Message: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Briefing:
    """What a client gives along with a prompt, beside the blocks.

    `history` holds the messages of the one who asks, oldest first, each as it was sent; `primer` what it says right
    before the task, a string or any other JSON value; `result_schema` the JSON Schema that the completed value is held
    against, by the client; `faults` what was wrong with the value before, in a turn that asks for another; `levels` how
    many levels of agents there may be below this one; `sub_agents` those that the client declares for it, as data;
    `call_path` which request this session answers; `transcripts` the folder for those of the runs that this one
    starts. Nothing given is `()`, None and "".
    """

    history: tuple[Message, ...] = ()
    primer: Any = None
    result_schema: Message | None = None
    faults: tuple[str, ...] = ()
    levels: int | None = None
    sub_agents: tuple[Message, ...] = ()
    call_path: str = ""
    transcripts: str = ""


@dataclass(slots=True)
class SessionState:
    """What a session keeps from turn to turn: its directory, the how many-th of its process it is, and its requests.

    Its call path is what its first prompt says, or else the environment of the process.
    """

    cwd: Path
    number: int = 1
    requests: Counter[str] = field(default_factory=Counter)
    _call_path: str = ""

    def place(self, told: str) -> str:
        """The call path, once a prompt says it, or says none."""
        if not self._call_path:
            self._call_path = told or of_session(read_call_path(os.environ) or PRIMARY, self.number)
        return self._call_path


def advertised(*, takes_sub_agents: bool) -> dict[str, bool]:
    """What we say of ourselves: we complete with values, take a history as messages, and perhaps sub-agents."""
    return {"complete": True, "history": True} | ({"sub_agents": True} if takes_sub_agents else {})


def read_briefing(meta: Mapping[str, Any] | None) -> Briefing:
    """Read `_meta` of `session/prompt`. Raises RpcError (invalid params), which names the field and the rule."""
    given = (meta or {}).get(EXTENSION_KEY)
    if given is None:
        return Briefing()
    if not isinstance(given, Mapping):
        raise _wrong("", f"is {_kind(given)}; it must be an object")
    return Briefing(
        history=_objects(given, "history", MAX_HISTORY_MESSAGES),
        primer=given.get("context"),
        result_schema=_object(given, "result"),
        faults=_faults(_object(given, "repair")),
        levels=_levels(_depth(given, "depth"), _depth(given, "max_depth")),
        sub_agents=_objects(given, "sub_agents", MAX_SUB_AGENTS),
        call_path=_call_path(given),
        transcripts=_folder(given, TRANSCRIPTS_KEY),
    )


def takes_values(meta: Mapping[str, Any] | None) -> bool:
    """True for a client that takes the value of `complete` over our extension: its capabilities' `_meta` says so."""
    given = (meta or {}).get(EXTENSION_KEY)
    return isinstance(given, Mapping) and given.get("complete") is True


class HandedUp:
    """What the sub-agents of one turn did, in bounded size: entries over it are counted, and the count is told."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._left = MAX_TRACE_CHARS
        self._cut: dict[str, Any] = {}

    def add(self, trace: Iterable[Mapping[str, Any]]) -> None:
        """Take over the entries of one trace, as JSON data."""
        for entry in trace:
            self._left -= len(json.dumps(entry))
            if self._left >= 0:
                self._entries.append(dict(entry))
            else:
                self._left = 0  # nothing after it comes before it: what there is stays in order, without gaps
                self._cut = {"agent": entry.get("agent"), "type": "cut", "count": self._cut.get("count", 0) + 1}

    def meta(self) -> dict[str, Any]:
        """The `_meta` field that hands them up; empty without any."""
        told = [*self._entries, *([self._cut] if self._cut else [])]
        return {"_meta": {EXTENSION_KEY: {TRACE_KEY: told}}} if told else {}


def _objects(given: Message, name: str, most: int) -> tuple[Message, ...]:
    objects = given.get(name)
    if objects is None:
        return ()
    if not isinstance(objects, list):
        raise _wrong(f".{name}", f"is {_kind(objects)}; it must be a list of objects")
    if len(objects) > most:
        raise _wrong(f".{name}", f"has {len(objects)} entries; at most {most} are taken")
    for index, one in enumerate(objects):
        if not isinstance(one, Mapping):
            raise _wrong(f".{name}[{index}]", f"is {_kind(one)}; it must be an object")
    return tuple(objects)


def _object(given: Message, name: str) -> Message | None:
    value = given.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise _wrong(f".{name}", f"is {_kind(value)}; it must be an object")
    return value


def _faults(repair: Message | None) -> tuple[str, ...]:
    if repair is None:
        return ()
    faults = repair.get("faults")
    if not isinstance(faults, list) or not faults or not all(isinstance(one, str) for one in faults[:MAX_FAULTS]):
        raise _wrong(".repair.faults", "must be a list of strings, at least one")
    return tuple(faults[:MAX_FAULTS])


def _depth(given: Message, name: str) -> int | None:
    depth = given.get(name)
    if depth is not None and (type(depth) is not int or depth < 0):
        raise _wrong(f".{name}", "must be an integer of at least 0")
    return depth


def _call_path(given: Message) -> str:
    path = given.get(CALL_PATH_KEY, "")
    if path != "" and not is_call_path(path):
        raise _wrong(f".{CALL_PATH_KEY}", "must be a call path, such as primary/desk.1")
    return str(path)


def _folder(given: Message, name: str) -> str:
    folder = given.get(name, "")
    if folder != "" and not (isinstance(folder, str) and Path(folder).is_absolute() and "\0" not in folder):
        raise _wrong(f".{name}", "must be an absolute path")
    return str(folder)


def _levels(depth: int | None, max_depth: int | None) -> int | None:
    return None if max_depth is None else max(0, max_depth - (depth or 0))


def _wrong(where: str, what: str) -> RpcError:
    return RpcError(INVALID_PARAMS, f'_meta["{EXTENSION_KEY}"]{where} {what}')


def _kind(value: Any) -> str:
    kinds = (
        (bool, "a boolean"),
        (str, "a string"),
        (int | float, "a number"),
        (list, "a list"),
        (Mapping, "an object"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")
