"""The model calls of one session as a file: one JSON object a line, a header first, then the calls in order. Pure.

    {"acp_model_script": 1, "call_path": "primary/desk.1"}
    {"call": 1, "turn": 1, "request": {"messages": […], "tools": […]}, "deltas": [{"text": "…"}, {"stop": "end"}]}

A request holds what is new: `kept` of its messages stand in the call before, tools are left out while they stay the
same. Requests are normalised; deltas are as the model streamed them, but for secrets and the session's directory.
`failed` says that the model failed after them, and how; `cut` that the agent did not wait for the rest. A last line
`{"mismatch": …}` says that the run that left this log did not follow its script.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from acp_agent.model.mismatch import DamagedScript, SwappedScript
from acp_agent.model.seam import delta_from_json
from acp_client.record.format.call_path import PRIMARY, is_call_path

VERSION: Final = 1
MARK: Final = "acp_model_script"
SUFFIX: Final = ".jsonl"
MAX_FILE_NAME_CHARS: Final = 200
"""Of a file's name; file systems take 255 bytes."""
_DIGEST_CHARS: Final = 10
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """One recorded call: the whole normalised request, the deltas as JSON, and how it ended if not by a stop."""

    turn: int
    request: Mapping[str, Any]
    deltas: tuple[Mapping[str, Any], ...]
    failed: str | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """All calls of one session; `mismatch` is what a log ends with whose run went wrong."""

    call_path: str
    calls: tuple[ScriptCall, ...]
    mismatch: Mapping[str, Any] | None = None


def file_name(call_path: str) -> str:
    """The name of a session's file, the same on every file system; the primary session's sorts first.

    Long paths, and those with capitals, which some file systems do not tell from small letters, end in a digest.
    """
    name = call_path.replace("/", "~~")
    if len(name) > MAX_FILE_NAME_CHARS or name != name.lower():
        digest = hashlib.sha256(call_path.encode()).hexdigest()[:_DIGEST_CHARS]
        name = f"{name[:MAX_FILE_NAME_CHARS]}~~~{digest}"
    return name + SUFFIX


# ---- writing


def header_line(call_path: str) -> str:
    """The first line."""
    return _line({MARK: VERSION, "call_path": call_path})


def call_line(number: int, call: ScriptCall, before: ScriptCall | None) -> str:
    """The line of the call of this number (from 1); `before` is the one before it."""
    data: dict[str, Any] = {"call": number, "turn": call.turn, "request": _new(call.request, before)}
    data["deltas"] = [dict(delta) for delta in call.deltas]
    if call.failed is not None:
        data["failed"] = call.failed
    if call.cut:
        data["cut"] = True
    return _line(data)


def mismatch_line(reason: str, message: str, difference: str) -> str:
    """The last line of a log whose run went wrong."""
    return _line({"mismatch": {"reason": reason, "message": message, "difference": difference}})


def lines_of(script: Script) -> str:
    """A whole file."""
    calls = script.calls
    before = (None, *calls[:-1])
    return header_line(script.call_path) + "".join(
        call_line(index + 1, call, last) for index, (call, last) in enumerate(zip(calls, before, strict=False))
    )


def _new(request: Mapping[str, Any], before: ScriptCall | None) -> dict[str, Any]:
    messages, last = request["messages"], before.request["messages"] if before is not None else []
    kept = 0
    while kept < min(len(messages), len(last)) and messages[kept] == last[kept]:
        kept += 1
    new: dict[str, Any] = {"kept": kept} if kept else {}
    new["messages"] = messages[kept:]
    if before is None or request["tools"] != before.request["tools"]:
        new["tools"] = request["tools"]
    return new


def _line(data: Mapping[str, Any]) -> str:
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if not line.isascii() and _SURROGATE.search(line):  # half of a character, which UTF-8 has no way to write
        line = json.dumps(data, separators=(",", ":"))
    return line + "\n"


# ---- reading


def read_script(text: str, file: str, call_path: str | None = None) -> Script:
    """A script from the text of its file. `call_path` is the one it must be of (None: any).

    Raises DamagedScript, which names the line and the rule, and SwappedScript.
    """
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    held = _held(lines[0][1] if lines else "{}", file, call_path)
    if call_path is not None and held != call_path:
        raise SwappedScript(call_path, file, held)
    calls: list[ScriptCall] = []
    mismatch: Mapping[str, Any] | None = None
    for number, line in lines[1:]:
        if mismatch is not None:
            raise DamagedScript(held, file, number, "nothing may follow the line of a mismatch")
        try:
            data = _object(line)
            if isinstance(data.get("mismatch"), dict):
                mismatch = data["mismatch"]
            else:
                calls.append(_call(data, calls))
        except KeyError as error:
            raise DamagedScript(held, file, number, f"a call must have the member {error}") from error
        except (ValueError, TypeError) as error:
            raise DamagedScript(held, file, number, str(error)) from error
    return Script(held, tuple(calls), mismatch)


def _object(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("this is no JSON; each line must be one object, whole") from error
    if not isinstance(data, dict):
        raise ValueError("this is no JSON object; each line must be one")  # noqa: TRY004  # told as a fault of the file
    return data


def _held(line: str, file: str, call_path: str | None) -> str:
    """The call path that the first line says."""
    shown = call_path or file
    try:
        header = _object(line)
    except ValueError as error:
        raise DamagedScript(shown, file, 1, str(error)) from error
    held = header.get("call_path")
    if header.get(MARK) != VERSION or not isinstance(held, str) or not is_call_path(held):
        version = "" if header.get(MARK) in (VERSION, None) else f"; this one is of version {header[MARK]!r}"
        rule = f'the first line must be {{"{MARK}": {VERSION}, "call_path": "{PRIMARY}…"}}'
        raise DamagedScript(shown, file, 1, rule + version)
    return held


def _call(data: Mapping[str, Any], before: list[ScriptCall]) -> ScriptCall:
    if data["call"] != len(before) + 1:
        raise ValueError(f"call must be {len(before) + 1}, the next number")
    turn, last = data["turn"], before[-1].turn if before else 1
    if type(turn) is not int or turn < last:
        raise ValueError(f"turn must be an integer of at least {last}")
    deltas = data["deltas"]
    for delta in deltas:
        delta_from_json(delta)
    failed = data.get("failed")
    if failed is not None and not isinstance(failed, str):
        raise ValueError("failed must be a string")
    return ScriptCall(turn, _whole(data["request"], before), tuple(deltas), failed, data.get("cut") is True)


def _whole(request: Any, before: list[ScriptCall]) -> dict[str, Any]:
    last: Mapping[str, Any] = before[-1].request if before else {"messages": [], "tools": []}
    if not isinstance(request, dict):
        raise ValueError("request must be an object")  # noqa: TRY004  # told as what is wrong in a file
    kept = request.get("kept", 0)
    if type(kept) is not int or not 0 <= kept <= len(last["messages"]):
        raise ValueError(f"kept must be a number of messages of the call before, which has {len(last['messages'])}")
    messages, tools = request["messages"], request.get("tools", last["tools"])
    if not all(isinstance(given, list) and all(isinstance(one, dict) for one in given) for given in (messages, tools)):
        raise ValueError("messages and tools must be lists of objects")
    return {"messages": [*last["messages"][:kept], *messages], "tools": tools}
