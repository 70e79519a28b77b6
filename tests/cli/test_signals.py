"""Ctrl-C and SIGTERM: what was there is shown, nothing is left running, the exit code tells the shell."""

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_client.spec import Limits
from tests.cli.command import REPO, Subagent, playing, playing_file
from tests.support.kernel import is_alive

SCENARIOS = REPO / "fixtures" / "scenarios"
DEAF = {"ignore": ["eof", "SIGTERM"], "on_cancel": "ignore"}
FOREVER = {"repeat": {"forever": True, "steps": [{"chunk": "on and on "}, {"delay": 0.02}]}}

Start = Callable[..., Subagent]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_cancels_the_run_politely(number: signal.Signals, code: int, start: Start) -> None:
    """The agent hears of it, what it had said is shown, and how it ended."""
    run = start("run", "--agent", playing_file(SCENARIOS / "cancel_end_turn.yaml"), "go")
    run.read_until(b"before ")
    run.send(number)
    assert run.end() == code
    assert run.stdout == b"before after\n"
    assert f"stop     {number.name}: cancelling the run; once more kills it\n" in run.stderr.decode()
    assert b"aborted  cancelled after " in run.stderr


def test_a_cancelled_run_is_a_whole_result_in_json(start: Start) -> None:
    """Its last line is there too."""
    run = start("run", "--agent", playing_file(SCENARIOS / "slow.yaml"), "--format", "jsonl", "go")
    run.read_until(b'"text"')
    run.send(signal.SIGINT)
    assert run.end() == 130
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert (lines[-1]["event"], lines[-1]["reason"]) == ("result", "cancelled")
    assert not is_alive(lines[0]["pid"])


def test_a_second_signal_kills_without_waiting_for_the_graces(start: Start, tmp_path: Path) -> None:
    """An agent that is deaf to everything would take all of the ladder."""
    run = start("run", "--agent", playing(tmp_path, prompt=[FOREVER], **DEAF), "--format", "jsonl", "go")
    run.read_until(b"on and on")
    run.send(signal.SIGINT)
    run.read_until(b"SIGINT: cancelling", on="stderr")
    began = time.monotonic()
    run.send(signal.SIGINT)
    assert run.end() == 130
    took, limits = time.monotonic() - began, Limits()
    last = json.loads(run.stdout.splitlines()[-1])
    assert (last["reason"], last["flags"]["killed"], last["diagnostics"]["signal"]) == ("cancelled", "kill", 9)
    assert took < limits.cancel_grace_seconds + limits.eof_grace_seconds + limits.term_grace_seconds
    assert b"SIGINT again: killing" in run.stderr


def test_the_first_signal_decides_the_exit_code(start: Start, tmp_path: Path) -> None:
    """SIGTERM, then an impatient Ctrl-C."""
    run = start("run", "--agent", playing(tmp_path, prompt=[FOREVER], **DEAF), "go")
    run.read_until(b"on and on")
    run.send(signal.SIGTERM)
    run.read_until(b"SIGTERM: cancelling", on="stderr")
    run.send(signal.SIGINT)
    assert run.end() == 143


def test_a_signal_before_the_session_exists_ends_the_run(start: Start, tmp_path: Path) -> None:
    """There is nobody to be polite to yet."""
    run = start("run", "--agent", playing(tmp_path, initialize=[{"stderr": "thinking"}, {"hang": True}]), "go")
    run.read_until(b"thinking", on="stderr")
    run.send(signal.SIGINT)
    assert run.end() == 130
    ours = [line for line in run.stderr.splitlines() if not line.startswith(b"stderr ")]
    assert b"Traceback" not in b"\n".join(ours)


INITIALIZED = """read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'\n"""
SESSION = """read -r _; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'\n"""
ANSWER = """read -r _; echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'\n"""
STAGES = {
    "child starting": ("", "cancelled"),
    "initialize pending": ("read -r _\n", "cancelled"),
    "session/new pending": (f"{INITIALIZED}read -r _\n", "cancelled"),
    "prompt running": (f"{INITIALIZED}{SESSION}read -r _\n", "cancelled"),
    "teardown": (f"{INITIALIZED}{SESSION}{ANSWER}read -r _\n", "end_turn"),  # it has its answer
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("stage", STAGES)
def test_a_signal_at_any_stage_ends_the_run_and_is_the_exit_code(
    stage: str, number: signal.Signals, start: Start, tmp_path: Path
) -> None:
    """The agent that does nothing any more is ended with its helper, and the result is printed whole."""
    script, reason = STAGES[stage]
    helper = tmp_path / "helper"
    (tmp_path / "agent").write_text(f"{script}sleep 600 & echo $! > {helper}\necho here >&2\nexec sleep 600\n")
    run = start("run", "--agent", f"sh {tmp_path / 'agent'}", "--format", "jsonl", "go")
    run.read_until(b"here\\n")
    run.send(number)
    assert run.end() == 128 + number
    assert f"{number.name}: cancelling the run" in run.stderr.decode()
    assert b"Traceback" not in run.stderr
    first, *_, last = (json.loads(line) for line in run.stdout.splitlines())
    assert (last["event"], last["reason"]) == ("result", reason)
    assert not is_alive(first["pid"])
    assert not is_alive(int(helper.read_text()))


def test_a_signal_while_the_task_is_read_starts_nothing(start: Start) -> None:
    """No traceback either."""
    run = start("run", "--agent", "echo", "-", stdin=subprocess.PIPE)
    assert run.process.stdin is not None
    run.process.stdin.write(b"x" * 1_000_000)  # more than a pipe holds: it reads when this has been written
    while run.process.poll() is None:  # Python may be just between looking for a signal and the next read
        run.send(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.process.wait(1)
    assert run.end() == 130
    assert (run.stdout, b"Traceback" in run.stderr) == (b"", False)


def test_a_signal_that_the_shell_has_ignored_stays_ignored(start: Start, tmp_path: Path) -> None:
    """A job in the background is not meant by Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # handed on to the command
    try:
        run = start("run", "--agent", playing(tmp_path, prompt=[{"chunk": "one "}, {"wait_cancel": True}]), "go")
    finally:
        signal.signal(signal.SIGINT, before)
    run.read_until(b"one ")
    run.send(signal.SIGINT)
    run.send(signal.SIGTERM)
    assert run.end() == 143
    assert b"SIGINT" not in run.stderr


def test_a_signal_is_heard_while_nobody_reads_the_output(start: Start, tmp_path: Path) -> None:
    """A pager that stands still must not make us deaf."""
    flood: Any = {"repeat": {"forever": True, "steps": [{"chunk": {"text": "flood ", "size": 50_000}}]}}
    run = start("run", "--agent", playing(tmp_path, prompt=[flood]), "go")
    run.read_until(b"flood")
    run.send(signal.SIGINT)
    assert run.process.wait(60) == 130
