"""Process trees: wrappers, helpers that stay behind, agents deaf to everything. Nothing is left of any of them."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner, RunResult, run_subagent
from tests.support.kernel import nothing_left, zombies
from tests.support.scenarios import Scripted
from tests.support.tiny import tiny

SHORT = Limits(eof_grace_seconds=0.1, term_grace_seconds=0.1, cancel_grace_seconds=0.1, late_update_grace_seconds=0.0)
"""For those who are deaf to everything on purpose: the graces pass in full."""
STEADY = Limits(eof_grace_seconds=0.1, term_grace_seconds=10.0, late_update_grace_seconds=0.0)
"""For those who hear SIGTERM."""
PATIENT = Limits(eof_grace_seconds=10.0, term_grace_seconds=10.0, late_update_grace_seconds=0.0)
"""For those who are not: a grace that passed in full would show as the next rung."""

ANSWER: list[dict[str, Any]] = [{"chunk": "done"}]
DAEMON = (
    "import os, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "open({ready!r}, 'w').close()\n"
    "time.sleep(600)\n"
)


async def run(spec: AgentSpec) -> RunResult:
    """One run that leaves nothing, whatever it was."""
    with nothing_left(), anyio.fail_after(20):
        return await run_subagent(spec, "go")


def check_completed(result: RunResult, killed: str | None) -> None:
    """The answer is there, and so is the rung that it took."""
    assert (result.status, result.reason, result.text, result.failure) == ("completed", "end_turn", "done", None)
    assert result.flags.killed == killed


WRAPPERS = {
    "a shell that waits": ("sh", "-c", '"$@"; :', "sh"),
    "a shell that waits for a background job": (
        "sh",
        "-c",
        'exec 3<&0; "$@" <&3 & wait',
        "sh",
    ),  # a job has no stdin else
    "a shell in a shell": ("sh", "-c", 'sh -c \'"$@"; :\' sh "$@"; :', "sh"),
    "a shell with job control": ("bash", "-c", 'set -m; "$@"; :', "bash"),
    "a wrapper that opens a session": ("setsid", "--wait"),
    "a wrapper with a clock": ("timeout", "--foreground", "600"),
}


@pytest.mark.row("TREE-1")
@pytest.mark.parametrize("name", WRAPPERS)
async def test_a_deaf_agent_behind_a_wrapper_is_killed_with_it(name: str, tmp_path: Path) -> None:
    """The agent ignores EOF and SIGTERM, so only SIGKILL for all of the tree ends it."""
    child = Scripted(tmp_path, {"ignore": ["eof", "SIGTERM"], "prompt": ANSWER}, limits=SHORT)
    spec = child.spec.model_copy(update={"command": (*WRAPPERS[name], *child.spec.command)})
    check_completed(await run(spec), "kill")


@pytest.mark.row("TREE-1")
async def test_a_wrapper_whose_agent_obeys_ends_without_a_signal(tmp_path: Path) -> None:
    """EOF reaches the agent through the wrapper, and both exit by themselves."""
    child = Scripted(tmp_path, {"prompt": ANSWER}, limits=PATIENT)
    command = ("sh", "-c", '"$@"; exit 7', "sh", *child.spec.command)
    result = await run(child.spec.model_copy(update={"command": command}))
    check_completed(result, None)
    assert result.diagnostics.exit_code == 7


HELPERS: dict[str, tuple[dict[str, Any], str]] = {
    "in its group": ({}, "term"),
    "holding all pipes": ({"inherit": ["stdin", "stdout", "stderr"]}, "term"),
    "deaf to SIGTERM": ({"ignore_term": True}, "kill"),
    "in a group of its own": ({"group": True}, "term"),
    "in a session of its own": ({"session": True}, "term"),
    "in a session of its own, deaf and holding pipes": (
        {"session": True, "ignore_term": True, "inherit": ["stdout", "stderr"]},
        "kill",
    ),
    "in a group of its own, without our marker": ({"group": True, "env": {"ACP_SUBAGENTS_RUN": None}}, "term"),
    "without our marker, deaf": ({"ignore_term": True, "env": {"ACP_SUBAGENTS_RUN": None}}, "kill"),
}


@pytest.mark.row("TREE-2", "ASYNC-1")
@pytest.mark.parametrize("name", HELPERS)
async def test_a_helper_that_outlives_a_polite_leader_is_ended(name: str, tmp_path: Path) -> None:
    """The leader exits with 0 at EOF; what it left gets SIGTERM at once, and SIGKILL where it is deaf."""
    helper, killed = HELPERS[name]
    limits = SHORT if killed == "kill" else PATIENT
    child = Scripted(tmp_path, {"prompt": [{"spawn": {"leave": True, **helper}}, *ANSWER]}, limits=limits)
    result = await run(child.spec)
    check_completed(result, killed)
    assert result.diagnostics.exit_code == 0


@pytest.mark.row("TREE-2")
@pytest.mark.parametrize("code", [0, 3])
async def test_a_helper_of_a_leader_that_exits_right_after_its_answer_is_ended(code: int, tmp_path: Path) -> None:
    """Nobody asked it to go: the answer counts, and the exit code is told."""
    steps = [{"spawn": {"leave": True, "inherit": ["stdout"]}}, *ANSWER, {"stop": "end_turn"}, {"exit": code}]
    child = Scripted(tmp_path, {"prompt": steps}, limits=PATIENT)
    result = await run(child.spec)
    check_completed(result, "term")
    assert result.diagnostics.exit_code == code


@pytest.mark.row("TREE-2")
async def test_a_daemon_that_forked_twice_is_found_and_ended(tmp_path: Path) -> None:
    """It has left group, session and parent; the marker in its environment is what is left to find it by."""
    ready = str(tmp_path / "ready")
    spawn = {"argv": [sys.executable, "-c", DAEMON.format(ready=ready)], "leave": True, "inherit": ["stdout"]}
    child = Scripted(tmp_path, {"prompt": [{"spawn": spawn}, {"wait_for": ready}, *ANSWER]}, limits=PATIENT)
    check_completed(await run(child.spec), "term")


@pytest.mark.row("TREE-2", "ASYNC-1")
async def test_a_helper_that_floods_our_pipe_after_its_leader_cannot_hold_us(tmp_path: Path) -> None:
    """Its bytes are noise; the pipe is not read to an end that never comes."""
    spawn = {"argv": ["yes", "noise"], "leave": True, "session": True, "inherit": ["stdout"]}
    child = Scripted(tmp_path, {"prompt": [*ANSWER, {"stop": "end_turn"}, {"spawn": spawn}]}, limits=PATIENT)
    result = await run(child.spec)
    check_completed(result, "term")


DEAF: dict[str, tuple[list[str], str | None, Limits]] = {
    "to nothing": ([], None, PATIENT),
    "to EOF": (["eof"], "term", STEADY),
    "to stdin as a whole": (["stdin"], "term", STEADY),
    "to EOF and SIGTERM": (["eof", "SIGTERM"], "kill", SHORT),
    "to EOF and every polite signal": (["eof", "SIGTERM", "SIGINT", "SIGHUP"], "kill", SHORT),
}


@pytest.mark.row("TREE-3")
@pytest.mark.parametrize("name", DEAF)
async def test_an_agent_that_is_deaf_meets_the_next_rung(name: str, tmp_path: Path) -> None:
    """EOF, SIGTERM, SIGKILL, each after its grace; the result says which one it took."""
    deaf, killed, limits = DEAF[name]
    child = Scripted(tmp_path, {"prompt": [{"ignore": deaf}, *ANSWER]}, limits=limits)
    result = await run(child.spec)
    check_completed(result, killed)
    signals = {None: (0, None), "term": (None, 15), "kill": (None, 9)}
    assert (result.diagnostics.exit_code, result.diagnostics.signal) == signals[killed]


@pytest.mark.row("TREE-3")
async def test_copies_of_a_deaf_agent_do_not_pile_up(tmp_path: Path) -> None:
    """One after the other and side by side: when the results are there, the processes are not."""
    child = Scripted(tmp_path, {"ignore": ["eof", "SIGTERM"], "prompt": ANSWER}, limits=SHORT)
    with nothing_left(), anyio.fail_after(30):
        async with Runner(max_concurrency=4) as runner:
            async for _, result in runner.run_many([(child.spec, "go")] * 8):
                check_completed(result, "kill")


@pytest.mark.row("TREE-3")
async def test_a_killed_leader_does_not_take_its_note_down_to_sigterm(tmp_path: Path) -> None:
    """SIGKILL was needed for the leader, SIGTERM for its helper: the higher rung is told."""
    steps = [{"ignore": ["eof", "SIGTERM"]}, {"spawn": {"leave": True, "session": True}}, *ANSWER]
    check_completed(await run(Scripted(tmp_path, {"prompt": steps}, limits=SHORT).spec), "kill")


@pytest.mark.row("TREE-7")
async def test_no_run_leaves_a_zombie_however_it_ended() -> None:
    """Looked at after each run, and after many side by side: completed, exited, killed, timed out, never started."""
    hang = Limits(startup_timeout_seconds=0.2, term_grace_seconds=0.1)
    specs = [
        tiny(),
        tiny("sleep 600 & setsid sleep 600 &"),
        tiny("trap '' TERM; sleep 600 &"),
        tiny("exit 1;"),
        tiny("kill -9 $$;"),
        tiny("sleep 600;", limits=hang),
        tiny("trap '' TERM; sleep 600;", limits=hang),
        AgentSpec(command=("/nonexistent/agent",)),
    ]
    with nothing_left(), anyio.fail_after(60):
        async with Runner(max_concurrency=4) as runner:
            await run_subagent(specs[0], "the guardian's starter is gone after the first one, too")
            for one in specs:
                run = await runner.start(one, "go")
                await run.result()
                assert zombies() == []
            async for _ in runner.run_many([(one, "go") for one in specs * 6]):
                pass  # now some leaders are zombies, until what they left is swept; none is in the end
