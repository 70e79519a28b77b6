"""The one public door: runs sub-agents, at most so many at once, and leaves nothing behind.

Owns the tasks of all its runs and their admission. A run's life is in `life`, what the caller holds of it in `run`.
"""

from __future__ import annotations

import functools
import math
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, overload

import anyio

from acp_client.admission.gate import Gate, Ticket
from acp_client.batch import AnyJob, Batch, Blocks, Job, Results, checked_spec, parts_of
from acp_client.loop.threads import in_thread
from acp_client.outcome.result import RunResult
from acp_client.policy.budget import Budget
from acp_client.policy.meter import Ledger
from acp_client.process.guardian import GUARDIAN
from acp_client.process.host import TaskHost
from acp_client.process.table import ProcessTable
from acp_client.prompt import Briefing, Prompt, prompt_blocks
from acp_client.record.format.call_path import CallPaths, read_call_path
from acp_client.record.place import OneFile, Transcripts, as_transcripts, inherited
from acp_client.run.child.depth import check_levels
from acp_client.run.child.facts import plan_of
from acp_client.run.handle import Run
from acp_client.run.life import Life
from acp_client.spec import AgentSpec
from acp_client.structured.wanted import MAX_REPAIRS, Wanted, want
from acp_client.warm.pool import Pool, Warming

if TYPE_CHECKING:
    from acp_client.host_tools.web import WebHost
    from acp_client.record.writer import Writer

DEFAULT_MAX_CONCURRENCY: Final = 32
"""Children at once. Each costs a process and four descriptors: well below the usual limit of 1024."""


class Runner:
    """Runs sub-agents. Use it as `async with Runner() as runner:`, on asyncio or trio.

    Another task may leave the block than entered it, as with a fixture. Leaving it normally waits for the runs that
    still go; leaving it with an exception, or being cancelled, cancels them and waits until nothing is left of them.
    Both waits cannot be broken off, and are bounded by the limits of the runs.

    A `budget` is shared by all runs of this object: once their sum exceeds a limit, every run that goes on ends as
    `budget_exceeded`, and one that is started later ends so at once, without a process. What was on its way to us
    then is spent too, and said in `RunResult.budget.shared`. Wall seconds count from the start of the first run.

    `approval_timeout_cap_seconds` is the deployment's cap on how long any approval may be waited for. `max_depth` is
    how many levels of runs there may be below this process (0: none); a deeper one ends as `depth_exceeded`, here or
    in the descendant that tries. What the processes around this one allow is never widened by it.

    With `transcripts`, a folder, each run leaves `<run_id>.jsonl` in it: its frames in both directions, its stderr, who
    decided what, and how it ended, without secrets; see `Transcripts` for bounds. Where it is says
    `RunResult.transcript`. Runs that an agent starts in turn, with this library, leave theirs below; without the
    argument a run that is inside of a recorded one does. A transcript that cannot be written fails no run.

    `warm` says how many processes of which specs are kept ready ahead of need, see `prewarm`; none by default. They
    are no runs: `max_concurrency` does not count them. They end with the block.
    """

    def __init__(
        self,
        *,
        max_concurrency: int = DEFAULT_MAX_CONCURRENCY,
        budget: Budget | None = None,
        approval_timeout_cap_seconds: float | None = None,
        max_depth: int | None = None,
        transcripts: str | os.PathLike[str] | Transcripts | OneFile | None = None,
        warm: Mapping[AgentSpec, int] | None = None,
    ) -> None:
        if type(max_concurrency) is not int or max_concurrency < 1:
            raise ValueError(f"max_concurrency is {max_concurrency!r}; it must be an integer of at least 1")
        if not (budget is None or isinstance(budget, Budget)):
            raise TypeError(f"budget must be a Budget, such as Budget(max_cost_usd=5.0), not {type(budget).__name__}")
        self.max_concurrency: Final = max_concurrency
        self._lives: set[Life] = set()
        self._ledger = None if budget is None else Ledger(budget)
        self._approval_cap_seconds = _checked_cap(approval_timeout_cap_seconds)
        self._levels = check_levels(max_depth)
        self._transcripts = as_transcripts(transcripts) or inherited(os.environ)
        self._web: WebHost | None = None
        self._warm = Pool(warm, functools.partial(plan_of, levels=self._levels))
        self._gate = Gate(max_concurrency, self._warm.give_way)
        self._tasks: TaskHost | None = None
        self._left = False

    def __repr__(self) -> str:
        return f"<Runner {self._state}, {len(self._lives)} runs, at most {self.max_concurrency} at once>"

    @property
    def _state(self) -> str:
        return "open" if self._tasks is not None else "closed" if self._left else "not open yet"

    async def __aenter__(self) -> Self:
        if self._tasks is not None:
            raise RuntimeError("this Runner is in use already; make one for each `async with`")
        self._table = ProcessTable()
        self._tasks = TaskHost()
        self._gate.open(self._tasks)
        self._warm.open(self._tasks, self._table)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        tasks, self._tasks = self._tasks, None
        self._left = True
        assert tasks is not None  # __aenter__ has set it
        if error is not None:
            self._cancel_all()
        self._warm.wind_down()
        self._close_warm()
        try:
            await tasks.close(self._cancel_all)
        finally:
            with anyio.CancelScope(shield=True):
                web, self._web = self._web, None
                if web is not None:
                    await in_thread(web.close)
                if "_writer" in self.__dict__:
                    await in_thread(self._writer.close)
                await in_thread(GUARDIAN.settle)

    @functools.cached_property
    def _writer(self) -> Writer:
        """The thread for the transcripts of all runs, once there is one to write."""
        from acp_client.record.writer import Writer  # noqa: PLC0415  # as below

        return Writer()

    def _web_host(self) -> WebHost:
        """The http server for host tools of all runs, once one wants it."""
        if self._web is None:
            from acp_client.host_tools.web import WebHost  # noqa: PLC0415  # most programs need none

            self._web = WebHost()
        return self._web

    def _cancel_all(self) -> None:
        self._warm.close()
        for life in self._lives:
            life.cancel()

    def _close_warm(self) -> None:
        if self._left and not self._lives:
            self._warm.close()

    async def start(
        self,
        spec: AgentSpec,
        prompt: Prompt | Briefing,
        *,
        result_type: Any = None,
        max_repairs: int = MAX_REPAIRS,
        max_depth: int | None = None,
    ) -> Run:
        """Start a run and return as soon as it is owned by this runner.

        `prompt` is a string, or a list of content blocks as models or as dicts in wire shape; a lone surrogate in it
        reaches the agent as U+FFFD. `result_type` asks for a value, which is then `RunResult.structured`: a type, a
        pydantic model, a TypeAdapter, or a JSON Schema (2020-12) as a dict. An answer without a value that fits is
        asked for again, in the same session, at most `max_repairs` times; then it is `output_invalid`. It is judged in
        this loop: a validator, or a schema's `pattern`, that takes seconds holds all runs so long. `max_depth` is as
        for the runner, and may be stricter. Raises TypeError or ValueError for a wrong argument and RuntimeError
        outside the `async with` block; never for the child.
        """
        blocks = prompt if isinstance(prompt, Briefing) else prompt_blocks(prompt)
        return self._start(spec, blocks, want(result_type, max_repairs), check_levels(max_depth))

    def _start(self, spec: AgentSpec, blocks: Blocks, wanted: Wanted, max_depth: int | None = None) -> Run:
        tasks = self._open()
        run_id = secrets.token_hex(16)
        blocks = _placed(blocks, checked_spec(spec).label, self.call_paths)
        life = Life(spec, blocks, run_id, self._table, self._ledger, self._approval_cap_seconds, wanted)
        life.limit_depth(self._levels, max_depth)
        life.offer_tools(self._web_host)
        if self._transcripts is not None:
            life.record(self._transcripts, self._writer)
        life.warm, life.host = self._warm, tasks
        self._lives.add(life)
        tasks.start_soon(self._own, life, self._gate.enter(), name=f"run {run_id}")
        return Run(run_id, life)

    @functools.cached_property
    def call_paths(self) -> CallPaths:
        """Says which request each run is, see `record.format.call_path`; an agent that delegates sets its own."""
        return CallPaths(read_call_path(os.environ))

    async def _own(self, life: Life, ticket: Ticket) -> None:
        try:
            await life.live(ticket)
        finally:
            self._lives.discard(life)
            ticket.leave()
            self._close_warm()

    def prewarm(self, spec: AgentSpec, n: int = 1) -> Warming:
        """Keep `n` processes of this spec ready from now on, spawned and initialized; 0 ends those that are.

        Returns at once. Await what it returns to wait until each is ready or has failed (safe to cancel): it gives the
        number of those that are ready. Each is used for one run, then replaced in the background, as is one that has
        died or become too old. An agent that cannot be started is tried again after a growing delay, and runs start
        cold. A run takes one only if it would start the same itself: a spec that is equal but for its name, the same
        working directory, the same variables, its depth included. The result is that of any run, but for `timings`.
        Raises TypeError or ValueError for a wrong argument, and RuntimeError outside the `async with` block.
        """
        self._open()
        return self._warm.want(spec, n)

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
        checked = [(job, parts_of(job)) for job in jobs]
        self._open()
        return Results(Batch(checked, self._start_job, self.max_concurrency))

    def _open(self) -> TaskHost:
        if self._tasks is None:
            raise RuntimeError(f"this Runner is {self._state}; start runs inside `async with Runner() as runner:`")
        return self._tasks

    def _start_job(self, parts: tuple[AgentSpec, Blocks, Wanted], on_end: Callable[[Run], None]) -> Run | None:
        if self._tasks is None:
            return None
        run = self._start(*parts)
        run._life.on_end = functools.partial(on_end, run)  # noqa: SLF001  # a run and its runner are one
        return run


def _checked_cap(seconds: float | None) -> float | None:
    if seconds is not None and not 0 < seconds < math.inf:
        raise ValueError(
            f"approval_timeout_cap_seconds is {seconds!r}; it is a finite number of seconds above 0, or None"
        )
    return seconds


def _placed(blocks: Blocks, label: str, paths: CallPaths) -> Briefing:
    """A request to a sub-agent has a call path; any other run does only inside of an agent, and is else primary."""
    briefing = blocks if isinstance(blocks, Briefing) else Briefing(blocks)
    if briefing.call_path or not paths.here:
        return briefing
    return replace(briefing, call_path=paths.next(label))


async def run_subagent(
    spec: AgentSpec, prompt: Prompt, *, result_type: Any = None, max_repairs: int = MAX_REPAIRS
) -> RunResult:
    """One fresh child, one session, one prompt; returns when nothing is left of the child.

    With a `result_type`, `RunResult.structured` is a value of it, see `Runner.start`. Raises only for a wrong argument,
    or the cancellation of the caller, after the child and its tree are gone.
    """
    async with Runner(max_concurrency=1) as runner:
        run = await runner.start(spec, prompt, result_type=result_type, max_repairs=max_repairs)
        return await run.result()


def run_subagent_sync(
    spec: AgentSpec, prompt: Prompt, *, result_type: Any = None, max_repairs: int = MAX_REPAIRS
) -> RunResult:
    """`run_subagent` for programs without an event loop. Raises RuntimeError where one runs already."""
    if _loop_runs():
        raise RuntimeError(
            "an event loop runs in this thread already; write `await run_subagent(spec, prompt)` instead"
        )
    return anyio.run(functools.partial(run_subagent, spec, prompt, result_type=result_type, max_repairs=max_repairs))


def _loop_runs() -> bool:
    try:
        anyio.get_current_task()
    except RuntimeError:
        return False
    return True
