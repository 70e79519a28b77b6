"""Jobs side by side: as many as may run, and an iterator over their results as they end.

Owns what a job is, which one waits, which runs, and what is not fetched yet. How one is started is the runner's.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import anyio

from acp_client.outcome.result import RunResult
from acp_client.prompt import Briefing, Prompt, prompt_blocks
from acp_client.run.handle import Run
from acp_client.spec import AgentSpec
from acp_client.structured.wanted import MAX_REPAIRS, NOTHING_WANTED, Wanted, want

_Job = TypeVar("_Job")
Start: TypeAlias = Callable[[Any, Callable[[Run], None]], Run | None]
"""Starts what was checked of a job, and tells when it has ended; None once the runner is closed."""

Blocks: TypeAlias = Sequence[dict[str, Any]] | Briefing
"""What a prompt is once it is checked."""


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to run in `run_many`: the agent and the prompt, and the type of the value, if one is wanted."""

    spec: AgentSpec
    prompt: Prompt
    result_type: Any = None
    max_repairs: int = MAX_REPAIRS


AnyJob: TypeAlias = Job | tuple[AgentSpec, Prompt]


class Results(AsyncIterator[tuple[_Job, RunResult]]):
    """What `run_many` gives: `(job, result)` as the runs end. Made by `Runner.run_many` only.

    Waiting for the next one is safe to cancel, from any task: nothing is lost. `aclose`, or dropping the iterator,
    cancels what still runs.
    """

    def __init__(self, batch: Batch[_Job]) -> None:
        self._batch = batch
        self._thread = threading.get_ident()

    async def __anext__(self) -> tuple[_Job, RunResult]:
        """The next run that ended."""
        return await self._batch.next()

    async def aclose(self) -> None:
        """Cancel what still runs. Returns at once; idempotent, from any task."""
        self._batch.cancel()

    def __del__(self) -> None:
        if self._thread == threading.get_ident():  # elsewhere the loop may not be touched; the block's end waits
            self._batch.cancel()


class Batch(Generic[_Job]):
    """The jobs of one `run_many`: as many started as may run, the next one when one ends."""

    def __init__(self, jobs: list[tuple[_Job, Any]], start: Start, most: int) -> None:
        self._waiting = deque(jobs)
        self._running: dict[Run, _Job] = {}
        self._ended: deque[tuple[_Job, RunResult]] = deque()
        self._changed = anyio.Event()
        self._start = start
        for _ in range(min(len(jobs), most)):
            self._start_next()

    def _start_next(self) -> None:
        if self._waiting:
            job, checked = self._waiting.popleft()
            run = self._start(checked, self._on_end)
            if run is None:  # whose block has ended
                self._waiting.clear()
            else:
                self._running[run] = job

    def _on_end(self, run: Run) -> None:
        result = run._life.result  # noqa: SLF001  # a run and its runner are one
        assert result is not None  # set before the end is told
        self._ended.append((self._running.pop(run), result))
        self._start_next()
        self._change()

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def next(self) -> tuple[_Job, RunResult]:
        """The next one that ended. Safe to cancel."""
        while not self._ended:
            if not self._running:
                raise StopAsyncIteration
            await self._changed.wait()
        return self._ended.popleft()

    def cancel(self) -> None:
        """What waits is not started; what runs ends as cancelled."""
        self._waiting.clear()
        for run in self._running:
            run.cancel_now()


def checked_spec(spec: Any) -> AgentSpec:
    """Raises TypeError."""
    if not isinstance(spec, AgentSpec):
        raise TypeError(f"spec must be an AgentSpec, not {type(spec).__name__}")
    return spec


def parts_of(job: Any) -> tuple[AgentSpec, Blocks, Wanted]:
    """Raises TypeError or ValueError."""
    if isinstance(job, Job):
        return checked_spec(job.spec), prompt_blocks(job.prompt), want(job.result_type, job.max_repairs)
    if isinstance(job, tuple) and len(job) == 2:  # noqa: PLR2004  # (spec, prompt)
        return checked_spec(job[0]), prompt_blocks(job[1]), NOTHING_WANTED
    raise TypeError(f"a job must be a Job or a pair (spec, prompt), not {type(job).__name__}")
