"""Runs of a runner that keeps processes warm: each has one of its own, and is otherwise as any run."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner, RunResult, SubAgent, SubAgents
from tests.record.kept import Kept
from tests.support.kernel import REPO, is_alive, marked, named, nothing_left
from tests.support.scenarios import QUICK
from tests.support.warm.agent import noted, until_noted, warm_spec

OTHER_LIMITS = Limits(**{**QUICK, "max_events_buffered": 9_999})
DELEGATING = REPO / "tests" / "agent" / "delegating_agent.py"


async def _run(runner: Runner, spec: AgentSpec) -> RunResult:
    return await (await runner.start(spec, "go")).result()


async def _fail_inside(spec: AgentSpec) -> None:
    async with Runner(warm={spec: 1}) as runner:
        await runner.prewarm(spec, 1)
        raise RuntimeError("mine")


def _told(result: RunResult) -> dict[str, object]:
    return result.model_dump(exclude={"run_id", "timings", "text", "messages", "last_message"})


async def test_a_warm_run_is_like_any_other_but_for_its_timings(tmp_path: Path) -> None:
    """What the process wrote before is the run's; only how long it stood ready is told."""
    warm, cold = warm_spec(tmp_path, "stderr"), warm_spec(tmp_path, "stderr", limits=OTHER_LIMITS)
    with nothing_left(), anyio.fail_after(30):
        async with Runner(warm={warm: 1}) as runner:
            assert await runner.prewarm(warm, 1) == 1
            first = await _run(runner, warm)
            other = await _run(runner, cold)
    assert _told(first) == _told(other)
    assert first.diagnostics.stderr_tail == "early words\n" * 3
    assert (first.timings.spawn, first.timings.initialize) == (0.0, 0.0)
    assert first.timings.warm is not None
    assert first.timings.warm > 0
    assert other.timings.warm is None
    assert other.timings.spawn


async def test_each_process_serves_one_run_and_is_replaced(tmp_path: Path) -> None:
    """As many as wanted are ready again after it."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with Runner() as runner:
            assert await runner.prewarm(spec, 2) == 2
            texts = []
            for _ in range(3):
                assert await runner.prewarm(spec, 2) == 2
                result = await _run(runner, spec)
                assert result.timings.warm is not None
                texts.append(int(result.text))
            assert await runner.prewarm(spec, 2) == 2
    assert len(set(texts)) == 3
    assert noted(tmp_path, "session/new") == texts
    assert len(noted(tmp_path, "start")) == 5
    assert not any(map(is_alive, noted(tmp_path, "start")))


async def test_nothing_is_started_ahead_by_default(tmp_path: Path) -> None:
    """Only the run's own process is."""
    with nothing_left(), anyio.fail_after(30):
        async with Runner() as runner:
            result = await _run(runner, warm_spec(tmp_path))
    assert noted(tmp_path, "start") == [int(result.text)]
    assert result.timings.warm is None


async def test_equal_specs_share_their_processes_and_others_do_not(tmp_path: Path) -> None:
    """Equality counts, not identity; a name is none of the process, so that the runs of a sub-agent have warm ones."""
    with nothing_left(), anyio.fail_after(60):
        async with Runner(max_depth=1) as runner:  # as deep as a sub-agent's
            await runner.prewarm(warm_spec(tmp_path), 1)
            same = await _run(runner, warm_spec(tmp_path))
            await runner.prewarm(warm_spec(tmp_path), 1)
            named = await _run(runner, warm_spec(tmp_path, name="another"))
            await runner.prewarm(warm_spec(tmp_path), 1)
            asked = SubAgents([SubAgent(name="one", description="d", agent=warm_spec(tmp_path))], runner=runner)
            request = await asked.run("one", task="go")
            await runner.prewarm(warm_spec(tmp_path), 1)
            other = await _run(runner, warm_spec(tmp_path, limits=OTHER_LIMITS))
    assert None not in [result.timings.warm for result in (same, named, request)]
    assert other.timings.warm is None


async def test_a_run_that_would_start_its_process_otherwise_starts_cold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A depth of its own, in its environment, is no reason to end the warm one; a new environment is."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with Runner() as runner:
            await runner.prewarm(spec, 1)
            (first,) = noted(tmp_path, "initialize")
            deeper = await (await runner.start(spec, "go", max_depth=3)).result()
            assert deeper.timings.warm is None
            assert is_alive(first)
            monkeypatch.setenv("SOMETHING_NEW", "1")
            assert (await _run(runner, spec)).timings.warm is None
            await runner.prewarm(spec, 1)
            again = await _run(runner, spec)
            assert again.timings.warm is not None
    assert int(again.text) != first


async def test_a_process_that_was_killed_is_not_taken(tmp_path: Path) -> None:
    """Not even by a run that comes at once; and another one takes its place."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with Runner() as runner:
            await runner.prewarm(spec, 1)
            (first,) = noted(tmp_path, "initialize")
            os.kill(first, signal.SIGKILL)
            result = await _run(runner, spec)
            assert result.reason == "end_turn"
            assert int(result.text) != first
            await until_noted(tmp_path, "initialize", 3)


MODES = {
    "exit": "ends before it answers",
    "refuse": "answers with an error",
    "version": "speaks another version",
    "leave": "ends after its answer",
    "mute": "closes its stdout after its answer",
    "flood": "says more than it may before it has a session",
}


@pytest.mark.odd_frames
@pytest.mark.parametrize("mode", MODES)
async def test_an_agent_that_cannot_be_kept_warm_is_no_busy_loop(mode: str, tmp_path: Path) -> None:
    """It is tried again after a while, and a run starts its own meanwhile."""
    spec = warm_spec(tmp_path, mode)
    with nothing_left(), anyio.fail_after(30):
        async with Runner() as runner:
            await runner.prewarm(spec, 1)
            result = await _run(runner, spec)
            if mode in ("exit", "refuse", "version"):
                assert await runner.prewarm(spec, 1) == 0  # asked for again: tried again at once
    assert result.timings.warm is None or mode in ("leave", "mute", "flood")
    assert 1 <= len(noted(tmp_path, "start")) <= 4
    assert result.reason != "internal_error"


async def test_an_agent_that_never_answers_is_given_up_at_its_startup_limit(tmp_path: Path) -> None:
    """With nothing left of it."""
    spec = warm_spec(tmp_path, "silent", limits=Limits(**QUICK | {"startup_timeout_seconds": 0.3}))
    with nothing_left(), anyio.fail_after(30):
        async with Runner() as runner:
            assert await runner.prewarm(spec, 2) == 0


async def test_a_program_that_is_not_there_only_makes_runs_fail(tmp_path: Path) -> None:
    """As without warm processes."""
    spec = AgentSpec(command=("/nonexistent/agent",), cwd=tmp_path)
    with nothing_left(), anyio.fail_after(30):
        async with Runner(warm={spec: 2}) as runner:
            assert await runner.prewarm(spec, 2) == 0
            assert (await _run(runner, spec)).reason == "spawn_failed"


async def test_leaving_the_runner_ends_what_is_ready_and_what_is_starting(tmp_path: Path) -> None:
    """Also without a wait for them before, and by an exception."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with Runner(warm={spec: 3}):
            await until_noted(tmp_path, "start", 1)
        with pytest.raises(RuntimeError, match="mine"):
            await _fail_inside(spec)
        async with Runner(warm={spec: 1}):
            pass
    assert not any(map(is_alive, noted(tmp_path, "start")))
    assert named(tmp_path) == []


async def test_a_run_that_is_started_just_before_the_end_still_gets_one(tmp_path: Path) -> None:
    """They are ended after the last run."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with Runner(warm={spec: 2}) as runner:
            await runner.prewarm(spec, 2)
            run = await runner.start(spec, "go")
        assert (await run.result()).timings.warm is not None
    assert len(noted(tmp_path, "start")) == 2


async def test_wanting_fewer_ends_those_that_are_too_many(tmp_path: Path) -> None:
    """Down to none."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with Runner() as runner:
            assert await runner.prewarm(spec, 2) == 2
            assert await runner.prewarm(spec, 1) == 1
            assert await runner.prewarm(spec, 0) == 0
            await until_noted(tmp_path, "eof", 2)
            assert (await _run(runner, spec)).timings.warm is None


async def test_a_run_with_host_tools_can_be_warm(tmp_path: Path) -> None:
    """Its secret is told in session/new, which is the run's own."""

    def add(left: int, right: int) -> int:
        """Add two numbers."""
        return left + right

    spec = warm_spec(tmp_path, host_tools=[add])
    with nothing_left(), anyio.fail_after(60):
        async with Runner() as runner:
            assert await runner.prewarm(spec, 1) == 1
            result = await _run(runner, spec)
    assert (result.reason, result.timings.warm is not None) == ("end_turn", True)


async def test_where_no_run_may_start_nothing_is_kept_warm(tmp_path: Path) -> None:
    """`max_depth=0` is for these too."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(30):
        async with Runner(max_depth=0, warm={spec: 1}) as runner:
            assert await runner.prewarm(spec, 1) == 0
            assert (await _run(runner, spec)).reason == "depth_exceeded"
    assert noted(tmp_path, "start") == []


async def test_warm_processes_are_none_of_the_runs_that_are_counted(tmp_path: Path) -> None:
    """With `max_concurrency=1` and two of them ready."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with Runner(max_concurrency=1) as runner:
            assert await runner.prewarm(spec, 2) == 2
            results = [result async for _, result in runner.run_many([(spec, "go")] * 2)]
    assert [result.timings.warm is not None for result in results] == [True, True]


def test_a_parent_that_is_killed_leaves_no_warm_process(tmp_path: Path) -> None:
    """The guardian knows them as it knows the children of runs."""
    program = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        import anyio
        from acp_client import Runner
        from tests.support.warm.agent import warm_spec

        async def main():
            async with Runner() as runner:
                spec = warm_spec(Path(sys.argv[1]))
                assert await runner.prewarm(spec, 2) == 2
                os.kill(os.getpid(), signal.SIGKILL)

        anyio.run(main)
    """)
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=60)  # ours

    async def gone() -> None:
        with anyio.fail_after(20):
            while named(tmp_path):  # noqa: ASYNC110  # as below
                await anyio.sleep(0.02)  # the guardian tells nobody

    assert len(noted(tmp_path, "initialize")) == 2
    anyio.run(gone)


WRONG = {
    "no mapping": ([("spec", 1)], TypeError, "mapping"),
    "no spec": ({"spec": 1}, TypeError, "AgentSpec"),
    "no number": ({AgentSpec(command=("a",)): True}, ValueError, "integer of at least 0"),
    "below 0": ({AgentSpec(command=("a",)): -1}, ValueError, "integer of at least 0"),
    "too many": ({AgentSpec(command=("a",)): 60, AgentSpec(command=("b",)): 5}, ValueError, "at most 64"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_wish_is_refused_when_the_runner_is_made(name: str) -> None:
    """Naming the rule."""
    given, kind, rule = WRONG[name]
    with pytest.raises(kind, match=rule):
        Runner(warm=given)  # type: ignore[arg-type]  # wrong on purpose


def test_a_runner_that_is_not_open_keeps_nothing_warm() -> None:
    """As it starts no run."""
    with pytest.raises(RuntimeError, match="not open yet"):
        Runner().prewarm(AgentSpec(command=("a",)))


async def test_the_marker_of_a_warm_process_is_its_own(tmp_path: Path) -> None:
    """So its tree is found, whatever run takes it."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with Runner() as runner:
            await runner.prewarm(spec, 1)
            (pid,) = noted(tmp_path, "initialize")
            assert pid in marked("-warm-")


async def test_what_a_warm_agent_delegates_is_recorded_below_its_run(tmp_path: Path) -> None:
    """It was started before there was a run: its place among the others comes with the prompt."""
    spec = AgentSpec(command=(sys.executable, str(DELEGATING)), env={"PYTHONPATH": str(REPO)})
    with nothing_left(), anyio.fail_after(60):
        async with Runner(warm={spec: 1}, transcripts=tmp_path) as runner:
            assert await runner.prewarm(spec, 1) == 1
            result = await (await runner.start(spec, "levels 1")).result()
    assert (result.reason, result.timings.spawn) == ("end_turn", 0.0)
    top = Kept(tmp_path / f"{result.run_id}.jsonl")
    assert top.frames[0]["method"] == "initialize"
    below = [Kept(file).header for file in (tmp_path / result.run_id).glob("*.jsonl")]
    assert [header.parent_run_id for header in below] == [result.run_id]
