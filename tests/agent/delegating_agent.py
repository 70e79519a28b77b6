"""An agent that delegates: to the risk judge, or to itself so many levels down. For tests of delegation in a child.

The task is `judge TASK`, which hands the task and the context on to the risk judge; `ask NAME TASK`, which asks any;
`levels N`, which goes N levels further down; `hold`, which has one below wait; or `wait`, which tells its process id to
the FIFO `pids` and waits. It completes with what came of it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import anyio

from acp_agent import Context, NewSessionRequest, NewSessionResponse, delegating, main

if TYPE_CHECKING:
    from acp_client import SubAgent

NAME: Final = "desk"


class Delegating:
    """Asks others, and tells what they said."""

    name = NAME
    version = "0"
    takes_sub_agents = True

    async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
        """Any session will do."""

    async def prompt(self, context: Context) -> str | None:
        """Ask the one that the task is for."""
        word, _, rest = context.text_of_prompt.partition(" ")
        value: Any = []
        async with delegating(context, declared(), name=NAME) as sub_agents:
            if word == "judge":
                value = await sub_agents.request("risk_judge", task=rest, context=context.primer)
            elif word == "levels" and int(rest):
                result = await sub_agents.run("below", task=f"levels {int(rest) - 1}")
                value = [[result.reason, result.depth], *(result.structured or [])]
            elif word == "ask":
                name, _, task = rest.partition(" ")
                value = (await sub_agents.request_for_model(name, task=task)).for_model()
            elif word == "hold":
                value = (await sub_agents.run("below", task="wait")).reason
            elif word == "wait":
                await anyio.Path(context.cwd / "pids").write_text(str(os.getpid()))
                await anyio.sleep_forever()
        await context.complete(value)
        return None

    async def cancel(self, session_id: str) -> None:
        """The block of the delegation ends what it started."""


def declared() -> list[SubAgent]:
    """The judge that is shipped, and this agent again."""
    from acp_client import AgentSpec, SubAgent  # noqa: PLC0415  # as an agent does that may not delegate at all

    judge = AgentSpec(command=(sys.executable, "-P", "-m", "acp_agent", "risk_judge"))
    below = AgentSpec(
        command=(sys.executable, __file__), env={"ACP_SUBAGENTS_DEPTH": "0", "ACP_SUBAGENTS_MAX_DEPTH": None}
    )
    return [
        SubAgent(name="risk_judge", description="Validates trades", agent=judge),
        SubAgent(name="below", description="The same again", agent=below),
    ]


if __name__ == "__main__":
    main(Delegating())
