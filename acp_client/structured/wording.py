"""What an agent is told of the value that is wanted, and of what is wrong with the one that it gave. Pure."""

from __future__ import annotations

import json
from typing import Any, Final

from acp_client.structured.faults import OutputInvalid
from acp_client.structured.output_type import OutputType

COMPLETE_TOOL: Final = "complete"
"""The tool by itself: each agent shows it to its model under another full name."""


def instructions(output_type: OutputType, *, tool: bool) -> str:
    """The end of a prompt for an agent that knows nothing of structured values; `tool`: it is offered `complete`."""
    return f"{_how(output_type, tool=tool)}{_by_schema(output_type)}"


def say_again(output_type: OutputType, error: OutputInvalid, *, tool: bool) -> str:
    """A further prompt, after an answer without a value that fits."""
    more = error.count - len(error.faults)
    faults = [f"- {one}" for one in error.faults] + ([f"- and {more} more"] if more else [])
    listed = "\n".join(faults)
    return f"Your result cannot be used ($ is the whole of it):\n{listed}\n\n{instructions(output_type, tool=tool)}"


def repair_note(error: OutputInvalid, attempt: int) -> dict[str, Any]:
    """The same for a child of ours, beside the prompt."""
    return {"attempt": attempt, "faults": [str(one) for one in error.faults]}


def _how(output_type: OutputType, *, tool: bool) -> str:
    if output_type.is_text:
        written = "Answer with the result alone, as plain text, without any introduction"
    else:
        written = "End your answer with the result as JSON in one ```json block, and nothing after it"
    if not tool:
        return f"{written}."
    return (
        f"When the task is done, hand over its result by calling the `{COMPLETE_TOOL}` tool once, with the result as "
        f"its arguments. If you have no such tool: {written[0].lower()}{written[1:]}."
    )


def _by_schema(output_type: OutputType) -> str:
    schema = output_type.value_schema
    if schema == {"type": "string"}:
        return ""
    return f" The result must be valid by this JSON Schema:\n\n{json.dumps(schema, ensure_ascii=False)}"
