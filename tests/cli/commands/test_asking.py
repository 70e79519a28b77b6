"""`subagent run --permission ask`: the person at the terminal is asked, and everything else steps aside."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import WAIT_SECONDS, argv, environment, playing, subagent
from tests.cli.terminal import Terminal

ASKS: dict[str, Any] = {
    "prompt": [
        {"chunk": "I will deploy.\n"},
        {"permission": {"tool_call": {"toolCallId": "c", "title": "Deploy it", "kind": "execute"}}},
        {"chunk": "went on"},
    ]
}


def press(terminal: Terminal, before: list[Any], keys: str) -> None:
    """Press a key once it is waited for: what comes before that is thrown away."""
    deadline = time.monotonic() + WAIT_SECONDS
    while terminal.modes() == before:
        assert time.monotonic() < deadline
    terminal.type(keys)


@pytest.mark.parametrize(("key", "code", "says"), [("o", 0, b"allowed by"), ("r", 5, b"denied by")])
def test_the_person_at_the_terminal_decides(key: str, code: int, says: bytes, tmp_path: Path) -> None:
    """What the agent said before is shown before; the moving line is gone meanwhile; and the exit code tells."""
    terminal = Terminal(
        "run", "--agent", playing(tmp_path, **ASKS), "--permission", "ask", "go", cwd=tmp_path, own=True
    )
    before = terminal.modes()
    terminal.read_until(b"\n? ")
    asked = terminal.screen
    assert asked.index(b"I will deploy.") < asked.index(b"APPROVAL, role standard, 24 h left")
    assert b"| Deploy it" in asked
    press(terminal, before, key)
    assert terminal.end() == code, terminal.screen
    assert b"went on" in terminal.screen
    assert says in terminal.screen


def test_an_interrupt_at_the_question_ends_the_run_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    """Ctrl-C stays what it is."""
    terminal = Terminal(
        "run", "--agent", playing(tmp_path, **ASKS), "--permission", "ask", "go", cwd=tmp_path, own=True
    )
    before = terminal.modes()
    terminal.read_until(b"\n? ")
    press(terminal, before, "\x03")
    terminal.read_until(b"taken back")
    while terminal.process.poll() is None:
        assert terminal.modes()
    assert terminal.modes() == before
    assert terminal.end() == 130


def test_nobody_at_the_terminal_ends_the_run_in_the_given_time(tmp_path: Path) -> None:
    """As a timeout, which is 3."""
    words = ("--permission", "ask", "--approval-timeout", "0.5")
    terminal = Terminal("run", "--agent", playing(tmp_path, **ASKS), *words, "go", cwd=tmp_path, own=True)
    assert terminal.end() == 3
    assert b"approval_timeout" in terminal.screen
    assert b"taken back" in terminal.screen


def alone(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run without any terminal, wherever the tests run."""
    return subprocess.run(
        argv("run", *words, "go"),
        check=False,
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=WAIT_SECONDS,
        start_new_session=True,
    )


def test_ask_without_anybody_to_ask_is_a_usage_error(tmp_path: Path) -> None:
    """Before anything is started; what would do is said."""
    done = alone("--agent", "echo", "--permission", "ask", cwd=tmp_path)
    assert done.returncode == 2
    assert b"no terminal" in done.stderr
    assert b"--approvals FILE" in done.stderr


def test_a_policy_file_decides_and_what_it_would_ask_is_refused_without_anybody(tmp_path: Path) -> None:
    """A file is meant for runs without people too."""
    policy = tmp_path / "policy.yaml"
    agent = playing(tmp_path, **ASKS)
    policy.write_text("rules: [{kind: execute, action: allow}]\ndefault: ask\n")
    assert alone("--agent", agent, "--permission", policy, cwd=tmp_path).returncode == 0
    policy.write_text("default: ask\napprovals: {default: always_ask}\n")
    done = alone("--agent", agent, "--permission", policy, cwd=tmp_path)
    assert done.returncode == 5
    assert b"denied by no approver" in done.stderr


WRONG = {
    "no preset, no file": ("maybe", "--permission: maybe: there is no such file, and no such preset: reject, allow"),
    "a wrong file": ("wrong.yaml", "wrong.yaml:1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_policy_that_cannot_be_read_is_a_usage_error(name: str, tmp_path: Path) -> None:
    """With the line of the fault."""
    given, says = WRONG[name]
    (tmp_path / "wrong.yaml").write_text("default: perhaps\n")
    done = subagent("run", "--agent", "echo", "--permission", given, "go", cwd=tmp_path)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.decode().split())


def test_a_queue_that_cannot_be_used_is_a_usage_error(tmp_path: Path) -> None:
    """Before anything is started."""
    (tmp_path / "queue").write_text("no database")
    done = subagent("run", "--agent", "echo", "--permission", "ask", "--approvals", "queue", "go", cwd=tmp_path)
    assert done.returncode == 2
    assert b"--approvals: " in done.stderr
