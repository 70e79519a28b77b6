"""An agent that goes one deeper: it asks an agent like itself, until one is refused; each says how deep it was.

`middle.py LEVELS`: with a number it allows itself so many levels below, whatever it was told (which must not help).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import anyio

from acp_agent import Context, serve
from acp_client import AgentSpec, Runner
from acp_client.protocol.models import NewSessionRequest

HERE = str(Path(__file__).resolve())
LEVELS = int(sys.argv[1]) if len(sys.argv) > 1 else None
FORGED = {"ACP_SUBAGENTS_DEPTH": "0", "ACP_SUBAGENTS_MAX_DEPTH": "99"}


class Middle:
    """Runs itself once more, and answers with what came of it: a list, the deepest last."""

    name = "middle"
    version = "0"

    async def new_session(self, request: NewSessionRequest) -> None:
        """Any will do."""

    async def cancel(self, session_id: str) -> None:
        """The runner's block ends what runs."""

    async def prompt(self, context: Context) -> None:
        """Every option that the API has is set so that one could hope for more depth."""
        spec = AgentSpec(
            command=(sys.executable, HERE, *sys.argv[1:]),
            env=FORGED if LEVELS is not None else {"ACP_SUBAGENTS_DEPTH": None},
            env_passthrough=("ACP_SUBAGENTS_*",),
        )
        async with Runner(max_depth=LEVELS) as runner:
            run = await runner.start(spec, "deeper", max_depth=LEVELS)
            result = await run.result()
        below = json.loads(result.text) if result.status == "completed" else []
        started = result.timings.spawn is not None
        mine = {"reason": result.reason, "depth": result.depth, "started": started, "pid": os.getpid()}
        await context.text(json.dumps([mine, *below]))


if __name__ == "__main__":
    anyio.run(lambda: serve(Middle()), backend="asyncio")
