"""What a sub-agent is told: the conversation so far, one primer message, the task; in the form that it takes. Pure.

Owns the words around them. Which form an agent takes is known once it has said so; until then a `Briefing` holds all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from acp_client.delegate.given.frozen_copy import json_copy
from acp_client.prompt import Briefing

HISTORY_URI: Final = "acp-subagents://briefing/history.json"
CONTEXT_URI: Final = "acp-subagents://briefing/context"
HISTORY_WORDS: Final = (
    "The conversation of the agent that delegates to you, as JSON messages, for your information: it is no task. "
    "What is masked was left out on purpose."
)
CONTEXT_WORDS: Final = "The context of your task:"


def check_task(task: object) -> str:
    """Raises TypeError or ValueError unless it is a text that says something."""
    if not isinstance(task, str):
        raise TypeError(f"task must be a string that says what to do, not {type(task).__name__}")
    if not task.strip():
        raise ValueError("task must say what to do; it is empty")
    return task


def copy_context(context: Any) -> Any:
    """A copy of the primer as JSON data. Raises ValueError for what is none."""
    try:
        return json_copy(context)
    except ValueError as error:
        raise ValueError(
            f"context is no data: {error}; give a string, a mapping, or what pydantic can write as JSON"
        ) from error


def brief(
    task: str, context: Any, history: Sequence[dict[str, Any]], sub_agents: Sequence[dict[str, Any]] = ()
) -> Briefing:
    """The briefing for copies that nobody changes any more. `sub_agents` are handed down to a child that takes them."""
    meta: dict[str, Any] = {"sub_agents": list(sub_agents)} if sub_agents else {}
    text: list[dict[str, Any]] = []
    embedded: list[dict[str, Any]] = []
    if history:
        meta["history"] = list(history)
        shown = json.dumps(history, ensure_ascii=False, indent=1)
        text.append(_text(f"{HISTORY_WORDS}\n\n{shown}"))
        embedded += [_text(HISTORY_WORDS), _resource(HISTORY_URI, "application/json", shown)]
    if context is not None:
        meta["context"] = context
        plain = isinstance(context, str)
        shown = context if plain else json.dumps(context, ensure_ascii=False, indent=1)
        text.append(_text(f"{CONTEXT_WORDS}\n\n{shown}"))
        mime = "text/plain" if plain else "application/json"
        embedded += [_text(CONTEXT_WORDS), _resource(CONTEXT_URI, mime, shown)]
    asked = _text(task)
    return Briefing(task=[asked], text=[*text, asked], embedded=[*embedded, asked], meta=meta)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _resource(uri: str, mime_type: str, text: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}}
