"""The exit code says how a run ended."""

import errno
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_client.cli.exit_codes import exit_code
from acp_client.outcome.reasons import REASONS, Reason
from acp_client.outcome.result import PermissionRecord, RunResult
from tests.cli.command import playing, subagent

ASK: dict[str, Any] = {"permission": {}}
ASK_IN_VAIN = {"permission": {"options": [{"optionId": "no", "name": "No", "kind": "reject_once"}]}}


def result(reason: Reason, *answers: str | None) -> RunResult:
    """A result; each answer is the kind of the option that was sent, None for none."""
    permissions = [
        PermissionRecord(
            tool_call_id="c",
            action="reject",
            outcome="selected" if kind else "cancelled",
            option_kind=kind,
            decided_by="a test",
            seconds=0,
        )
        for kind in answers
    ]
    return RunResult(status=REASONS[reason].status, reason=reason, run_id="r", permissions=tuple(permissions))


@pytest.mark.parametrize("reason", list(REASONS))
def test_every_reason_has_the_code_of_the_table(reason: Reason) -> None:
    """None has one of its own beside it."""
    assert exit_code(result(reason)) == REASONS[reason].exit_code


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ((), 0),
        (("reject_once",), 5),
        (("reject_once", None), 5),
        (("reject_once", "allow_once"), 0),
        (("allow_always",), 0),
    ],
)
def test_completed_with_everything_denied_is_5(answers: tuple[str | None, ...], code: int) -> None:
    """One that was given makes it a success."""
    assert exit_code(result("end_turn", *answers)) == code


def test_a_denial_does_not_hide_a_failure() -> None:
    """5 stands in for 0 only."""
    assert exit_code(result("refusal", "reject_once")) == 8


def test_a_signal_counts_before_anything_else() -> None:
    """Also if the run was completed just before."""
    broken = OSError(errno.EPIPE, "gone")
    assert exit_code(result("end_turn"), signal.SIGINT, broken) == 130
    assert exit_code(result("cancelled"), signal.SIGTERM) == 143
    assert exit_code(result("end_turn"), None, broken) == 141
    assert exit_code(result("end_turn"), None, OSError(errno.ENOSPC, "full")) == 1


@pytest.mark.parametrize(
    ("scenario", "options", "code", "said"),
    [
        ({"prompt": [{"chunk": "ok"}]}, [], 0, "end_turn"),
        ({"prompt": [{"exit": 3}]}, [], 1, "exit code 3"),
        ({"prompt": [{"error": {"message": "no credit"}}]}, [], 1, "no credit"),
        ({"auth": {"required": True}}, [], 1, "auth_required"),
        ({"prompt": [{"hang": True}]}, ["--timeout", "1.5"], 3, "run_timeout"),
        ({"prompt": [ASK]}, [], 5, "denied"),
        ({"prompt": [ASK]}, ["--permission", "allow"], 0, "allowed"),
        ({"prompt": [ASK_IN_VAIN]}, ["--permission", "allow"], 5, "denied"),
        ({"prompt": [{"stop": "cancelled"}]}, [], 7, "cancelled_by_agent"),
        ({"prompt": [{"stop": "refusal"}]}, [], 8, "refusal"),
        ({"prompt": [{"stop": "max_tokens"}]}, [], 9, "max_tokens"),
        ({"prompt": [{"stop": "max_turn_requests"}]}, [], 9, "max_turn_requests"),
        ({"prompt": [{"stop": "tired"}]}, [], 1, "unknown_stop_reason"),
        ({"prompt": []}, ["--mode", "plan"], 1, "unsupported_capability"),
    ],
)
def test_a_run_ends_with_the_code_of_its_reason(
    scenario: dict[str, Any], options: list[str], code: int, said: str, tmp_path: Path
) -> None:
    """And stderr says which it was."""
    done = subagent("run", "--agent", playing(tmp_path, **scenario), *options, "go", cwd=tmp_path)
    assert (done.returncode, said in done.stderr.decode()) == (code, True), done.stderr


def test_a_command_that_cannot_be_started_is_a_failed_run(tmp_path: Path) -> None:
    """Several words are taken for a command, whatever the first is."""
    done = subagent("run", "--agent", "no-such-program --acp", "go", cwd=tmp_path)
    assert done.returncode == 1
    assert b"spawn_failed" in done.stderr


def test_a_child_sees_what_the_options_set(tmp_path: Path) -> None:
    """The folder, the environment."""
    (tmp_path / "work").mkdir()
    code = "import os; print(os.getcwd(), os.environ['COLOUR'], flush=True)"
    program = shlex.join([sys.executable, "-c", code])
    done = subagent("run", "--agent", program, "--cwd", "work", "--env", "COLOUR=blue", "go", cwd=tmp_path)
    assert f"{tmp_path / 'work'} blue" in done.stderr.decode()  # told as noise: it speaks no ACP
