"""What a parent's model gets of a request, and what is shown of it beside. Frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acp_client.outcome.result import RunResult


@dataclass(frozen=True, slots=True)
class ToolReply:
    """One tool result: `for_model()` is all that a model may see, the rest is for display.

    `result` is None where nothing was run: an undeclared name, wrong arguments. `sub_agent_trace` is JSON data: what
    the sub-agent said, did and asked for, in order, each entry with the breadcrumb of its agent.
    """

    name: str
    content: str
    is_error: bool
    result: RunResult | None = None
    sub_agent_trace: tuple[Mapping[str, Any], ...] = ()

    def __str__(self) -> str:
        return self.content

    def for_model(self) -> str:
        """The content of the tool result, without the trace."""
        return self.content

    def to_dict(self) -> dict[str, Any]:
        """JSON data for a display, or to keep: `name`, `content`, `is_error`, `sub_agent_trace`."""
        trace = [dict(entry) for entry in self.sub_agent_trace]
        return {"name": self.name, "content": self.content, "is_error": self.is_error, "sub_agent_trace": trace}
