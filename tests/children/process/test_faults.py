"""Faults of the parent itself: its loop blocked for seconds, its clock set back, its runs cancelled from everywhere."""

import threading
import time
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest

from acp_client import AgentSpec, Limits, Run, Runner, RunResult, run_subagent
from acp_client.session import connection
from tests.support.kernel import nothing_left
from tests.support.tiny import SHORT, tiny

INITIALIZED = """read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}';"""
SESSION = """echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}';"""
CHUNK = """echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":\
{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"."}}}}';"""
END = """echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'; read -r _"""


def shell(script: str, **limits: float) -> AgentSpec:
    """An agent in a few lines of shell."""
    return AgentSpec(command=("sh", "-c", script), limits=Limits(**SHORT.model_dump() | limits))


async def blocked_at(event_type: str, seconds: float, spec: AgentSpec) -> RunResult:
    """A run whose listener blocks the whole loop at each event of a kind."""
    with nothing_left(), anyio.fail_after(40):
        async with Runner() as runner:
            run = await runner.start(spec, "go")
            async for event in run.events():
                if event.type == event_type:
                    time.sleep(seconds)  # noqa: ASYNC251  # the fault under test
            return await run.result()


async def test_a_start_is_not_charged_for_the_time_that_our_loop_was_blocked() -> None:
    """It had answered long ago and nobody had read it; then it has the rest of its time."""
    script = f"{INITIALIZED} read -r _; sleep 0.6; {SESSION} read -r _; {CHUNK} {END}"
    result = await blocked_at("run_started", 3.0, shell(script, startup_timeout_seconds=2.0))
    assert (result.reason, result.text) == ("end_turn", "."), result.failure


async def test_frames_that_waited_in_the_pipe_are_signs_of_life() -> None:
    """Blocked a little longer than the silence that is allowed: none of eight was ever silent."""
    script = f"{INITIALIZED} read -r _; {SESSION} read -r _; for i in 1 2 3; do {CHUNK} sleep 0.3; done; {END}"
    spec = shell(script, idle_timeout_seconds=1.0)
    with nothing_left(), anyio.fail_after(40):
        async with Runner() as runner:
            runs = [await runner.start(spec, "go") for _ in range(8)]
            async for event in runs[-1].events():
                if event.type == "text":
                    time.sleep(1.05)  # noqa: ASYNC251  # the fault under test
                    break
            results = [await run.result() for run in runs]
    assert [(result.reason, result.text) for result in results] == [("end_turn", "...")] * len(runs)


async def test_an_agent_is_not_silent_while_it_is_our_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has answered, and our loop is blocked before we ask the next thing."""
    initialize = connection.initialize

    async def blocked(*given: Any, **more: Any) -> connection.Agent:
        agent = await initialize(*given, **more)
        time.sleep(1.05)  # noqa: ASYNC251  # the fault under test
        return agent

    monkeypatch.setattr(connection, "initialize", blocked)
    script = f"{INITIALIZED} read -r _; sleep 0.2; {SESSION} read -r _; {CHUNK} {END}"
    with nothing_left(), anyio.fail_after(20):
        result = await run_subagent(shell(script, idle_timeout_seconds=1.0), "go")
    assert (result.reason, result.text) == ("end_turn", "."), result.failure


async def test_a_loop_that_is_blocked_does_not_hide_a_silence() -> None:
    """What the limit allows is waited for after it, and no more."""
    script = f"{INITIALIZED} read -r _; {SESSION} read -r _; {CHUNK} sleep 600"
    result = await blocked_at("text", 1.5, shell(script, idle_timeout_seconds=1.0))
    assert (result.reason, result.text) == ("idle_timeout", "."), result.failure
    assert result.timings.total is not None
    assert result.timings.total < 5.5  # blocked 1.5, silent 1, ended within 1; a busy machine gets the rest


@pytest.mark.parametrize("turns", range(4))
async def test_an_agent_that_went_in_time_is_not_taken_for_a_deaf_one_by_a_blocked_loop(turns: int) -> None:
    """Its exit was there and not seen when the grace ran out: it was not ended by a signal."""
    limits = SHORT.model_copy(update={"eof_grace_seconds": 0.3})
    with nothing_left(), anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(tiny(limits=limits), "go")
            await run.answer()
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            time.sleep(0.5)  # noqa: ASYNC251  # the fault under test
            result = await run.result()
    assert (result.reason, result.diagnostics.signal, result.flags.killed) == ("end_turn", None, None)


async def test_a_wall_clock_that_jumps_back_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour with each look at it: deadlines still pass when they should, and durations are those that were."""
    hours = iter(range(10**9, 0, -3600))
    monkeypatch.setattr(time, "time", lambda: float(next(hours)))
    script = f"{INITIALIZED} read -r _; {SESSION} read -r _; {CHUNK} sleep 600"
    with nothing_left(), anyio.fail_after(20):
        silent = await run_subagent(shell(script, idle_timeout_seconds=0.5), "go")
        done = await run_subagent(tiny(), "go")
    assert (silent.reason, silent.text, done.reason) == ("idle_timeout", ".", "end_turn")
    for result in (silent, done):
        assert all(0 <= seconds < 20 for seconds in result.timings.model_dump().values() if seconds is not None)


async def test_many_runs_cancelled_at_once_twice_from_tasks_and_threads_end_as_cancelled() -> None:
    """Running, starting and waiting ones; every run has one result, and nothing is left."""
    deaf = shell(f"trap '' TERM; {INITIALIZED} read -r _; {SESSION} read -r _; {CHUNK} sleep 600 & sleep 600")
    script = f"{INITIALIZED} read -r _; {SESSION} read -r _; {CHUNK} read -r _; {END}"
    specs = [shell(script), tiny("sleep 600;"), deaf] * 8
    with nothing_left(), anyio.fail_after(40):
        async with Runner(max_concurrency=12) as runner:
            runs = [await runner.start(spec, "go") for spec in specs]
            async for event in runs[0].events():
                if event.type == "text":
                    break
            async with anyio.create_task_group() as tasks:
                for _ in range(2):
                    for run in runs:
                        tasks.start_soon(run.cancel)
                        tasks.start_soon(anyio.to_thread.run_sync, cancel_from_a_thread, run)
            results = [await run.result() for run in runs]
            again = [await run.result() for run in reversed(runs)]
    assert {(result.status, result.reason) for result in results} == {("aborted", "cancelled")}
    assert all(one is other for one, other in zip(results, reversed(again), strict=True))
    assert len({result.run_id for result in results}) == len(specs)


def cancel_from_a_thread(run: Run) -> None:
    """As a worker of the program does it: through the loop."""
    assert threading.current_thread() is not threading.main_thread()
    anyio.from_thread.run(run.cancel)
    anyio.from_thread.run_sync(run.cancel_now)
