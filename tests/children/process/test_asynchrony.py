"""Event loops: cancelled callers, other tasks, unfinished iterators, failing callbacks, descriptors that run out."""

import asyncio
import gc
import logging
import selectors
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import trio

from acp_client import AgentSpec, Decision, Limits, PermissionRequest, Runner, run_subagent
from acp_client.loop.threads import THREAD_NAME, _Worker
from tests.support.kernel import nothing_left, run_parent
from tests.support.scenarios import QUICK, Scripted
from tests.support.tiny import tiny

WITH_HELPERS = "sleep 600 & setsid sleep 600 &"
"""A tree that a careless end leaves behind: one in the group, one that left it."""
TURNS_AT_MOST = 400
"""Far more than a run takes; so a run that never completes is a failure and no endless test."""
THREAD_SECONDS = 10
"""For a worker thread to end after its loop has; it takes milliseconds."""

Work = Callable[[], Awaitable[object]]


class Canceller:
    """Cancels its target after some of the turns that come once there is one."""

    def __init__(self, turns: range) -> None:
        self.target: asyncio.Future[object] | anyio.CancelScope | None = None
        self._turns = turns
        self._turn = 0

    def __call__(self) -> None:
        """A turn has come."""
        if self.target is not None:
            self._turn += 1
            if self._turn in self._turns:
                self.target.cancel()


class CountingSelector(selectors.DefaultSelector):
    """Calls back after each turn of an asyncio loop, while what it found is still to be done."""

    def __init__(self, on_turn: Callable[[], None]) -> None:
        super().__init__()
        self._on_turn = on_turn

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """One turn."""
        found = super().select(timeout)
        self._on_turn()
        return found


class CountingInstrument(trio.abc.Instrument):
    """The same for trio."""

    def __init__(self, on_turn: Callable[[], None]) -> None:
        self._on_turn = on_turn

    def after_io_wait(self, timeout: float) -> None:  # noqa: ARG002  # trio's signature
        """One turn."""
        self._on_turn()


def cancelled_natively(work: Work, turns: range) -> str:
    """How the caller's task ends if it is cancelled with `Task.cancel` after these turns."""
    canceller = Canceller(turns)

    async def main() -> str:
        task = canceller.target = asyncio.ensure_future(work())
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"
        return "completed"

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(CountingSelector(canceller))) as runner:
        return runner.run(main())


def cancelled_by_scope(work: Work, turns: range, backend: str) -> str:
    """The same by an anyio scope around the caller."""
    canceller = Canceller(turns)

    async def main() -> str:
        with anyio.CancelScope() as canceller.target:
            await work()
            return "completed"
        return "cancelled"

    if backend == "trio":
        return trio.run(main, instruments=[CountingInstrument(canceller)])
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(CountingSelector(canceller))) as runner:
        return runner.run(main())


def left_at_the_end_of_the_loop(work: Work, turns: range) -> str:
    """How it ends if the program's main coroutine returns after these turns, and leaves the rest to the loop."""
    canceller = Canceller(turns)

    async def main() -> asyncio.Task[object]:
        stop = canceller.target = asyncio.get_running_loop().create_future()
        task = asyncio.ensure_future(work())
        await asyncio.wait([task, stop], return_when=asyncio.FIRST_COMPLETED)
        return task

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(CountingSelector(canceller))) as runner:
        task = runner.run(main())
    return "cancelled" if task.cancelled() else "completed"


WAYS: dict[str, Callable[[Work, range], str]] = {
    "natively": cancelled_natively,
    "natively again and again": lambda work, turns: cancelled_natively(work, range(turns.start, TURNS_AT_MOST)),
    "natively, and again three turns later": lambda work, turns: cancelled_natively(
        work, range(turns.start, turns.start + 4, 3)
    ),
    "by a scope on asyncio": lambda work, turns: cancelled_by_scope(work, turns, "asyncio"),
    "by a scope on trio": lambda work, turns: cancelled_by_scope(work, turns, "trio"),
    "by the end of the loop": left_at_the_end_of_the_loop,
}


def _let_threads_end() -> None:
    """A loop that is closed does not wait for its worker threads; one that was starting a child ends it first."""
    give_up_at = time.monotonic() + THREAD_SECONDS
    while sum(thread.name == THREAD_NAME for thread in threading.enumerate()) > len(_Worker.idle):
        assert time.monotonic() < give_up_at
        time.sleep(0.001)


@pytest.mark.row("ASYNC-3")
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")  # a loop that ends drops new tasks
@pytest.mark.parametrize("way", WAYS)
def test_a_caller_cancelled_at_any_turn_leaves_nothing_and_gets_its_cancellation_bare(way: str) -> None:
    """At every turn of the loop from the first to the last: during spawn, handshake, prompt and clean-up."""
    spec = tiny(WITH_HELPERS)
    outcome = "cancelled"
    turn = 0
    while outcome == "cancelled":
        turn += 1
        assert turn < TURNS_AT_MOST
        with nothing_left():
            outcome = WAYS[way](lambda: run_subagent(spec, "go"), range(turn, turn + 1))
            _let_threads_end()
    assert turn > 10  # else it was another thing that was cancelled


@pytest.mark.row("ASYNC-3")
@pytest.mark.parametrize("stage", ["initialize", "new_session", "prompt"])
async def test_a_caller_cancelled_while_a_deaf_child_is_busy_leaves_nothing(stage: str, tmp_path: Path) -> None:
    """The whole ladder is climbed before the cancellation goes on."""
    steps = [{"spawn": {"leave": True, "session": True, "ignore_term": True}}, {"stderr": "here"}, {"hang": True}]
    limits = Limits(**QUICK | {"cancel_grace_seconds": 0.2, "eof_grace_seconds": 0.2, "term_grace_seconds": 0.2})
    child = Scripted(tmp_path, {stage: steps, "ignore": ["eof", "SIGTERM"], "on_cancel": "ignore"}, limits=limits)
    with nothing_left(), anyio.fail_after(15):
        with anyio.CancelScope() as scope:
            async with Runner() as runner:
                run = await runner.start(child.spec, "go")
                async for event in run.events():
                    if event.type == "stderr":
                        scope.cancel()
        assert scope.cancelled_caught
        result = await run.result()
    assert (result.status, result.reason, result.flags.killed) == ("aborted", "cancelled", "kill")


@pytest.mark.row("ASYNC-2")
async def test_a_run_belongs_to_no_task_of_the_caller() -> None:
    """Started in one task, read in another, cancelled in a third, waited for in all."""
    runs = []
    results = []

    async def start(runner: Runner) -> None:
        runs.append(await runner.start(tiny("read -r _;"), "go"))

    async def wait() -> None:
        results.append(await runs[0].result())

    with nothing_left(), anyio.fail_after(15):
        async with Runner() as runner, anyio.create_task_group() as tasks:
            async with anyio.create_task_group() as starter:
                starter.start_soon(start, runner)
            for work in (wait, wait, runs[0].cancel, wait):
                tasks.start_soon(work)
    assert len(results) == 3
    assert all(result is results[0] for result in results)
    assert results[0].reason == "cancelled"


@pytest.mark.row("ASYNC-2")
@pytest.mark.parametrize("error", [None, LookupError("the block's own")])
async def test_a_runner_may_be_left_by_another_task_than_entered_it(error: Exception | None) -> None:
    """As a fixture or a generator is: no scope of ours is left open in either, and the error stays the caller's."""
    runner = Runner()
    runs = []

    async def enter() -> None:
        await runner.__aenter__()
        runs.append(await runner.start(tiny("read -r _;" if error else WITH_HELPERS), "go"))

    async def leave() -> None:
        await runner.__aexit__(type(error) if error else None, error, None)

    with nothing_left(), anyio.fail_after(15):
        for work in (enter, leave):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
        assert (await runs[0].result()).reason == ("cancelled" if error else "end_turn")


@pytest.mark.row("ASYNC-2")
async def test_a_wait_that_is_given_up_loses_nothing(tmp_path: Path) -> None:
    """A deadline around the next event, the next result, the answer or the end: the run goes on, and so do they."""
    gate = tmp_path / "gate"
    child = Scripted(tmp_path, {"prompt": [{"wait_for": str(gate)}, {"chunk": "through"}]}, limits=Limits(**QUICK))
    with nothing_left(), anyio.fail_after(15):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            events = run.events()
            results = runner.run_many([(tiny(), "go"), (tiny("read -r _; exit 3;"), "go")])
            seen = []
            for impatient in (events.__anext__, results.__anext__, run.answer, run.result):
                with anyio.move_on_after(0):
                    seen.append(await impatient())
            gate.touch()
            seen += [event async for event in events]
            rest = [result async for _, result in results]
            assert (await run.answer()).text == (await run.result()).text == "through"
    assert "text" in [getattr(event, "type", None) for event in seen]
    assert {result.reason for result in rest} <= {"end_turn", "agent_exited"}
    assert len(rest) + sum(isinstance(one, tuple) for one in seen) == 2


@pytest.mark.row("ASYNC-2")
@pytest.mark.parametrize("how", ["dropped", "closed by another task", "kept to the end"])
async def test_an_unfinished_iteration_holds_nothing(how: str, tmp_path: Path) -> None:
    """What runs ends as cancelled, or with the runner's block; what waits is never started."""
    hang = Scripted(tmp_path, {"prompt": [{"hang": True}]}, limits=Limits(**QUICK))
    never = AgentSpec(command=("touch", str(tmp_path / "bad")))
    with nothing_left(), anyio.fail_after(15):
        async with Runner(max_concurrency=1) as runner:
            results = runner.run_many([(tiny(), "first"), (hang.spec, "second"), (never, "third")])
            job, result = await anext(results)
            assert (job, result.text) == ((tiny(), "first"), "tiny")
            events = (await runner.start(never, "never")).events() if how == "dropped" else None
            if how == "closed by another task":
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(results.aclose)
                assert [job async for job, _ in results] == [(hang.spec, "second")]
            elif how == "dropped":
                del results, events
                gc.collect()
                runner._cancel_all()
            else:
                runner._cancel_all()
    if how != "dropped":
        assert [job async for job, _ in results] in ([], [(hang.spec, "second")])
    assert not (tmp_path / "bad").exists()


def raises(_request: PermissionRequest) -> Decision:
    """Fails before there is anything to await."""
    raise KeyError("a bug of the caller's")


async def raises_later(_request: PermissionRequest) -> Decision:
    """Fails in the middle."""
    await anyio.lowlevel.checkpoint()
    raise RuntimeError("a bug of the caller's")


async def raises_a_timeout(_request: PermissionRequest) -> Decision:
    """Fails with what looks like our own clock."""
    with anyio.fail_after(0):
        await anyio.sleep(1)
    raise AssertionError


def returns_a_word(_request: PermissionRequest) -> str:
    """Answers in no way that is one."""
    return "allow"


async def returns_nothing(_request: PermissionRequest) -> None:
    """Forgets to answer."""


POLICIES = [raises, raises_later, raises_a_timeout, returns_a_word, returns_nothing]


@pytest.mark.row("ASYNC-6")
@pytest.mark.parametrize("policy", POLICIES)
async def test_a_policy_that_fails_is_logged_once_and_rejects(
    policy: Callable[[PermissionRequest], Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With its traceback; the request has its answer, and the run goes on."""
    steps = [{"permission": {"save": "a"}}, {"chunk": "${a.result.outcome.optionId}"}]
    child = Scripted(tmp_path, {"prompt": steps}, permission=policy, limits=Limits(**QUICK))
    with nothing_left(), anyio.fail_after(15), caplog.at_level(logging.WARNING):
        result = await run_subagent(child.spec, "go")
    assert (result.status, result.text) == ("completed", "reject")
    (record,) = [one for one in caplog.records if one.name.startswith("acp_client")]
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert (result.permissions[0].action, result.permissions[0].option_id) == ("reject", "reject")


FLAT = """
import anyio, os, resource, sys
from acp_client import AgentSpec, Runner, run_subagent
from tests.support.kernel import descriptors, zombies
from tests.support.tiny import tiny

async def many(specs, cap):
    async with Runner(max_concurrency=cap) as runner:
        return [result.reason async for _, result in runner.run_many([(spec, "go") for spec in specs])]

async def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    await run_subagent(tiny(), "go")
    before = descriptors()
    kinds = (tiny(), AgentSpec(command=("false",)), AgentSpec(command=("/nonexistent",)), tiny("sleep 600 &"))
    reasons = await many(kinds * 50, 8)
    assert {word: reasons.count(word) for word in set(reasons)} == {
        "end_turn": 100, "agent_exited": 50, "spawn_failed": 50}, reasons
    assert descriptors() == before, (before, descriptors())
    assert zombies() == []
    print(sum(before.values()))

anyio.run(main, backend=sys.argv[1])
"""

SCARCE = """
import anyio, os, resource, sys
from acp_client import AgentSpec, Runner, run_subagent
from tests.support.kernel import descriptors, marked, zombies
from tests.support.tiny import tiny
from acp_client.process.guardian import GUARDIAN

async def main():
    if sys.argv[2] == "warm":
        await run_subagent(tiny(), "go")
    reasons = []
    for spare in range(24):
        before = descriptors()
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1 + spare, 4096))
        try:
            result = await run_subagent(tiny("sleep 600 & setsid sleep 600 &"), "go")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        reasons.append(result.reason)
        if result.reason == "spawn_failed":
            assert "file descriptors" in result.failure.message, result.failure
            assert result.failure.retry_safe
        assert zombies() == [], spare
        guardian = descriptors() - before
        assert not before - descriptors() and sum(guardian.values()) <= (sys.argv[2] == "cold"), (spare, guardian)
        if reasons[-1] == "end_turn":
            assert marked(GUARDIAN.token) == {}, (spare, result)
    assert (reasons[0], reasons[-1]) == ("spawn_failed", "end_turn"), reasons
    assert set(reasons) == {"spawn_failed", "end_turn"}, reasons
    assert marked(GUARDIAN.token) == {}

anyio.run(main, backend=sys.argv[1])
"""


@pytest.mark.row("ASYNC-7")
async def test_two_hundred_runs_within_128_descriptors_leave_as_many_as_there_were(anyio_backend: str) -> None:
    """Completed, crashed, never started, with helpers: each gives back its pipes and its pidfd."""
    with anyio.fail_after(60):
        await run_parent(FLAT, anyio_backend)


@pytest.mark.row("ASYNC-7")
@pytest.mark.parametrize("start", ["warm", "cold"])
async def test_descriptors_that_run_out_anywhere_in_a_run_are_a_result_and_no_leak(
    start: str, anyio_backend: str
) -> None:
    """One more to spare each time: from none for the first pipe to enough for the whole run."""
    with anyio.fail_after(60):
        await run_parent(SCARCE, anyio_backend, start)
