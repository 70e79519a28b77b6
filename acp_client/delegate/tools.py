"""A sub-agent as a tool of its parent's model, in the shapes of MCP, pydantic-ai and the function-calling APIs.

Owns the arguments that a model gives. A call never raises for what a model or a sub-agent did: its answer says it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from acp_client.delegate.reply import ToolReply

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "task": {
            "type": "string",
            "description": "What to do and what to answer, complete in itself: the sub-agent may know nothing else.",
        },
        "context": {
            "anyOf": [{"type": "object"}, {"type": "string"}],
            "description": "Facts that the task needs, if it needs any.",
        },
    },
    "required": ["task"],
    "additionalProperties": False,
}
"""JSON Schema of the arguments."""


@dataclass(frozen=True, slots=True)
class DelegateTool:
    """One sub-agent as a tool: name, description, JSON schema and handler. Made by `SubAgents.as_tools`."""

    name: str
    description: str
    _ask: Callable[..., Coroutine[Any, Any, ToolReply]] = field(repr=False, compare=False)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments: `task`, and `context` where there is one. A copy."""
        return deepcopy(SCHEMA)

    async def reply(self, **arguments: Any) -> ToolReply:
        """Ask, and get the reply with its trace. Raises only for a runner that is closed, and when cancelled."""
        unknown = sorted(arguments.keys() - SCHEMA["properties"].keys())
        if unknown:
            return self._wrong(f"it has no argument {unknown[0]!r}; its arguments are task and, if need be, context")
        if "task" not in arguments:
            return self._wrong("the argument `task` is missing; say there what to do")
        return await self._ask(self.name, **arguments)

    async def handler(self, **arguments: Any) -> str:
        """Ask, and get the text for the model. Raises as `reply` does."""
        return (await self.reply(**arguments)).for_model()

    def _wrong(self, why: str) -> ToolReply:
        return ToolReply(self.name, f"sub-agent {self.name!r} was not asked: {why}", is_error=True)

    # ---- in the shapes of others

    def to_openai(self) -> dict[str, Any]:
        """An entry of `tools` of the OpenAI chat completions API, and of those that copy it."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": function}

    def to_anthropic(self) -> dict[str, Any]:
        """An entry of `tools` of the Anthropic messages API."""
        return {"name": self.name, "description": self.description, "input_schema": self.schema}

    def to_mcp(self) -> dict[str, Any]:
        """A tool as MCP's `tools/list` has it."""
        return {"name": self.name, "description": self.description, "inputSchema": self.schema}

    def to_pydantic_ai(self) -> Any:
        """A `pydantic_ai.Tool` for `Agent(tools=[…])`. Raises ImportError where pydantic-ai is not installed."""
        try:
            from pydantic_ai import Tool  # noqa: PLC0415  # only who uses it has it
        except ImportError as error:
            raise ImportError("to_pydantic_ai needs pydantic-ai: pip install pydantic-ai-slim") from error
        return Tool.from_schema(
            self.handler, name=self.name, description=self.description, json_schema=self.schema, takes_ctx=False
        )
