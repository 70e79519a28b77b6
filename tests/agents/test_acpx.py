"""acpx, a command-line client that others wrote, drives our agents."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import real_agent

REPO = Path(__file__).parents[2]
WAIT_SECONDS = 90.0
ODD = REPO / "tests" / "support" / "odd_agent.py"
DENIED = 5  # acpx's exit code where every permission was denied

pytestmark = [pytest.mark.agents, pytest.mark.slow]


def _exec(agent: str, text: str, *, cwd: Path, permission: str = "--approve-all") -> tuple[int, list[Any], str]:
    """One prompt; the exit code, the wire as acpx prints it, and stderr."""
    acpx = real_agent("acpx")
    command = [*acpx["argv"], "--agent", agent, "--cwd", str(cwd), permission, "--format", "json", "--json-strict"]
    done = subprocess.run(
        [*command, "exec", text],
        check=False,
        cwd=cwd,
        env={**os.environ, **acpx["env"], "HOME": str(cwd), "PYTHONPATH": str(REPO)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def _text(wire: list[Any]) -> str:
    updates = [one["params"]["update"] for one in wire if one.get("method") == "session/update"]
    return "".join(one["content"]["text"] for one in updates if one["sessionUpdate"] == "agent_message_chunk")


def test_acpx_has_our_echo_agent_answer(tmp_path: Path) -> None:
    """Exit code 0, the text, and the end of the turn."""
    code, wire, stderr = _exec(f"{sys.executable} -m acp_agent echo", "Say PONG", cwd=tmp_path)
    assert code == 0, stderr
    assert _text(wire) == "Say PONG"
    assert [one["result"]["stopReason"] for one in wire if "stopReason" in one.get("result", {})] == ["end_turn"]


@pytest.mark.parametrize(("permission", "allowed"), [("--approve-all", True), ("--deny-all", False)])
def test_acpx_answers_what_our_agent_asks(tmp_path: Path, permission: str, allowed: bool) -> None:  # noqa: FBT001  # pytest's way
    """By its own policy, and tells a refusal by its exit code."""
    code, wire, stderr = _exec(f"{sys.executable} {ODD}", "ask", cwd=tmp_path, permission=permission)
    assert code == (0 if allowed else DENIED), stderr
    assert _text(wire).startswith(f"allowed={allowed} ")
