"""Many at once: independent results, a cap that holds, and nothing served that was not offered."""

import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from acp_client import AgentSpec, Limits, Runner, run_subagent
from tests.support.kernel import nothing_left
from tests.support.scenarios import QUICK, Scripted

SHORT = Limits(**QUICK | {"eof_grace_seconds": 0.3, "term_grace_seconds": 0.3, "idle_timeout_seconds": 10.0})


@pytest.mark.row("CONC-2")
@pytest.mark.parametrize("cap", [3, 20])
async def test_twenty_at_once_have_results_of_their_own(cap: int, tmp_path: Path) -> None:
    """Some fail to start, crash, refuse or have to be killed; no other is touched by it."""
    said = {"chunk": "${prompt}"}
    kinds: dict[str, tuple[dict[str, Any] | None, str]] = {
        "fine": ({"prompt": [said]}, "end_turn"),
        "missing": (None, "spawn_failed"),
        "crash": ({"prompt": [said, {"signal": "SIGKILL"}]}, "agent_exited"),
        "refuse": ({"prompt": [said, {"stop": "refusal"}]}, "refusal"),
        "deaf": ({"ignore": ["eof", "SIGTERM"], "prompt": [said, {"spawn": {"leave": True}}]}, "end_turn"),
    }
    jobs = []
    for number in range(20):
        kind = list(kinds)[number % len(kinds)]
        folder = tmp_path / f"{kind}-{number}"
        folder.mkdir()
        scenario = kinds[kind][0]
        missing = AgentSpec(command=("/nonexistent/agent",), limits=SHORT)
        spec = missing if scenario is None else Scripted(folder, scenario, limits=SHORT).spec
        jobs.append((spec, f"{kind}-{number}"))
    seen = set()
    with nothing_left(), anyio.fail_after(40):
        async with Runner(max_concurrency=cap) as runner:
            async for job, result in runner.run_many(jobs):
                prompt = jobs[jobs.index(job)][1]  # type: ignore[arg-type]  # each job as it was given
                kind = prompt.partition("-")[0]
                assert result.reason == kinds[kind][1]
                assert result.text == ("" if kind == "missing" else prompt)
                seen.add(prompt)
    assert len(seen) == 20


@pytest.mark.row("CONC-2")
async def test_no_more_than_the_cap_are_alive_at_any_time(tmp_path: Path) -> None:
    """Each child counts those that are there with it; a lock that only one may hold is enough to see a second."""
    lock = tmp_path / "lock"
    program = (
        "import os, sys\n"
        "os.mkdir(sys.argv[1])\n"  # fails if another one is alive
        "sys.stdin.read()\n"
        "os.rmdir(sys.argv[1])\n"
    )
    spec = AgentSpec(command=("python3", "-c", program, str(lock)), limits=Limits(startup_timeout_seconds=0.3))
    with nothing_left(), anyio.fail_after(30):
        async with Runner(max_concurrency=1) as runner:
            async for _, result in runner.run_many([(spec, "go")] * 4):
                assert result.reason == "startup_timeout", result.diagnostics.stderr_tail
                if lock.exists():  # ended by SIGTERM, before it could
                    lock.rmdir()


@pytest.mark.row("CONC-2")
async def test_a_run_that_ends_frees_its_place_for_the_next_however_it_ended(tmp_path: Path) -> None:
    """Places are counted right: after failures of every kind as many fit in as before."""
    for word in ("a", "b"):
        (tmp_path / word).mkdir()
    missing = AgentSpec(command=("/nonexistent/agent",))
    crash = AgentSpec(command=("false",))
    meet = [
        Scripted(
            tmp_path / me,
            {"prompt": [{"touch": str(tmp_path / f"{me}.up")}, {"wait_for": str(tmp_path / f"{you}.up")}]},
            limits=SHORT,
        ).spec
        for me, you in (("a", "b"), ("b", "a"))
    ]
    with nothing_left(), anyio.fail_after(20):
        async with Runner(max_concurrency=2) as runner:
            runs = [await runner.start(spec, "go") for spec in (missing, crash, missing, crash, *meet)]
            reasons = [(await run.result()).reason for run in runs]
    assert reasons == ["spawn_failed", "agent_exited", "spawn_failed", "agent_exited", "end_turn", "end_turn"]


@pytest.mark.row("CONC-2")
async def test_a_program_that_keeps_every_worker_thread_busy_does_not_hold_up_its_runs(tmp_path: Path) -> None:
    """Perhaps those threads wait for the runs."""
    done = threading.Event()
    child = Scripted(tmp_path, {"prompt": [{"spawn": {"leave": True, "session": True}}, {"chunk": "x"}]}, limits=SHORT)
    limiter = anyio.to_thread.current_default_thread_limiter()
    before, limiter.total_tokens = limiter.total_tokens, 1
    try:
        with nothing_left(), anyio.fail_after(15):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.to_thread.run_sync, lambda: done.wait())  # noqa: PLW0108  # its overload puzzles mypy
                await anyio.lowlevel.checkpoint()
                result = await run_subagent(child.spec, "go")
                done.set()
    finally:
        done.set()
        limiter.total_tokens = before
    assert (result.reason, result.text, result.flags.killed) == ("end_turn", "x", "term")


@pytest.mark.row("CONC-3")
@pytest.mark.odd_frames
async def test_a_terminal_that_was_not_offered_is_not_made(tmp_path: Path) -> None:
    """So there is none to release, nor a wait for its exit that hangs."""
    marker = tmp_path / "made"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("terminal/create", {"command": "touch", "args": [str(marker)]}),
        ("terminal/wait_for_exit", {"terminalId": "t"}),
        ("terminal/kill", {"terminalId": "t"}),
        ("terminal/release", {"terminalId": "t"}),
    ]
    steps = [
        {
            "request": {
                "method": method,
                "params": {"sessionId": "${session}", **params},
                "save": "a",
                "on": {"error": [{"chunk": "${a.error.code} "}]},
            }
        }
        for method, params in calls
    ]
    child = Scripted(tmp_path, {"prompt": steps}, limits=SHORT)
    with nothing_left(), anyio.fail_after(15):
        result = await run_subagent(child.spec, "go")
    assert (result.reason, result.text) == ("end_turn", "-32601 " * 4)
    assert not marker.exists()
