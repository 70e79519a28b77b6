"""Pipes that fill: stderr is drained from the start, and nobody waits for a pipe that nobody reads."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner, RunResult, run_subagent
from acp_client.session.events import StderrOutput
from tests.support.scenarios import QUICK, Scripted

FLOOD = 2_000_000  # far above what a pipe and any buffer of an event loop hold together


async def play(folder: Path, scenario: dict[str, Any], prompt: Any = "go", **limits: Any) -> RunResult:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK | limits))
    with anyio.fail_after(30):
        return await run_subagent(child.spec, prompt)


PLACES: dict[str, Any] = {
    "before the handshake": lambda flood: {"start": flood},
    "before the answer": lambda flood: {"prompt": flood},
    "at the end of stdin": lambda flood: {"on_eof": flood},
}


@pytest.mark.row("STDERR-1")
@pytest.mark.parametrize("name", PLACES)
async def test_megabytes_on_stderr_hold_nothing_up(name: str, tmp_path: Path) -> None:
    """The end of it is kept, the rest counted."""
    flood = [{"flood": {"stream": "stderr", "bytes": FLOOD}}, {"stderr": "the last line"}]
    result = await play(tmp_path, PLACES[name](flood), stderr_tail_bytes=10_000, eof_grace_seconds=10.0)
    assert (result.status, result.reason) == ("completed", "end_turn")
    assert result.diagnostics.exit_code == 0
    assert result.diagnostics.stderr_tail.endswith("the last line\n")
    assert len(result.diagnostics.stderr_tail) <= 10_000
    assert result.diagnostics.stderr_dropped_bytes > FLOOD - 10_000


@pytest.mark.row("STDERR-1")
async def test_a_stderr_line_without_end_is_bounded_too(tmp_path: Path) -> None:
    """Nothing in it to cut at."""
    flood = {"flood": {"stream": "stderr", "bytes": FLOOD, "line": True}}
    result = await play(tmp_path, {"prompt": [flood, {"chunk": "a"}]}, stderr_tail_bytes=1000)
    assert (result.reason, result.text) == ("end_turn", "a")
    assert len(result.diagnostics.stderr_tail) <= 1000


@pytest.mark.row("STDERR-1", "DEATH-1")
async def test_the_last_words_before_an_exit_are_not_lost(tmp_path: Path) -> None:
    """However much came before them."""
    steps = [{"flood": {"stream": "stderr", "bytes": 300_000}}, {"stderr": "fatal: no more memory"}, {"exit": 9}]
    result = await play(tmp_path, {"prompt": [{"chunk": "a"}, *steps]})
    assert (result.reason, result.text, result.diagnostics.exit_code) == ("agent_exited", "a", 9)
    assert result.failure is not None
    assert "fatal: no more memory" in result.failure.message


@pytest.mark.row("STDERR-1")
async def test_a_closed_stderr_is_no_end(tmp_path: Path) -> None:
    """Some agents close it when they go into the background."""
    scenario = {"start": [{"stderr": "bye"}, {"close": "stderr"}], "prompt": [{"chunk": "a"}]}
    result = await play(tmp_path, scenario)
    assert (result.reason, result.text, result.diagnostics.stderr_tail) == ("end_turn", "a", "bye\n")


@pytest.mark.row("STDERR-1", "HANG-7")
async def test_stderr_is_told_live_and_counts_as_a_sign_of_life(tmp_path: Path) -> None:
    """An agent that downloads for longer than the idle limit."""
    chatter = {"repeat": {"times": 8, "steps": [{"stderr": "downloading ${n}"}, {"delay": 0.15}]}}
    child = Scripted(tmp_path, {"start": [chatter]}, limits=Limits(**QUICK | {"idle_timeout_seconds": 0.8}))
    with anyio.fail_after(30):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            told = "".join([event.text async for event in run.events() if isinstance(event, StderrOutput)])
            result = await run.result()
    assert result.reason == "end_turn"
    assert told == "".join(f"downloading {number}\n" for number in range(8))


BLOCKING_CHILD = """
import json, os, sys

def put(fd, data):
    while data:
        data = data[os.write(fd, data):]

def answer(result):
    frame = json.loads(sys.stdin.buffer.readline())
    put(1, json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": result}).encode() + b"\\n")
    return frame

where, size = sys.argv[1], int(sys.argv[2])
update = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "x" * 900}}
update = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
line = json.dumps(update).encode() + b"\\n" if where == "stdout" else b"x" * 999 + b"\\n"
answer({"protocolVersion": 1})
answer({"sessionId": "s"})
put(1 if where in ("stdout", "noise") else 2, line * (size // len(line)))
frame = answer({"stopReason": "end_turn"})
put(2, b"read %d" % len(frame["params"]["prompt"][0]["text"]))
"""


@pytest.mark.row("STDERR-2")
@pytest.mark.parametrize("where", ["stdout", "noise", "stderr"])
async def test_a_large_prompt_and_a_large_output_do_not_wait_for_each_other(where: str) -> None:
    """A child that blocks on its writes before it reads."""
    command = (sys.executable, "-c", BLOCKING_CHILD, where, "2000000")
    with anyio.fail_after(30):
        result = await run_subagent(AgentSpec(command=command, limits=Limits(**QUICK)), "p" * 2_000_000)
    assert (result.status, result.reason) == ("completed", "end_turn")
    assert result.diagnostics.stderr_tail.endswith("read 2000000")


@pytest.mark.row("STDERR-2", "DEATH-3")
@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"idle_timeout_seconds": 0.7}, "idle_timeout"), ({"run_timeout_seconds": 1.2}, "run_timeout")],
)
async def test_a_child_that_never_reads_a_large_prompt_meets_a_deadline(
    limits: dict[str, float], reason: str, tmp_path: Path
) -> None:
    """The write does not hold the ending up."""
    scenario = {"new_session": {"after": [{"ignore": "stdin"}]}}
    result = await play(tmp_path, scenario, "p" * 2_000_000, **limits, cancel_grace_seconds=0.3, eof_grace_seconds=0.3)
    assert (result.status, result.reason) == ("error", reason)
    assert result.failure is not None
    assert not result.failure.retry_safe
    assert result.timings.total is not None
    assert result.timings.total < 10
