"""The smallest loop over a model: model, tools, model, until it calls none. For agents that need no more, and tests.

Owns the conversation and the order of its messages: the tools of one message run side by side, and their results stand
in the order of the calls. Each runs as the tool call that it is, so that what it asks of sub-agents has the same call
path whichever is first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, TypeAlias

import anyio

from acp_agent.model.seam import Fold, Message, Model, Reply, TextDelta, Tool, ToolCall
from acp_client.record.format.call_path import in_tool_call

MAX_STEPS: Final = 8
"""Model calls of one turn. One more is not made: an agent that goes round in circles must end."""

CallTool: TypeAlias = Callable[[ToolCall], Awaitable[str]]
"""Does what a call asks for, and says for the model what came of it; also what went wrong."""
OnText: TypeAlias = Callable[[str], Awaitable[object]]
"""Gets the answer in pieces, as they come."""


async def _silent(_text: str) -> None:
    """Nobody listens."""


class TooManySteps(Exception):
    """A turn would make more model calls than it may."""


class Conversation:
    """Messages that grow, turn by turn. Not for two turns at once."""

    def __init__(self, messages: Sequence[Message] = (), *, max_steps: int = MAX_STEPS) -> None:
        self.messages: Final = list(messages)
        self._max_steps: Final = max_steps

    async def say(
        self,
        text: str,
        model: Model,
        tools: Sequence[Tool] = (),
        call_tool: CallTool | None = None,
        on_text: OnText = _silent,
    ) -> Reply:
        """One turn; the reply is the model's last. Raises TooManySteps, and what the model or a tool raises."""
        self.messages.append(Message("user", text))
        for _ in range(self._max_steps):
            reply = await self._ask(model, tools, on_text)
            self.messages.append(reply.message)
            if not reply.message.tool_calls or call_tool is None:
                return reply
            self.messages.extend(await self._call_all(reply.message.tool_calls, call_tool))
        raise TooManySteps(f"the model still calls tools after {self._max_steps} steps; raise max_steps if it may")

    async def _ask(self, model: Model, tools: Sequence[Tool], on_text: OnText) -> Reply:
        fold = Fold()
        async with aclosing(model.stream(list(self.messages), tools)) as deltas:
            async for delta in deltas:
                fold.add(delta)
                if isinstance(delta, TextDelta):
                    await on_text(delta.text)
        return fold.reply()

    async def _call_all(self, calls: Sequence[ToolCall], call_tool: CallTool) -> list[Message]:
        number = sum(message.role == "assistant" for message in self.messages)
        results = [""] * len(calls)
        failures: list[Exception] = []

        async def one(index: int, call: ToolCall) -> None:
            try:
                with in_tool_call(number, index + 1):
                    results[index] = await call_tool(call)
            except Exception as error:  # noqa: BLE001  # goes on below, bare and once nothing runs any more
                failures.append(error)
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            for index, call in enumerate(calls):
                tasks.start_soon(one, index, call)
        if failures:
            raise failures[0]
        return [Message("tool", text, tool_call_id=call.id) for call, text in zip(calls, results, strict=True)]
