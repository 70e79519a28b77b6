"""The parent's conversation as a sub-agent gets it: a snapshot, capped. Pure.

Owns which shapes of messages are taken, and what is told of another. What masking leaves is in `masking`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from acp_client.delegate.given.frozen_copy import json_copy
from acp_client.delegate.given.masking import TEXT_BLOCKS, mask

ROLES: Final = ("system", "developer", "user", "human", "assistant", "agent", "ai", "model", "tool", "function")
"""Who may speak. Others are refused: whether their content is a tool's could not be known."""
DISPLAY_ONLY: Final = "sub_agent_trace"
"""What hangs on a tool result for people to see; no model gets it."""
SHAPES: Final = (
    "messages are dicts with `role` and `content` (a string, or a list of blocks with `type`), as the OpenAI and "
    "Anthropic APIs have them, or messages of pydantic-ai"
)


def snapshot(history: Iterable[Any] | None, cap: int | None) -> list[dict[str, Any]]:
    """A copy of the messages: all as they are without a cap, with one only the last `cap`, the older ones masked.

    Raises TypeError or ValueError for what is no list of messages, naming the place and the rule.
    """
    check_cap(cap, "history_cap")
    if history is None:
        return []
    if isinstance(history, str | bytes | Mapping) or not isinstance(history, Iterable):
        raise TypeError(f"history must be a list of messages, not {type(history).__name__}; {SHAPES}")
    messages = [_checked(message, f"history[{index}]") for index, message in enumerate(history)]
    older = 0 if cap is None else max(0, len(messages) - cap)
    return [*map(mask, messages[:older]), *messages[older:]]


def check_cap(cap: object, field: str) -> None:
    """Raises ValueError unless it is None or a number of messages."""
    if cap is not None and (type(cap) is not int or cap < 0):
        raise ValueError(
            f"{field} is {cap!r}; it is a number of messages, 0 or more, to hand on verbatim, or None for all of them"
        )


def _checked(message: Any, where: str) -> dict[str, Any]:
    try:
        copy = json_copy(message)
    except ValueError as error:
        raise ValueError(f"{where} is no data: {error}; give messages of text, numbers, lists and dicts") from error
    if not isinstance(copy, dict):
        raise TypeError(f"{where} is of type {type(message).__name__}; {SHAPES}")
    copy.pop(DISPLAY_ONLY, None)
    if "role" in copy:
        _check_chat(copy, where)
    else:
        _check_parts(copy, where)
    return copy


def _check_chat(message: Mapping[str, Any], where: str) -> None:
    if message["role"] not in ROLES:
        raise ValueError(f"{where}.role must be one of {', '.join(ROLES)}")
    content = message.get("content")
    if isinstance(content, list):
        for number, block in enumerate(content):
            _check_block(block, f"{where}.content[{number}]")
    elif content is not None and not isinstance(content, str):
        raise ValueError(f"{where}.content must be a string, a list of blocks or None, not {_kind(content)}")
    calls = message.get("tool_calls")
    if calls is not None and not _is_dicts(calls):
        raise ValueError(f"{where}.tool_calls must be a list of calls, each a dict")


def _check_block(block: Any, where: str) -> None:
    if isinstance(block, str):
        return
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        raise ValueError(f"{where} must be a string, or a dict with its `type` as a string")  # noqa: TRY004  # one error for a shape
    field = TEXT_BLOCKS.get(kind)
    if field is not None and not isinstance(block.get(field), str):
        raise ValueError(f"{where}.{field} must be a string, in a block of type {kind!r}")


def _check_parts(message: Mapping[str, Any], where: str) -> None:
    """A message of pydantic-ai: `kind` and `parts`, each with its `part_kind`."""
    if "parts" not in message:
        raise ValueError(f"{where} has no `role`; {SHAPES}")
    parts = message["parts"]
    if message.get("kind") not in ("request", "response"):
        raise ValueError(f"{where}.kind must be 'request' or 'response', in a message with `parts`")
    if not _is_dicts(parts) or not all(isinstance(part.get("part_kind"), str) for part in parts):
        raise ValueError(f"{where}.parts must be a list of dicts, each with its `part_kind` as a string")


def _is_dicts(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(item, dict) for item in value)


def _kind(value: object) -> str:
    return type(value).__name__
