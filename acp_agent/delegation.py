"""An agent that delegates in turn: named sub-agents of its own, asked from inside a prompt turn.

Owns what ties them to the turn: they show as tool calls of it, what they did goes up with its answer, they end with it,
and they are no deeper than the client allows. All else is the parent's half of this library, of which this module alone
knows; it is imported when an agent delegates, not before. What is secret is its to say too, for what an agent keeps.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from acp_client.protocol.errors import INVALID_PARAMS, RpcError
from acp_client.record.format.call_path import CallPaths
from acp_client.record.format.lines import EXTENSION_KEY

if TYPE_CHECKING:
    from acp_agent.context import Context, ToolCallHandle
    from acp_client import SubAgent, SubAgents

MAX_CONCURRENCY: Final = 8
"""Children of one turn at once, unless said otherwise: an agent is itself one of several."""


@asynccontextmanager
async def delegating(
    context: Context, sub_agents: Iterable[SubAgent] = (), *, name: str, max_concurrency: int = MAX_CONCURRENCY
) -> AsyncIterator[SubAgents]:
    """The sub-agents of one turn, ended with it.

    Written `async with delegating(context, [judge], name="desk") as sub_agents:` in an agent's `prompt`. `name` is the
    agent's own, for the breadcrumbs of the trace. Those that the client declared for this agent are added; of the same
    name, the client's counts. Inside the block ask them as any parent does (`request`, `run`,
    `request_for_model`, `as_tools`); each request is a process of its own. Once the block is left nothing is left of
    them; a cancelled turn cancels them. How deep they may go is the client's to say (leaves, if it says nothing); where
    it allows no further level a request fails with `depth_exceeded`, and starts nothing.
    """
    from acp_client import Runner, SubAgents  # noqa: PLC0415  # most agents do their work themselves
    from acp_client.record.place import within  # noqa: PLC0415  # as above

    transcripts = within(context.transcripts)
    async with Runner(max_concurrency=max_concurrency, max_depth=context.levels, transcripts=transcripts) as runner:
        runner.call_paths = CallPaths(context.call_path, context.session.requests)
        yield SubAgents(
            _with_given(sub_agents, context),
            runner=runner,
            parent_name=name,
            on_progress=_Shown(context).tell,
            on_trace=context.hand_up,
            max_depth=max(1, context.levels or 1),
        )


def secrets_masked() -> Callable[[Any], Any]:
    """A function that takes secrets out of JSON data: those of this process's environment, and what looks like one."""
    from acp_client.process.environment import secret_values  # noqa: PLC0415  # as above
    from acp_client.process.redaction import Redactor  # noqa: PLC0415  # as above

    return Redactor(secret_values(os.environ.items())).redact_json


def _with_given(own: Iterable[SubAgent], context: Context) -> list[SubAgent]:
    """The agent's own, and those of the client. Raises RpcError for what is no declaration; no value is shown."""
    from acp_client.delegate.given.handed_down import take_over  # noqa: PLC0415  # as above

    try:
        given = take_over(context.sub_agents)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        message = f'_meta["{EXTENSION_KEY}"].sub_agents holds what is no declaration of a sub-agent'
        raise RpcError(INVALID_PARAMS, message) from error
    names = {one.name for one in given}
    return [*(one for one in own if one.name not in names), *given]


class _Shown:
    """Each request as a tool call of the turn: its label, and how it ended."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._calls: dict[str, ToolCallHandle] = {}

    async def tell(self, progress: Any) -> None:
        """A start opens the call, the stop closes it; what happens in between is in the trace alone."""
        if progress.type == "sub_agent_start":
            call = await self._context.tool_call(
                progress.label, name=progress.name, raw_input={"run": progress.call_id}
            )
            self._calls[progress.call_id] = call
        elif progress.type == "sub_agent_stop":
            done = self._calls.pop(progress.call_id, None)
            if done is not None and progress.status == "completed":
                await done.complete(text=progress.reason)
            elif done is not None:
                await done.fail(progress.reason)
