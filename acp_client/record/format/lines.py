"""The lines of a transcript: a header, frames, pieces of stderr, notes; each to one line of JSON and back.

Owns what one line says. Which line may come where is `check`'s matter, files are `reader`'s. Unknown members and kinds
of notes are kept and written again. Pure.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from acp_client.protocol.envelope import ODD, decode, encode, repaired

VERSION: Final = 1
"""Of the format. A reader takes later ones too, as far as it understands them."""
SUFFIX: Final = ".jsonl"
"""A transcript is called `<run_id>.jsonl`."""
EXTENSION_KEY: Final = "acp-subagents"
"""Under which our own data are in the `_meta` of messages."""
TRANSCRIPTS_KEY: Final = "transcripts"
"""In the `_meta` of a prompt: the folder for the transcripts of the runs that its agent starts in turn."""

TO_AGENT: Final = "c>a"
TO_CLIENT: Final = "a>c"
Direction: TypeAlias = Literal["c>a", "a>c"]
"""Who sent a frame: the client (the parent) or the agent (the child)."""

PERMISSION: Final = "permission"
HOST_TOOL: Final = "host_tool"
LOST: Final = "lost"
END: Final = "end"
NOTES: Final = frozenset({PERMISSION, HOST_TOOL, LOST, END})
"""The kinds of notes that version 1 knows."""

_HEADER_MEMBERS: Final = (
    "acp_transcript",
    "run_id",
    "parent",
    "agent",
    "command",
    "cwd",
    "started",
    "depth",
    "version",
)


class TranscriptError(ValueError):
    """A transcript that cannot be used: which file and line, the rule that it breaks, and what to do about it."""

    def __init__(self, rule: str, correction: str, *, file: str = "transcript", line: int = 0) -> None:
        self.rule = rule
        self.correction = correction
        self.file = file
        self.line = line
        where = f"{file}, line {line}" if line else file
        super().__init__(f"{where}: {rule}; {correction}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line: which run this is, and inside of which other run it was started.

    `started` is UTC in RFC 3339 with milliseconds; `depth` counts the runs around this one; `version` is the release
    of this library that wrote it. What a foreign file leaves out is empty.
    """

    run_id: str
    parent_run_id: str | None = None
    agent: str = ""
    command: tuple[str, ...] = ()
    cwd: str = ""
    started: str = ""
    depth: int = 0
    version: str = ""
    format_version: int = VERSION
    extra: dict[str, Any] = field(default_factory=dict)
    number: int = field(default=0, compare=False)
    """The line in its file, from 1; 0 where it is from none. As on every other line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What one side sent: a JSON-RPC `message`, or in `raw` a line that was no JSON object."""

    direction: Direction
    message: dict[str, Any] | None = None
    raw: str | None = None
    t: float | None = None
    """Seconds since the run began; None where the file does not say. As on every other line but the header."""
    extra: dict[str, Any] = field(default_factory=dict)
    number: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stderr:
    """A piece of what the agent wrote to stderr; it need not be whole lines."""

    text: str
    t: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    number: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What the parent knew and the wire does not say; `kind` is empty where a foreign file names none."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    t: float | None = None
    number: int = field(default=0, compare=False)


Line: TypeAlias = Header | Frame | Stderr | Note


def encode_line(line: Line) -> bytes:
    """The line as it stands in a file: compact JSON in UTF-8, with its newline."""
    return encode(to_object(line))


def to_object(line: Line) -> dict[str, Any]:
    """The line as the object that is written."""
    if isinstance(line, Header):
        return _header_object(line)
    t = {} if line.t is None else {"t": round(line.t, 6)}
    if isinstance(line, Frame):
        what = {"raw": line.raw} if line.message is None else {"msg": line.message}
        return {**t, "dir": line.direction, **what, **line.extra}
    if isinstance(line, Stderr):
        return {**t, "dir": "err", "text": line.text, **line.extra}
    kind = {"note": line.kind} if line.kind else {}
    return {**t, "dir": "note", **kind, **line.fields}


def _header_object(header: Header) -> dict[str, Any]:
    parent = None if header.parent_run_id is None else {"run_id": header.parent_run_id}
    values = (
        header.format_version,
        header.run_id,
        parent,
        header.agent,
        list(header.command),
        header.cwd,
        header.started,
        header.depth,
        header.version,
    )
    return {**dict(zip(_HEADER_MEMBERS, values, strict=True)), **header.extra}


def decode_object(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, odd UTF-8 and lone surrogates repaired; None where it is none. Never raises."""
    value = decode(line)
    if value is ODD:
        with suppress(ValueError, RecursionError):
            value = repaired(json.loads(line.decode("utf-8", errors="replace"), strict=False))
    return value if isinstance(value, dict) else None


def from_object(value: dict[str, Any], number: int = 0) -> Line | None:
    """The line that an object stands for; None where it is none of a transcript (it may be a plain frame).

    Takes what version 1 says, and what other recorders write in its place: frames without a time, stderr as `raw`,
    notes that name no kind.
    """
    if "acp_transcript" in value:
        return _header(value, number)
    direction = value.get("dir")
    t = _time(value.get("t"))
    rest = {key: member for key, member in value.items() if key not in ("t", "dir")}
    if direction in (TO_AGENT, TO_CLIENT):
        return _frame(direction, t, rest, number)
    if direction == "err":
        text = rest.pop("text", None)
        text = rest.pop("raw", None) if text is None else text
        return Stderr(text=text, t=t, extra=rest, number=number) if isinstance(text, str) else None
    if direction == "note":
        kind = rest.get("note")
        if isinstance(kind, str):
            del rest["note"]
        return Note(kind=kind if isinstance(kind, str) else "", fields=rest, t=t, number=number)
    return None


def _frame(direction: Direction, t: float | None, rest: dict[str, Any], number: int) -> Frame | None:
    message, raw, data = rest.get("msg"), rest.get("raw"), rest.get("hex")
    if isinstance(message, dict):
        del rest["msg"]
        return Frame(direction=direction, message=message, t=t, extra=rest, number=number)
    if isinstance(data, str):  # bytes that are no UTF-8, as test wires have them
        with suppress(ValueError):
            line = bytes.fromhex(data)
            message = decode_object(line)
            raw = line.decode("utf-8", errors="replace") if message is None else None
            del rest["hex"]
            return Frame(direction=direction, message=message, raw=raw, t=t, extra=rest, number=number)
    if isinstance(raw, str):
        del rest["raw"]
        return Frame(direction=direction, raw=raw, t=t, extra=rest, number=number)
    return None


def _header(value: dict[str, Any], number: int) -> Header:
    parent = value.get("parent")
    command = value.get("command")
    return Header(
        run_id=_text(value.get("run_id")),
        parent_run_id=_text(parent.get("run_id")) or None if isinstance(parent, dict) else None,
        agent=_text(value.get("agent")),
        command=tuple(map(str, command)) if isinstance(command, list) else (),
        cwd=_text(value.get("cwd")),
        started=_text(value.get("started")),
        depth=_whole(value.get("depth")),
        version=_text(value.get("version")),
        format_version=_whole(value.get("acp_transcript")),
        extra={key: member for key, member in value.items() if key not in _HEADER_MEMBERS},
        number=number,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int:
    return value if type(value) is int else 0


def _time(value: object) -> float | None:
    return float(value) if type(value) in (int, float) else None  # type: ignore[arg-type]  # narrowed by its exact type
