"""Older messages without the arguments and results of their tools. Pure.

A message is built anew from what is known to be harmless: its role, ids and names, and its text. So nothing of an
argument or a result can stay behind in a field or a block that is not known here; nor do images, files and reasoning,
which often show what a tool was given and what it said. The text that a model or a person wrote is kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

MASK: Final = "[masked]"
"""In the place of a result, and of every block that is not text."""
MASKED_ARGUMENTS: Final = {"masked": True}
MASKED_JSON: Final = '{"masked": true}'
"""The same where the arguments of a call are JSON text."""
MAX_ID_CHARS: Final = 256
"""Ids and names are kept up to this length: the longest of a known API has some sixty characters."""

TEXT_BLOCKS: Final[Mapping[str, str]] = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "refusal",
}
"""Blocks that hold text, and their field."""
NAMING: Final = ("id", "name", "tool_call_id", "tool_use_id", "call_id")
TOOL_ROLES: Final = frozenset({"tool", "function"})
"""Roles whose messages are results."""
TEXT_PARTS: Final = frozenset({"system-prompt", "user-prompt", "text"})
CALL_PARTS: Final = frozenset({"tool-call", "builtin-tool-call"})


def mask(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message, its tool arguments and results masked. Its shape was checked before."""
    if "role" in message:
        return _mask_chat(message)
    masked = {"kind": message["kind"], "parts": [_mask_part(part) for part in message["parts"]]}
    return masked | _texts(message, ("instructions",))


def _mask_chat(message: Mapping[str, Any]) -> dict[str, Any]:
    role = message["role"]
    masked = {"role": role} | _names(message)
    if role in TOOL_ROLES:
        return masked | {"content": MASK}
    masked["content"] = _mask_content(message.get("content"))
    masked |= _texts(message, ("refusal",))
    calls = message.get("tool_calls")
    if calls:
        masked["tool_calls"] = [_mask_call(call) for call in calls]
    if isinstance(legacy := message.get("function_call"), dict):
        masked["function_call"] = _names(legacy) | {"arguments": MASKED_JSON}
    return masked


def _mask_content(content: Any) -> Any:
    return [_mask_block(block) for block in content] if isinstance(content, list) else content


def _mask_block(block: Any) -> Any:
    if isinstance(block, str):
        return block
    kind = block.get("type")
    if isinstance(field := TEXT_BLOCKS.get(kind), str):
        return {"type": kind} | _texts(block, (field,))
    build = _BLOCKS.get(kind)
    return build(block) if build else {"type": "text", "text": MASK}


def _mask_use(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": block["type"]} | _names(block) | {"input": MASKED_ARGUMENTS}


def _mask_result(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": block["type"]} | _names(block) | {"content": MASK}


_BLOCKS: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "tool_use": _mask_use,
    "tool_result": _mask_result,
}


def _mask_call(call: Mapping[str, Any]) -> dict[str, Any]:
    masked = _names(call)
    if isinstance(function := call.get("function"), dict):
        return masked | {"type": "function", "function": _names(function) | {"arguments": MASKED_JSON}}
    return masked | {"arguments": MASKED_ARGUMENTS}


def _mask_part(part: Mapping[str, Any]) -> dict[str, Any]:
    """A part of pydantic-ai's messages."""
    kind = part["part_kind"]
    if kind in TEXT_PARTS:
        return {"part_kind": kind, "content": _mask_user_content(part.get("content"))}
    masked = {"part_kind": kind} | _texts(part, ("tool_name", "tool_call_id"), MAX_ID_CHARS)
    return masked | ({"args": MASKED_ARGUMENTS} if kind in CALL_PARTS else {"content": MASK})


def _mask_user_content(content: Any) -> Any:
    if isinstance(content, list):
        return [item if isinstance(item, str) else MASK for item in content]
    return content if isinstance(content, str) else MASK


def _names(source: Mapping[str, Any]) -> dict[str, Any]:
    return _texts(source, NAMING, MAX_ID_CHARS)


def _texts(source: Mapping[str, Any], fields: tuple[str, ...], max_chars: int | None = None) -> dict[str, Any]:
    found = {name: source.get(name) for name in fields}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, str) and (max_chars is None or len(value) <= max_chars)
    }
