"""Frames as values: placeholders, updates, answers, bytes. Pure.

Owns how a step's value becomes what is written; when it is written is `steps`' and `wire`'s.
"""

from __future__ import annotations

import binascii
import json

from acp_agent.scripted.validate import PLACEHOLDER
from acp_agent.scripted.vocabulary import TEXT, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acp_agent.scripted.vocabulary import Value

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
AUTH_REQUIRED = -32000
NOT_FOUND = -32002
BUSY = -31001  # our own, outside the range that JSON-RPC reserves

DEFAULT_CALL = {"toolCallId": "call-1", "title": "Run a command", "kind": "execute"}
DEFAULT_OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]


def dump(value: object) -> bytes:
    """One line of JSON, without its end; other than ASCII is written raw where UTF-8 can."""
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate: legal as an escape, and only so
        return json.dumps(value, separators=(",", ":")).encode()


def expand(value: Value, lookup: Callable[[str], object]) -> Value:
    """Replace each `${name}` in all texts of a value; a text that is one alone keeps its type."""
    if isinstance(value, dict):
        return {key: expand(part, lookup) for key, part in value.items()}
    if isinstance(value, list):
        return [expand(part, lookup) for part in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    whole = PLACEHOLDER.fullmatch(value)
    if whole and not whole[1]:
        return lookup(whole[2])
    return PLACEHOLDER.sub(lambda match: _as_text(match, lookup), value)


def _as_text(match: Value, lookup: Callable[[str], object]) -> str:
    if match[1]:
        return str(match[0][1:])
    found = lookup(match[2])
    return found if isinstance(found, str) else json.dumps(found)


def expand_word(value: Value, word: Word, lookup: Callable[[str], object]) -> Value:
    """Like `expand`, for a word's value: where the word takes a text, it stays one."""
    if isinstance(value, dict) and word.keys:
        return {key: expand_word(part, word.keys[key], lookup) for key, part in value.items()}
    if "map of texts" in word.forms:
        return {key: expand_word(part, TEXT, lookup) for key, part in value.items()}
    if "texts" in word.forms:
        return [expand_word(part, TEXT, lookup) for part in value]
    found = expand(value, lookup)
    if isinstance(value, str) and not isinstance(found, str) and "any" not in word.forms:
        return json.dumps(found)
    return found


def dig(value: Value, dotted: str) -> Value:
    """The part of a value at `a.b.0`; None where there is none."""
    for name in dotted.split("."):
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


# ---------------------------------------------------------------- frames


def request(request_id: object, method: str, params: object) -> dict[str, Value]:
    """A request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def notification(method: str, params: object) -> dict[str, Value]:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def update(session: object, fields: object) -> dict[str, Value]:
    """A session/update."""
    return notification("session/update", {"sessionId": session, "update": fields})


def answer(request_id: object, outcome: Mapping[str, Value]) -> dict[str, Value]:
    """A response; the outcome is `{"result": …}` or `{"error": …}`."""
    return {"jsonrpc": "2.0", "id": request_id, **outcome}


def error(code: object, message: object, data: object = None) -> dict[str, Value]:
    """An outcome for `answer`; data None is left out."""
    body = {"code": code, "message": message}
    return {"error": body if data is None else {**body, "data": data}}


def error_as_written(value: Mapping[str, Value]) -> dict[str, Value]:
    """The outcome of an `error` step: defaults for what it does not say, data null kept."""
    return {"error": {"code": INTERNAL_ERROR, "message": "Internal error", **value}}


def chunk(kind: str, value: str | Mapping[str, Value], session: object) -> dict[str, Value]:
    """A `chunk`, `thought` or `user` step."""
    fields: Mapping[str, Value] = {"text": value} if isinstance(value, str) else value
    text = fields.get("text", "")
    if "size" in fields:
        size = int(fields["size"])
        text = (text * (size // max(len(text), 1) + 1))[:size]
    content = fields.get("content", {"type": "text", "text": text})
    body = {"sessionUpdate": kind, "content": content}
    if "message_id" in fields:
        body["messageId"] = fields["message_id"]
    return update(fields.get("session", session), body)


def plan(entries: list[Value], session: object) -> dict[str, Value]:
    """A `plan` step; an entry that is a text is a pending one of medium priority."""
    rows = [
        {"content": one, "priority": "medium", "status": "pending"} if isinstance(one, str) else one for one in entries
    ]
    return update(session, {"sessionUpdate": "plan", "entries": rows})


def permission(value: Mapping[str, Value], session: object) -> dict[str, Value]:
    """The params of a `permission` step."""
    return {
        "sessionId": value.get("session", session),
        "toolCall": value.get("tool_call", DEFAULT_CALL),
        "options": value.get("options", DEFAULT_OPTIONS),
    }


def permission_branch(options: object, reply: Mapping[str, Value]) -> str:
    """Which branch of `on` an answer takes; an option that was not offered is a rejection."""
    outcome = dig(reply, "result.outcome.outcome")
    if outcome == "cancelled":
        return "cancelled"
    if outcome != "selected":
        return "error"
    chosen = dig(reply, "result.outcome.optionId")
    for option in options if isinstance(options, list) else []:
        if isinstance(option, dict) and option.get("optionId") == chosen:
            return "allowed" if str(option.get("kind")).startswith("allow") else "rejected"
    return "rejected"


def odd_id(request_id: object, kind: str | None) -> object:
    """A request's id in another JSON type; None leaves it as it is."""
    number = request_id if isinstance(request_id, int) else 1
    return {
        None: request_id,
        "string": str(request_id),
        "float": float(number),
        "bool": True,
        "null": None,
        "list": [request_id],
        "other": 999_999,
    }[kind]


def raw(value: str | Mapping[str, Value]) -> bytes:
    """The bytes of a `raw` step."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    end = value.get("end", "\n" if "frame" in value else "")
    if "frame" in value:
        body = dump(value["frame"])
    elif "hex" in value:
        body = bytes.fromhex(value["hex"])
    elif "base64" in value:
        body = binascii.a2b_base64(value["base64"])
    else:
        body = value["text"].encode("utf-8", "surrogatepass")
    line: bytes = value.get("prefix", "").encode() + body + end.encode()
    return line[: value.get("cut")]
