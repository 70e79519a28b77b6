"""Turns and handshakes that never settle: a deadline ends them, says which request hung, and leaves nothing."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner, RunResult, run_subagent
from tests.support.kernel import nothing_left
from tests.support.scenarios import QUICK, Scripted

SHORT = QUICK | {"cancel_grace_seconds": 0.2, "eof_grace_seconds": 0.2, "term_grace_seconds": 0.3}
IN_PROGRESS = {"toolCallId": "t", "title": "Build", "kind": "execute", "status": "in_progress"}


async def run(spec: AgentSpec) -> RunResult:
    """One run that leaves nothing and ends long before a person would give up."""
    with nothing_left(), anyio.fail_after(15):
        return await run_subagent(spec, "go")


STUCK: dict[str, tuple[dict[str, Any], dict[str, Any], str, str | None]] = {
    "in a tool call, silent": ({}, {"idle_timeout_seconds": 0.6}, "idle_timeout", None),
    "in a tool call, no idle limit": (
        {},
        {"run_timeout_seconds": 1.0, "idle_timeout_seconds": None},
        "run_timeout",
        None,
    ),
    "deaf to the cancel": ({"on_cancel": "ignore"}, {"idle_timeout_seconds": 0.6}, "idle_timeout", None),
    "deaf to everything": (
        {"on_cancel": "ignore", "ignore": ["eof", "SIGTERM"]},
        {"idle_timeout_seconds": 0.6},
        "idle_timeout",
        "kill",
    ),
    "answering the cancel with end_turn": (
        {"on_cancel": "end_turn"},
        {"idle_timeout_seconds": 0.6},
        "idle_timeout",
        None,
    ),
}


@pytest.mark.row("HANG-1")
@pytest.mark.parametrize("name", STUCK)
async def test_a_turn_that_never_ends_is_cancelled_at_its_deadline(name: str, tmp_path: Path) -> None:
    """The child is told, gets its grace, and is ended; what it said by then is kept."""
    scenario, limits, reason, killed = STUCK[name]
    steps = [{"chunk": "partial"}, {"tool_call": IN_PROGRESS}, {"spawn": {"leave": True}}, {"hang": True}]
    child = Scripted(tmp_path, {"prompt": steps, **scenario}, limits=Limits(**SHORT | limits))
    result = await run(child.spec)
    assert (result.status, result.reason, result.text) == ("error", reason, "partial")
    assert result.failure is not None
    assert (result.failure.stage, result.failure.request) == ("prompt", "session/prompt")
    assert f"{reason}_seconds" in result.failure.message
    assert not result.failure.retry_safe
    assert [(call.id, call.status) for call in result.tool_calls] == [("t", "in_progress")]
    assert child.methods() == ["initialize", "session/new", "session/prompt", "session/cancel"]
    assert result.flags.killed == (killed or "term")  # its helper needed that


@pytest.mark.row("HANG-1")
async def test_a_turn_that_is_busy_for_ever_meets_the_limit_of_the_run(tmp_path: Path) -> None:
    """Signs of life move the idle deadline only."""
    busy = {"repeat": {"forever": True, "steps": [{"chunk": "."}, {"delay": 0.02}]}}
    limits = Limits(**SHORT | {"run_timeout_seconds": 1.0, "idle_timeout_seconds": 0.6})
    result = await run(Scripted(tmp_path, {"prompt": [busy], "on_cancel": "ignore"}, limits=limits).spec)
    assert (result.status, result.reason) == ("error", "run_timeout")
    assert set(result.text) == {"."}


@pytest.mark.row("HANG-1", "HANG-7")
async def test_stderr_is_a_sign_of_life(tmp_path: Path) -> None:
    """A turn that only logs for twice the idle limit is not idle."""
    logs = {"repeat": {"times": 30, "steps": [{"stderr": "compiling"}, {"delay": 0.05}]}}
    limits = Limits(**SHORT | {"idle_timeout_seconds": 0.7})
    result = await run(Scripted(tmp_path, {"prompt": [logs, {"chunk": "built"}]}, limits=limits).spec)
    assert (result.reason, result.text) == ("end_turn", "built")


SILENT: dict[str, tuple[str, ...]] = {
    "a sleep": ("sleep", "600"),
    "a program that reads and never answers": ("sh", "-c", "while read line; do :; done"),
    "a shell that waits for a sleep": ("sh", "-c", "sleep 600; :"),
    "an interpreter that reads its program from stdin": (sys.executable, "-"),
    "a program that talks on stderr only": ("sh", "-c", "echo 'loading the model' >&2; exec sleep 600"),
}


@pytest.mark.row("HANG-3")
@pytest.mark.odd_frames
@pytest.mark.parametrize("name", SILENT)
async def test_an_agent_that_never_says_a_word_is_a_startup_timeout(name: str) -> None:
    """Its own deadline, not that of the prompt; the failure names the command, the request and the last of stderr."""
    limits = Limits(**SHORT | {"startup_timeout_seconds": 0.6, "run_timeout_seconds": None})
    result = await run(AgentSpec(command=SILENT[name], limits=limits))
    assert (result.status, result.reason) == ("error", "startup_timeout")
    assert result.failure is not None
    assert (result.failure.stage, result.failure.request) == ("initialize", "initialize")
    assert " ".join(SILENT[name]) in result.failure.message
    assert ("loading the model" in result.failure.message) == ("stderr" in name)
    assert result.failure.retry_safe
    assert result.session_id is None


@pytest.mark.row("HANG-3")
async def test_the_idle_limit_ends_a_silent_start_too_where_it_is_the_shorter(tmp_path: Path) -> None:
    """Whichever deadline passes first gives the reason."""
    limits = Limits(**SHORT | {"startup_timeout_seconds": 30.0, "idle_timeout_seconds": 0.5})
    result = await run(Scripted(tmp_path, {"initialize": [{"hang": True}]}, limits=limits).spec)
    assert (result.status, result.reason) == ("error", "idle_timeout")


@pytest.mark.row("HANG-4")
@pytest.mark.parametrize("end", ["\n", ""])
async def test_a_menu_instead_of_acp_is_shown_in_the_failure(end: str, tmp_path: Path) -> None:
    """The first lines of stdout, also a prompt that ends in no newline."""
    menu = f"\x1b[1mWelcome!\x1b[0m\nChoose: 1) login 2) quit\n> pick one{end}"
    limits = Limits(**SHORT | {"startup_timeout_seconds": 0.8})
    child = Scripted(tmp_path, {"start": [{"raw": menu}], "initialize": [{"hang": True}]}, limits=limits)
    result = await run(child.spec)
    assert (result.status, result.reason) == ("error", "startup_timeout")
    assert result.failure is not None
    assert "did not speak ACP" in result.failure.message
    assert "Choose: 1) login 2) quit" in result.failure.message
    assert "\x1b" not in result.failure.message
    assert result.diagnostics.stdout_noise.count == 3
    assert result.diagnostics.stdout_noise.first_lines[2] == "> pick one"


HUNG: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "initialize": ({"initialize": [{"hang": True}]}, {}, "initialize", "initialize"),
    "session/new": ({"new_session": [{"hang": True}]}, {}, "session/new", "session"),
    "authenticate": (
        {"authenticate": [{"hang": True}], "auth": {"methods": [{"id": "key", "name": "Key"}]}},
        {"auth_method": "key"},
        "authenticate",
        "authenticate",
    ),
}


@pytest.mark.row("HANG-5", "AUTH-3")
@pytest.mark.parametrize("name", HUNG)
async def test_the_failure_names_the_request_that_hung(name: str, tmp_path: Path) -> None:
    """Each request of the start has the startup deadline; the cause may stand on stderr."""
    scenario, spec, request, stage = HUNG[name]
    hook = next(key for key in ("initialize", "new_session", "authenticate") if key in scenario)
    scenario = {**scenario, hook: [{"stderr": "waiting for MCP server 'db'"}, {"hang": True}]}
    child = Scripted(tmp_path, scenario, limits=Limits(**SHORT | {"startup_timeout_seconds": 0.7}), **spec)
    result = await run(child.spec)
    assert (result.status, result.reason) == ("error", "startup_timeout")
    assert result.failure is not None
    assert (result.failure.request, result.failure.stage) == (request, stage)
    assert request in result.failure.message
    assert "waiting for MCP server 'db'" in result.failure.message
    assert result.failure.retry_safe
    assert "session/cancel" not in child.methods()


@pytest.mark.row("HANG-5")
async def test_a_setting_that_hangs_before_the_prompt_ends_with_the_run_at_the_latest(tmp_path: Path) -> None:
    """The session exists by then, so no startup deadline is left; the idle one and the run's still hold."""
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
    limits = Limits(**SHORT | {"idle_timeout_seconds": 0.6})
    child = Scripted(tmp_path, {"modes": modes, "set_mode": [{"hang": True}]}, mode="code", limits=limits)
    result = await run(child.spec)
    assert (result.status, result.reason) == ("error", "idle_timeout")
    assert result.failure is not None
    assert (result.failure.request, result.failure.retry_safe) == ("session/set_mode", True)
    assert child.methods() == ["initialize", "session/new", "session/set_mode"]


@pytest.mark.row("HANG-7")
@pytest.mark.parametrize(("startup", "reason"), [(0.3, "startup_timeout"), (15.0, "end_turn"), (None, "end_turn")])
async def test_a_slow_start_is_a_matter_of_the_agents_own_limit(
    startup: float | None, reason: str, tmp_path: Path
) -> None:
    """The same child under a limit that is too short, long enough, or off."""
    scenario = {"initialize": [{"delay": 0.6}], "prompt": [{"chunk": "hi"}]}
    child = Scripted(tmp_path, scenario, limits=Limits(**SHORT | {"startup_timeout_seconds": startup}))
    assert (await run(child.spec)).reason == reason


@pytest.mark.row("HANG-7")
async def test_what_a_slow_start_says_on_stderr_is_reported_while_it_lasts(tmp_path: Path) -> None:
    """A download's progress is an event before the session is one."""
    scenario = {"start": [{"stderr": "downloading 1 of 2"}, {"wait_for": str(tmp_path / "seen")}]}
    child = Scripted(tmp_path, scenario, limits=Limits(**SHORT))
    kinds = []
    with nothing_left(), anyio.fail_after(15):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            async for event in run.events():
                kinds.append(event.type)
                if event.type == "stderr":
                    (tmp_path / "seen").touch()
    assert kinds[:3] == ["run_started", "stderr", "session_started"]


def test_the_default_limit_for_a_start_is_generous() -> None:
    """A first download takes most of a minute."""
    assert Limits().startup_timeout_seconds == 60
