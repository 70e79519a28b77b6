"""The one public door: runs sub-agents, at most so many at once, and leaves nothing behind.

Owns the tasks of all its runs and their admission. A run's life is in `life`, what the caller holds of it in `run`.
"""

from __future__ import annotations

import functools
import threading
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeAlias, TypeVar, overload

import anyio

from acp_client.outcome import RunResult
from acp_client.process.guardian import GUARDIAN
from acp_client.process.host import TaskHost
from acp_client.process.table import ProcessTable
from acp_client.process.threads import in_thread
from acp_client.prompt import Prompt, prompt_blocks
from acp_client.run.handle import Run
from acp_client.run.life import Life
from acp_client.spec import AgentSpec

DEFAULT_MAX_CONCURRENCY: Final = 32
"""Children at once. Each costs a process and about six descriptors: well below the usual limit of 1024."""


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to run in `run_many`: the agent and the prompt."""

    spec: AgentSpec
    prompt: Prompt


AnyJob: TypeAlias = Job | tuple[AgentSpec, Prompt]

_Job = TypeVar("_Job", bound=AnyJob)


class Runner:
    """Runs sub-agents. Use it as `async with Runner() as runner:`, on asyncio or trio.

    Another task may leave the block than entered it, as with a fixture. Leaving it normally waits for the runs that
    still go; leaving it with an exception, or being cancelled, cancels them and waits until nothing is left of them.
    Both waits cannot be broken off, and are bounded by the limits of the runs.
    """

    def __init__(self, *, max_concurrency: int = DEFAULT_MAX_CONCURRENCY) -> None:
        if type(max_concurrency) is not int or max_concurrency < 1:
            raise ValueError(f"max_concurrency is {max_concurrency!r}; it must be an integer of at least 1")
        self.max_concurrency: Final = max_concurrency
        self._lives: set[Life] = set()
        self._free = max_concurrency
        self._queue: deque[anyio.Event] = deque()
        self._tasks: TaskHost | None = None

    def __repr__(self) -> str:
        state = "open" if self._tasks is not None else "closed"
        return f"<Runner {state}, {len(self._lives)} runs, at most {self.max_concurrency} at once>"

    async def __aenter__(self) -> Self:
        if self._tasks is not None:
            raise RuntimeError("this Runner is in use already; make one for each `async with`")
        self._table = ProcessTable()
        self._tasks = await TaskHost.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        tasks, self._tasks = self._tasks, None
        assert tasks is not None  # __aenter__ has set it
        if error is not None:
            self._cancel_all()
        try:
            await tasks.close(self._cancel_all)
        finally:
            with anyio.CancelScope(shield=True):
                await in_thread(GUARDIAN.settle)

    def _cancel_all(self) -> None:
        for life in self._lives:
            life.cancel()

    async def start(self, spec: AgentSpec, prompt: Prompt) -> Run:
        """Start a run and return as soon as it is owned by this runner.

        `prompt` is a string, or a list of content blocks as models or as dicts in wire shape. Raises TypeError or
        ValueError for a wrong argument and RuntimeError outside the `async with` block; never for the child.
        """
        return self._start(spec, prompt_blocks(prompt))

    def _start(self, spec: AgentSpec, blocks: Sequence[dict[str, Any]]) -> Run:
        tasks = self._open()
        run_id = uuid.uuid4().hex
        life = Life(_checked(spec), blocks, run_id, self._table)
        self._lives.add(life)
        admitted = anyio.Event()
        self._queue.append(admitted)
        self._admit()
        tasks.start_soon(self._own, life, admitted, name=f"run {run_id}")
        return Run(run_id, life)

    def _admit(self) -> None:
        """In the order of their start, on trio too, which begins tasks in any order."""
        while self._free and self._queue:
            self._free -= 1
            self._queue.popleft().set()

    async def _own(self, life: Life, admitted: anyio.Event) -> None:
        try:
            await life.live(admitted)
        finally:
            self._lives.discard(life)
            if admitted.is_set():
                self._free += 1
            else:
                self._queue.remove(admitted)
            self._admit()

    @overload
    def run_many(self, jobs: Iterable[Job]) -> Results[Job]: ...
    @overload
    def run_many(self, jobs: Iterable[tuple[AgentSpec, Prompt]]) -> Results[tuple[AgentSpec, Prompt]]: ...
    @overload
    def run_many(self, jobs: Iterable[AnyJob]) -> Results[AnyJob]: ...
    def run_many(self, jobs: Iterable[Any]) -> Results[Any]:
        """Run jobs side by side and iterate over `(job, result)` as they finish, each job as it was given.

        Every job is checked before the first one starts; raises TypeError or ValueError for a wrong one. Leaving the
        iteration cancels what still runs; it is gone when the runner's block ends at the latest.
        """
        checked = [(job, *_parts(job)) for job in jobs]
        self._open()
        return Results(_Batch(checked, self))

    def _open(self) -> TaskHost:
        if self._tasks is None:
            raise RuntimeError("this Runner is closed; start runs inside `async with Runner() as runner:`")
        return self._tasks

    def _start_job(self, spec: AgentSpec, blocks: Sequence[dict[str, Any]], on_end: Callable[[Run], None]) -> Run:
        run = self._start(spec, blocks)
        run._life.on_end = functools.partial(on_end, run)  # noqa: SLF001  # a run and its runner are one
        return run


class Results(AsyncIterator[tuple[_Job, RunResult]]):
    """What `run_many` gives: `(job, result)` as the runs end. Made by `Runner.run_many` only.

    Waiting for the next one is safe to cancel, from any task: nothing is lost. `aclose`, or dropping the iterator,
    cancels what still runs.
    """

    def __init__(self, batch: _Batch[_Job]) -> None:
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


class _Batch(Generic[_Job]):
    """The jobs of one `run_many`: as many started as may run, the next one when one ends."""

    def __init__(self, jobs: list[tuple[_Job, AgentSpec, list[dict[str, Any]]]], runner: Runner) -> None:
        self._waiting = deque(jobs)
        self._running: dict[Run, _Job] = {}
        self._ended: deque[tuple[_Job, RunResult]] = deque()
        self._changed = anyio.Event()
        self._runner = runner
        for _ in range(min(len(jobs), runner.max_concurrency)):
            self._start_next()

    def _start_next(self) -> None:
        if self._runner._tasks is None:  # noqa: SLF001  # its own batch; whose block has ended
            self._waiting.clear()
        elif self._waiting:
            job, spec, blocks = self._waiting.popleft()
            self._running[self._runner._start_job(spec, blocks, self._on_end)] = job  # noqa: SLF001  # likewise

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


def _checked(spec: Any) -> AgentSpec:
    if not isinstance(spec, AgentSpec):
        raise TypeError(f"spec must be an AgentSpec, not {type(spec).__name__}")
    return spec


def _parts(job: Any) -> tuple[AgentSpec, list[dict[str, Any]]]:
    if isinstance(job, Job):
        return _checked(job.spec), prompt_blocks(job.prompt)
    if isinstance(job, tuple) and len(job) == 2:  # noqa: PLR2004  # (spec, prompt)
        return _checked(job[0]), prompt_blocks(job[1])
    raise TypeError(f"a job must be a Job or a pair (spec, prompt), not {type(job).__name__}")


async def run_subagent(spec: AgentSpec, prompt: Prompt) -> RunResult:
    """One fresh child, one session, one prompt; returns when nothing is left of the child.

    Raises only for a wrong argument, or the cancellation of the caller, after the child and its tree are gone.
    """
    async with Runner(max_concurrency=1) as runner:
        run = await runner.start(spec, prompt)
        return await run.result()


def run_subagent_sync(spec: AgentSpec, prompt: Prompt) -> RunResult:
    """`run_subagent` for programs without an event loop. Raises RuntimeError where one runs already."""
    try:
        anyio.get_current_task()
    except RuntimeError:  # there is none, as it should be
        return anyio.run(functools.partial(run_subagent, spec, prompt))
    raise RuntimeError("an event loop runs in this thread already; write `await run_subagent(spec, prompt)` instead")
