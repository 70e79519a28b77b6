"""What a running tool knows of its call, and how it says how far it is. Asks for nothing but a callable to tell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

Report: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Given to a tool's function that has a parameter annotated so; the model does not see that parameter.

    `agent` is the label of the agent that calls, `ordinal` counts the calls of the run from 1. A tool that is called
    once the run is being cancelled is cancelled with it.
    """

    run_id: str
    agent: str
    tool: str
    ordinal: int
    _report: Report = field(repr=False)

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the call is, to an agent that asked for it; several give up on a call after a silent minute.

        `done` only grows. Never raises for the agent and does not wait for a slow one. From a plain function, which
        runs in a thread: `anyio.from_thread.run(context.progress, 1, 3)`.
        """
        await self._report(done, total, message)
