"""stdout is a pipe more often than not: its reader may go, stall, or never have been there."""

import os
import select
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import REPO, WAIT_SECONDS, Subagent, argv, environment, playing, playing_file

SCENARIOS = REPO / "fixtures" / "scenarios"
CHUNKS = 13_000  # of 1,000 characters: more than the pipe, what we keep and the event buffer together

Start = Callable[..., Subagent]


def test_a_reader_that_goes_ends_the_run_quietly(start: Start) -> None:
    """`| head`: nobody is there to answer, and there is nothing to complain about."""
    run = start("run", "--agent", playing_file(SCENARIOS / "slow.yaml"), "go")
    run.read_until(b"0 ")
    assert run.process.stdout is not None
    run.process.stdout.close()
    assert run.end() == 141
    assert [line.split()[0] for line in run.stderr.decode().splitlines()] == ["start", "session"]


def test_the_reader_of_stderr_may_go(start: Start, tmp_path: Path) -> None:
    """The answer is what counts."""
    steps = [{"wait_for": str(tmp_path / "gone")}, {"tool_call": {"toolCallId": "c", "title": "Look"}}, {"chunk": "ok"}]
    run = start("run", "--agent", playing(tmp_path, prompt=steps), "go")
    run.read_until(b"session", on="stderr")
    assert run.process.stderr is not None
    run.process.stderr.close()
    (tmp_path / "gone").touch()
    assert (run.end(), run.stdout) == (0, b"ok\n")


def test_a_slow_reader_gets_the_whole_text(start: Start, tmp_path: Path) -> None:
    """Events that it was too slow for are made up from the result."""
    told = tmp_path / "told"
    os.mkfifo(told)
    chunk = {"chunk": {"text": "${n} ", "size": 1000}}
    steps = [{"repeat": {"times": CHUNKS, "steps": [chunk]}}, {"touch": str(told)}]
    run = start("run", "--agent", playing(tmp_path, prompt=steps), "go")
    waiting = os.open(told, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert select.select([waiting], [], [], WAIT_SECONDS)[0]  # the agent has said it all; nothing was read yet
    finally:
        os.close(waiting)
    assert run.end() == 0
    assert run.stdout.decode() == "".join((f"{n} " * 500)[:1000] for n in range(CHUNKS)) + "\n"
    assert b"events are not shown" in run.stderr


def test_a_full_disk_is_a_failure_that_is_told(tmp_path: Path) -> None:
    """An answer that is lost is no success."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            argv("run", "--agent", "echo", "hi"),
            check=False,
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=WAIT_SECONDS,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == b"failed   stdout cannot be written to: No space left on device"


def test_a_closed_stdout_does_not_become_a_pipe_of_the_child(tmp_path: Path) -> None:
    """Its number would be given to the next descriptor that is opened."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&-', "sh", *argv("run", "--agent", "echo", "hi")],
        check=False,
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        timeout=WAIT_SECONDS,
    )
    assert (done.returncode, done.stderr.splitlines()[-1].split()[:2]) == (0, [b"done", b"end_turn"])


def test_one_place_for_both_has_one_order(tmp_path: Path) -> None:
    """`2>&1`: lines stand between the text where they happened, and not in the middle of a line."""
    steps = [
        {"chunk": "one"},
        {"tool_call": {"toolCallId": "c", "title": "Look", "status": "completed"}},
        {"chunk": "two"},
    ]
    done = subprocess.run(
        argv("run", "--agent", playing(tmp_path, prompt=steps), "go"),
        check=False,
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=WAIT_SECONDS,
    )
    lines = done.stdout.decode().splitlines()
    assert lines[2:5] == ["one", "tool     Look: completed", "two"]


@pytest.mark.parametrize("words", [["agents"], ["run", "--help"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_early_ends_a_listing_quietly(words: list[str], unbuffered: str, tmp_path: Path) -> None:
    """Python would complain about it at exit."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        argv(*words),
        check=False,
        cwd=tmp_path,
        env=environment(PYTHONUNBUFFERED=unbuffered),
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=WAIT_SECONDS,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
