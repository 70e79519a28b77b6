"""A signal to the child at every stage of a run: the result says what happened and where, and nothing is left."""

import os
import signal
from dataclasses import dataclass

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner, RunResult, RunStarted
from tests.support.kernel import nothing_left
from tests.support.tiny import SHORT

HERE = "echo here >&2; exec sleep 600"
INITIALIZED = """read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'; """
SESSION = """read -r _; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'; """
END = """read -r _; echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'; """


@dataclass(frozen=True)
class Stage:
    """What the agent does before it says that it is there, and what a failure calls it."""

    script: str
    name: str | None
    silence: str
    request: str | None


STAGES = {
    "starting": Stage("", "initialize", "startup_timeout", "initialize"),
    "initialize pending": Stage("read -r _; ", "initialize", "startup_timeout", "initialize"),
    "session/new pending": Stage(f"{INITIALIZED} read -r _; ", "session", "startup_timeout", "session/new"),
    "prompt running": Stage(f"{INITIALIZED} {SESSION} read -r _; ", "prompt", "idle_timeout", "session/prompt"),
    "teardown": Stage(f"{INITIALIZED} {SESSION} {END} read -r _; ", None, "end_turn", None),
}


async def signalled(stage: Stage, number: signal.Signals) -> RunResult:
    """The result of a run whose child is signalled when it has come that far."""
    limits = SHORT.model_dump() | {
        "startup_timeout_seconds": 2.0 if number == signal.SIGSTOP else 30.0,
        "idle_timeout_seconds": 1.0 if stage.silence == "idle_timeout" else 30.0,
        "eof_grace_seconds": 1.0,
    }
    spec = AgentSpec(command=("sh", "-c", stage.script + HERE), limits=Limits(**limits))
    pid = 0
    with nothing_left(), anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(spec, "go")
            async for event in run.events():
                if isinstance(event, RunStarted):
                    pid = event.pid
                if event.type == "stderr":
                    os.kill(pid, number)
            return await run.result()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("name", STAGES)
async def test_a_child_ended_by_a_signal_is_told_with_its_number_and_stage(name: str, number: signal.Signals) -> None:
    """After the turn it is the answer that counts; the number is in the diagnostics all the same."""
    stage = STAGES[name]
    result = await signalled(stage, number)
    assert (result.reason, result.diagnostics.signal, result.flags.killed) == (
        "agent_exited" if stage.name else "end_turn",
        number,
        None,
    )
    if stage.name is not None:
        assert result.failure is not None
        assert (result.failure.stage, result.failure.request) == (stage.name, stage.request)
        assert f"killed by signal {number.value}" in result.failure.message
        assert result.failure.retry_safe == (stage.name != "prompt")


@pytest.mark.parametrize("name", STAGES)
async def test_a_stopped_child_is_silent_and_is_killed(name: str) -> None:
    """It hears neither EOF nor SIGTERM; the deadline of its stage finds it, and the last rung ends it."""
    stage = STAGES[name]
    result = await signalled(stage, signal.SIGSTOP)
    assert (result.reason, result.flags.killed, result.diagnostics.signal) == (stage.silence, "kill", signal.SIGKILL)
    if stage.name is not None:
        assert result.failure is not None
        assert (result.failure.stage, result.failure.request) == (stage.name, stage.request)
