"""One request to a sub-agent, from its arguments to its result: checked and copied at the call, then carried out.

Owns the order of what is told of it: start, events, stop, whatever becomes of the run. The run itself is the runner's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import anyio

from acp_client.delegate.declared import SubAgent
from acp_client.delegate.progress import (
    TOLD_SECONDS,
    OnProgress,
    Reporter,
    SubAgentEvent,
    SubAgentStarted,
    SubAgentStopped,
)
from acp_client.delegate.trace import SEPARATOR, Entry, Trace
from acp_client.logs import get_logger
from acp_client.outcome.result import RunResult
from acp_client.prompt import Briefing
from acp_client.run.handle import Run
from acp_client.runner import Runner
from acp_client.structured.wanted import Wanted

OnTrace: TypeAlias = Callable[[list[Entry]], object]
"""Called with the trace of each request that has ended."""


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked of whom. Everything in it is ours: the caller may change what it gave."""

    declared: SubAgent
    task: str
    briefing: Briefing
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it."""

    result: RunResult
    trace: list[Entry]


class Desk:
    """Carries out calls for one parent, any number of them side by side."""

    def __init__(
        self,
        runner: Runner,
        parent: str,
        *,
        on_progress: OnProgress | None,
        on_trace: OnTrace | None,
        max_depth: int,
    ) -> None:
        self.runner: Final = runner
        self._parent: Final = parent
        self._on_progress: Final = on_progress
        self._on_trace: Final = on_trace
        self._max_depth: Final = max_depth

    async def carry_out(self, call: Call) -> Answer:
        """Returns when nothing is left of the child. Cancelled, it cancels the run and waits for its end first."""
        run = await self._start(call)
        name, trace = call.declared.name, Trace(f"{self._parent}{SEPARATOR}{call.declared.name}", call.task)
        reporter = Reporter(self._on_progress)
        events = run.events()
        try:
            await reporter.tell(SubAgentStarted(name, run.id, self._parent))
            await _follow(run, events, trace, reporter, name)
        finally:
            with anyio.CancelScope(shield=True):
                run.cancel_now()  # changes nothing where it has ended
                result = await run.result()
                await reporter.tell(SubAgentStopped(name, run.id, self._parent, result.status, result.reason))
                answer = Answer(result, trace.finish(result))
                self._hand_on(answer)
        return answer

    async def _start(self, call: Call) -> Run:
        agent = call.declared.agent
        return await self.runner.start(
            agent if agent.name else agent.model_copy(update={"name": call.declared.name}),
            call.briefing,
            result_type=call.wanted.output_type,
            max_repairs=call.wanted.max_repairs,
            max_depth=self._max_depth,
        )

    def _hand_on(self, answer: Answer) -> None:
        if self._on_trace is None:
            return
        try:
            self._on_trace(answer.trace)
        except Exception:  # noqa: BLE001  # the boundary: the caller's display must not fail the caller's request
            get_logger(__name__).exception("on_trace failed", run_id=answer.result.run_id)


async def _follow(run: Run, events: Any, trace: Trace, reporter: Reporter, name: str) -> None:
    """Read the run's events until it has ended; live ones are told for a moment longer at the most."""
    told_until: float | None = None
    async for event in events:
        trace.see(event)
        if run.done and told_until is None:
            told_until = anyio.current_time() + TOLD_SECONDS
        if reporter.wants_events and (told_until is None or anyio.current_time() < told_until):
            await reporter.tell(SubAgentEvent(name, run.id, event))
