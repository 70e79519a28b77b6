"""Lines to JSON-RPC messages and back: decoding that survives odd input, classification, encoding.

Owns what a single message is. Leaves to `link` which of them are expected. Pure functions over bytes and plain data.
(ACP v1, overview; JSON-RPC 2.0 sections 4 and 5.)
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic_core import from_json, to_json

from acp_client.protocol.errors import INVALID_PARAMS, INVALID_REQUEST

RequestId: TypeAlias = int | str | None
"""An id as it stood on the wire; its JSON type is kept and echoed."""

MAX_SALVAGE_FAILURES: Final = 16
"""How many places of a glued line are tried in vain for a frame: a bound on the work that a hostile line can cause."""
MAX_SALVAGE_BYTES: Final = 4 * 1024 * 1024
"""The text that those may look through in all: a longer line is tried once."""
MAX_SALVAGED: Final = 64
"""Frames that are taken from one glued line; two or three have been seen."""

MAX_NESTING: Final = 200
"""Levels of a JSON value: what the fast decoder takes, and what can be written again without recursion errors."""
TOO_DEEP: Final = f"nested deeper than {MAX_NESTING} levels"
"""Stands for a member of a message that is: so a request can be answered, and an answer is seen to be one."""

ODD: Final = object()
"""What `decode` gives for a line that is not one JSON value."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_OBJECT_START: Final = re.compile(r"\{\s*[\"}]")
_STRING_OR_BRACKETS: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]+|[\]}]+', re.DOTALL)
_BOM: Final = "\ufeff"
_JSON_BLANKS: Final = " \t\r\n"
_DECODER: Final = json.JSONDecoder(strict=False)
"""Takes control characters inside a string as they are: illegal, but some agents write them."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the other side, as received."""

    id: RequestId
    method: str
    params: dict[str, Any]
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of the other side; `id` may be anything that JSON can hold, the link decides whether it fits."""

    id: Any
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Invalid:
    """JSON, but no message: the id (where there is a usable one), the code to answer with, and why."""

    id: RequestId
    code: int
    detail: str
    raw: Any

    @property
    def is_request(self) -> bool:
        """True for a request whose params cannot be used: whoever sent it waits for an answer."""
        return self.code == INVALID_PARAMS and "id" in self.raw


@dataclass(frozen=True, slots=True)
class Noise:
    """A line that is no JSON at all."""

    line: bytes


Notification: TypeAlias = dict[str, Any]
"""A notification is its own raw object: the hot path builds nothing for it."""

Message: TypeAlias = Notification | Request | Response | Invalid | Noise


def parse_line(line: bytes) -> list[Message]:
    """The messages of one line: one for a good frame, several for glued frames, none for a blank line.

    Fast for good lines. The slow way repairs invalid UTF-8 and lone surrogates, takes raw control characters, and
    finds frames that are glued to other text; a line without any is one `Noise`. Never raises.
    """
    return messages_of(decode(line), line)


def decode(line: bytes) -> Any:
    """The JSON value of a line, the fast way; `ODD` where that fails. Never raises."""
    try:
        return from_json(line, cache_strings="keys")
    except ValueError:
        return ODD


def messages_of(value: Any, line: bytes) -> list[Message]:
    """`parse_line` for a line that was decoded already."""
    if value is not ODD:
        return [classify(value)]
    return _parse_slowly(line) if line.strip() else []


def _parse_slowly(line: bytes) -> list[Message]:
    text = line.decode("utf-8", errors="replace").lstrip(_BOM).strip(_JSON_BLANKS)
    with suppress(ValueError, RecursionError):
        value, end = _read_value(text, 0)
        if end == len(text):
            return [classify(_shallow(value))]
    return _salvage(text) or [Noise(line)]


def _shallow(value: Any) -> Any:
    """The value repaired; members of an object that are nested too deeply are replaced by words."""
    if not isinstance(value, dict):
        return repaired(value)
    return {repaired(key): _repaired_or_words(member) for key, member in value.items()}


def _repaired_or_words(member: Any) -> Any:
    try:
        return repaired(member, 1)
    except ValueError:
        return TOO_DEEP


def _salvage(text: str) -> list[Message]:
    """Frames inside a line that is not one JSON value: `Loading...{…}` or `{…}{…}`."""
    found: list[Message] = []
    at = 0
    failures = 0
    tries = max(1, min(MAX_SALVAGE_FAILURES, MAX_SALVAGE_BYTES // max(1, len(text))))
    while failures < tries and len(found) < MAX_SALVAGED and (start := _OBJECT_START.search(text, at)):
        try:
            value, at = _read_value(text, start.start())
            message = classify(_shallow(value))
        except (ValueError, RecursionError):
            at = start.start() + 1
            failures += 1
        else:
            if isinstance(message, Invalid) and not message.is_request:
                failures += 1
            else:
                found.append(message)
    return found


def _read_value(text: str, start: int) -> tuple[Any, int]:
    """The value that starts there, and where it ends; without its inside where it is too deep for Python's decoder."""
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        pruned, end = _pruned(text, start)
        return _DECODER.raw_decode(pruned)[0], end


def _pruned(text: str, start: int) -> tuple[str, int]:
    """The list or object that starts there, with nothing inside of its deepest levels, and where it ends. Linear."""
    most = MAX_NESTING + 2  # levels that are kept: still too deep, so that it is told
    kept = []
    depth = 0
    for mark in _STRING_OR_BRACKETS.finditer(text, start):
        at, end = mark.span()
        if text[at] in "[{":
            before, depth = depth, depth + end - at
            if before < most <= depth:
                kept.append(text[start : at + most - before])
        elif text[at] in "]}":
            end = at + min(depth, end - at)
            before, depth = depth, depth - (end - at)
            if depth < most <= before:
                start = at + before - most
            if depth == 0:
                return "".join(kept) + text[start:end], end
    raise ValueError("a list or object without its end")


def repaired(value: Any, depth: int = 0) -> Any:
    """The same JSON value with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8.

    Raises ValueError where it is nested deeper than `MAX_NESTING`.
    """
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if _SURROGATE.search(value) else value
    if depth > MAX_NESTING:
        raise ValueError(TOO_DEEP)
    if isinstance(value, list):
        return [repaired(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {repaired(key): repaired(item, depth + 1) for key, item in value.items()}
    return value


def classify(value: Any) -> Message:
    """Say what one decoded JSON value is. Never raises."""
    if not isinstance(value, dict):
        return Invalid(None, INVALID_REQUEST, "a message must be a JSON object", value)
    if "method" not in value:
        return _classify_response(value)
    if value.get("jsonrpc") != "2.0" or not isinstance(value["method"], str):
        return Invalid(usable_id(value), INVALID_REQUEST, 'a request needs "jsonrpc": "2.0" and a string method', value)
    params = value.get("params")
    if "id" not in value:
        if params is None or isinstance(params, dict):
            return value
        return Invalid(None, INVALID_PARAMS, "params of a notification must be an object", value)
    if not is_id(value["id"]):
        return Invalid(None, INVALID_REQUEST, "an id must be a string, an integer or null", value)
    if params is not None and not isinstance(params, dict):
        return Invalid(value["id"], INVALID_PARAMS, "params must be an object", value)
    return Request(value["id"], value["method"], params or {}, value)


def _classify_response(value: dict[str, Any]) -> Message:
    if "id" in value and ("result" in value or "error" in value or value.get("jsonrpc") == "2.0"):
        return Response(value["id"], value)
    return Invalid(usable_id(value), INVALID_REQUEST, "neither a method nor a result nor an error", value)


def is_id(value: Any) -> bool:
    """True for what ACP allows as a request id; a bool is no integer, 1.0 is none either."""
    return value is None or (type(value) in (int, str) and value is not TOO_DEEP)


def usable_id(value: dict[str, Any]) -> RequestId:
    """The id to answer with: the given one where it is legal, else null (JSON-RPC 2.0, section 5)."""
    given = value.get("id")
    return given if is_id(given) else None


def looks_like_update(head: bytes) -> bool:
    """True if the head of a cut frame shows a `session/update` notification: the one kind that may be lost."""
    try:
        seen = from_json(head, allow_partial="trailing-strings")
    except ValueError:
        return False
    return isinstance(seen, dict) and seen.get("method") == "session/update" and "id" not in seen


def encode(message: dict[str, Any]) -> bytes:
    """One frame with its newline: UTF-8, no embedded newline, NaN and infinities as null, surrogates replaced."""
    try:
        return to_json(message, inf_nan_mode="null") + b"\n"
    except ValueError:  # a lone surrogate: PydanticSerializationError, a ValueError
        return to_json(repaired(message), inf_nan_mode="null") + b"\n"


def request_frame(request_id: int, method: str, params: dict[str, Any]) -> bytes:
    """A request of ours."""
    return encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def notification_frame(method: str, params: dict[str, Any]) -> bytes:
    """A notification of ours."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def result_frame(request_id: RequestId, result: Any) -> bytes:
    """Our answer to a request."""
    return encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_frame(request_id: RequestId, code: int, message: str, data: Any = None) -> bytes:
    """Our error for a request; `data` is left out where there is none."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return encode({"jsonrpc": "2.0", "id": request_id, "error": error})


def opens_object(line: bytes) -> bool:
    """True if the line is the beginning of a JSON object and not all of it (as a line of a JSON log is)."""
    text = line.decode(errors="replace").lstrip("\ufeff \t\r")
    try:
        if not text.startswith("{") or not isinstance(from_json(text, allow_partial="trailing-strings"), dict):
            return False
    except ValueError:
        return False
    try:
        json.JSONDecoder().raw_decode(text)
    except ValueError:
        return True
    return False
