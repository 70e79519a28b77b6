"""Children that die, or whose pipes break, while something is pending: it all fails at once, and nothing hangs."""

import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner, RunResult, run_subagent
from tests.support.kernel import nothing_left
from tests.support.scenarios import QUICK, Scripted

PATIENT = Limits(**QUICK | {"startup_timeout_seconds": 600.0, "idle_timeout_seconds": None, "eof_grace_seconds": 0.3})
"""No deadline helps here: what ends the run is that the child is gone."""


async def run(spec: AgentSpec, prompt: str = "go") -> RunResult:
    """One run that leaves nothing; `fail_after` stands for the endless wait."""
    with nothing_left(), anyio.fail_after(15):
        return await run_subagent(spec, prompt)


def check_exited(result: RunResult, request: str | None, says: str) -> None:
    """The reason, the request that was open, and how the child ended."""
    assert (result.status, result.reason) == ("error", "agent_exited")
    assert result.failure is not None
    assert result.failure.request == request
    assert says in result.failure.message


LAST_WORDS = {"stderr": "Error: ENOSPC"}
DEATHS: dict[str, tuple[dict[str, Any], str, str]] = {
    "exit 0 with the prompt read": ({"prompt": [LAST_WORDS, {"exit": 0}]}, "session/prompt", "exit code 0"),
    "exit 9 with the prompt read": ({"prompt": [LAST_WORDS, {"exit": 9}]}, "session/prompt", "exit code 9"),
    "exit 1 before it reads": ({"start": [LAST_WORDS, {"exit": 1}]}, "initialize", "exit code 1"),
    "exit 1 instead of initialize": ({"initialize": [LAST_WORDS, {"exit": 1}]}, "initialize", "exit code 1"),
    "exit 2 instead of session/new": ({"new_session": [LAST_WORDS, {"exit": 2}]}, "session/new", "exit code 2"),
    "SIGSEGV in the turn": ({"prompt": [LAST_WORDS, {"signal": "SIGSEGV"}]}, "session/prompt", "signal 11"),
    "SIGKILL in the turn": ({"prompt": [LAST_WORDS, {"signal": "SIGKILL"}]}, "session/prompt", "signal 9"),
    "SIGTERM by itself": ({"new_session": [LAST_WORDS, {"signal": "SIGTERM"}]}, "session/new", "signal 15"),
}


@pytest.mark.row("DEATH-1")
@pytest.mark.parametrize("name", DEATHS)
async def test_a_death_fails_what_is_pending_at_once(name: str, tmp_path: Path) -> None:
    """With exit code or signal, the last of stderr, and what was said before."""
    scenario, request, says = DEATHS[name]
    if "prompt" in scenario:
        scenario = {"prompt": [{"chunk": "partial"}, *scenario["prompt"]]}
    result = await run(Scripted(tmp_path, scenario, limits=PATIENT).spec)
    check_exited(result, request, says)
    assert result.failure is not None
    assert "Error: ENOSPC" in result.failure.message
    assert "Error: ENOSPC" in result.diagnostics.stderr_tail
    assert result.text == ("partial" if request == "session/prompt" else "")
    assert result.failure.retry_safe == (request != "session/prompt")
    assert result.flags.killed is None


@pytest.mark.row("DEATH-1")
@pytest.mark.parametrize("when", ["initialize", "new_session", "prompt"])
async def test_a_closed_stdout_is_a_death_though_the_process_lives(when: str, tmp_path: Path) -> None:
    """Nothing can be answered any more; the process is ended, and the failure says that it went on."""
    steps = [{"close": "stdout"}, {"hang": True}]
    result = await run(Scripted(tmp_path, {when: steps, "ignore": ["eof"]}, limits=PATIENT).spec)
    check_exited(
        result, {"new_session": "session/new", "prompt": "session/prompt"}.get(when, when), "closed its end of a pipe"
    )
    assert result.flags.killed == "term"


@pytest.mark.row("DEATH-1")
async def test_an_answer_right_before_the_death_counts(tmp_path: Path) -> None:
    """The turn was over; how the process ended is told, and nothing more."""
    steps = [{"chunk": "done"}, {"stop": "end_turn"}, {"signal": "SIGKILL"}]
    result = await run(Scripted(tmp_path, {"prompt": steps}, limits=PATIENT).spec)
    assert (result.status, result.reason, result.text) == ("completed", "end_turn", "done")
    assert (result.diagnostics.exit_code, result.diagnostics.signal) == (None, signal.SIGKILL)


@pytest.mark.row("DEATH-1")
async def test_a_helper_that_holds_the_pipes_does_not_hide_a_death(tmp_path: Path) -> None:
    """There is no EOF to see: the exit itself is what ends the run."""
    steps = [{"chunk": "partial"}, {"spawn": {"inherit": ["stdin", "stdout", "stderr"]}}, {"signal": "SIGKILL"}]
    result = await run(Scripted(tmp_path, {"prompt": steps}, limits=PATIENT).spec)
    check_exited(result, "session/prompt", "signal 9")
    assert (result.text, result.flags.killed) == ("partial", "term")


@pytest.mark.row("DEATH-1", "PERM-8")
async def test_a_death_while_a_permission_is_open_ends_the_run(tmp_path: Path) -> None:
    """The policy is still asked when there is nobody left to tell."""

    async def never(_request: object) -> Any:
        await anyio.sleep_forever()

    steps = [{"permission": {"wait": False}}, {"chunk": "asked"}, {"exit": 5}]
    child = Scripted(tmp_path, {"prompt": steps}, limits=PATIENT, permission=never)
    check_exited(await run(child.spec), "session/prompt", "exit code 5")


BIG = "x" * 1_000_000
GONE: dict[str, tuple[str, ...]] = {
    "a program that does nothing": ("true",),
    "one that closes its stdin and waits": ("sh", "-c", "exec 0<&-; sleep 600"),
    "one that closes its stdout": ("sh", "-c", "exec 1>&-; sleep 600"),
    "one that closes everything": ("sh", "-c", "exec 0<&- 1>&- 2>&-; sleep 600"),
    "one that reads a little": ("head", "-c", "10"),
}


@pytest.mark.row("DEATH-3")
@pytest.mark.odd_frames
@pytest.mark.parametrize("name", GONE)
async def test_writing_to_a_child_that_is_gone_is_a_result(name: str) -> None:
    """Whichever error the pipe gives, at whichever write."""
    limits = Limits(**QUICK | {"startup_timeout_seconds": 0.7, "eof_grace_seconds": 0.1})
    result = await run(AgentSpec(command=GONE[name], limits=limits), BIG)
    assert result.reason in {"agent_exited", *(["startup_timeout"] if "stdin" in name else [])}  # before or after us
    assert result.failure is not None
    assert result.failure.retry_safe


@pytest.mark.row("DEATH-3")
@pytest.mark.parametrize("after", ["session/new", "half the prompt"])
async def test_a_big_prompt_to_a_child_that_stops_reading_is_a_result(after: str, tmp_path: Path) -> None:
    """It dies with a megabyte on its way: before the first byte, or in the middle."""
    if after == "session/new":
        child = Scripted(tmp_path, {"new_session": {"after": [{"exit": 3}]}}, limits=PATIENT).spec
    else:
        program = (
            "import sys, os, json\n"
            "for result in ({'protocolVersion': 1}, {'sessionId': 's'}):\n"
            "    frame = json.loads(sys.stdin.buffer.raw.readline())\n"
            "    print(json.dumps({'jsonrpc': '2.0', 'id': frame['id'], 'result': result}), flush=True)\n"
            "os.read(0, 70000); os._exit(3)\n"
        )
        child = AgentSpec(command=(sys.executable, "-c", program), limits=PATIENT)
    check_exited(await run(child, BIG), "session/prompt", "exit code 3")


@pytest.mark.row("DEATH-3")
@pytest.mark.parametrize("repeats", [1, 3])
async def test_a_cancel_after_the_death_changes_nothing(repeats: int, tmp_path: Path) -> None:
    """Neither the reason nor, later, the result."""
    child = Scripted(tmp_path, {"prompt": [{"exit": 4}]}, limits=PATIENT)
    with nothing_left(), anyio.fail_after(15):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            answer = await run.answer()
            for _ in range(repeats):
                await run.cancel()
            result = await run.result()
            await run.cancel()
            assert await run.result() is result
    check_exited(answer, "session/prompt", "exit code 4")
    check_exited(result, "session/prompt", "exit code 4")


@pytest.mark.row("DEATH-3")
async def test_a_cancel_at_the_moment_of_death_ends_in_one_of_both(tmp_path: Path) -> None:
    """The child dies because it is cancelled; the cancel came first, and wins."""
    scenario = {"prompt": [{"chunk": "up"}, {"hang": True}], "on_cancel": [{"signal": "SIGKILL"}]}
    child = Scripted(tmp_path, scenario, limits=PATIENT)
    with nothing_left(), anyio.fail_after(15):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            async for event in run.events():
                if event.type == "text":
                    await run.cancel()
            result = await run.result()
    assert (result.status, result.reason, result.text) == ("aborted", "cancelled", "up")
    assert result.diagnostics.signal == signal.SIGKILL


@pytest.mark.row("DEATH-4")
async def test_a_run_after_a_crash_has_a_child_of_its_own(tmp_path: Path) -> None:
    """No state is shared: the same spec, a fresh process, nothing of the half line that the last one left."""
    steps = [
        {"facts": str(tmp_path / "pid-${prompt}")},
        {
            "when": {
                "value": "${prompt}",
                "is": "crash",
                "then": [{"raw": '{"jsonrpc":"2.0","method":"sess'}, {"signal": "SIGKILL"}],
            }
        },
        {"chunk": "fine"},
    ]
    child = Scripted(tmp_path, {"prompt": steps}, limits=PATIENT)
    with nothing_left(), anyio.fail_after(15):
        async with Runner(max_concurrency=1) as runner:
            results = [await (await runner.start(child.spec, word)).result() for word in ("crash", "a", "crash", "b")]
    assert [result.reason for result in results] == ["agent_exited", "end_turn", "agent_exited", "end_turn"]
    assert [result.text for result in results] == ["", "fine", "", "fine"]
    assert len({result.run_id for result in results}) == 4
    pids = [(tmp_path / f"pid-{word}").read_text() for word in ("crash", "a", "b")]
    assert len(set(pids)) == 3
