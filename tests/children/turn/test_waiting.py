"""Waiting for a person: the agent's silence meanwhile is not the agent's, but the limit of the run still holds."""

import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Decision, Limits, PermissionRequest, RunResult, run_subagent
from tests.support.kernel import nothing_left
from tests.support.scenarios import QUICK, Scripted

IDLE_SECONDS = 0.4
ASK = {"permission": {"on": {"allowed": [{"chunk": "allowed"}], "rejected": [{"chunk": "rejected"}]}}}


def limits(**changed: Any) -> Limits:
    """A short idle limit, and whatever else."""
    return Limits(**QUICK | {"idle_timeout_seconds": IDLE_SECONDS} | changed)


def person(seconds: float) -> Callable[[PermissionRequest], Awaitable[Decision]]:
    """Somebody who thinks before saying yes."""

    async def decide(_request: PermissionRequest) -> Decision:
        await anyio.sleep(seconds)
        return Decision.allow()

    return decide


async def run(child: Scripted) -> RunResult:
    """One run that leaves nothing."""
    with nothing_left(), anyio.fail_after(15):
        return await run_subagent(child.spec, "go")


@pytest.mark.row("WAIT-1")
async def test_a_person_may_think_for_longer_than_the_idle_limit(tmp_path: Path) -> None:
    """Three times as long, and again: each wait is off the idle clock."""
    child = Scripted(tmp_path, {"prompt": [ASK] * 2}, permission=person(3 * IDLE_SECONDS), limits=limits())
    result = await run(child)
    assert (result.status, result.text) == ("completed", "allowed" * 2)
    assert all(record.seconds >= 3 * IDLE_SECONDS for record in result.permissions)


@pytest.mark.row("WAIT-1")
async def test_while_one_of_two_people_still_thinks_the_clock_stands(tmp_path: Path) -> None:
    """Requests side by side: the first answer does not start the clock for the second."""

    async def decide(request: PermissionRequest) -> Decision:
        return await person(0.1 if request.tool_call_id == "quick" else 3 * IDLE_SECONDS)(request)

    asks = [
        {"permission": {"tool_call": {"toolCallId": call}, "wait": False, "save": call}} for call in ("quick", "slow")
    ]
    steps = [*asks, {"wait_answer": "quick"}, {"wait_answer": "slow"}, {"chunk": "both"}]
    result = await run(Scripted(tmp_path, {"prompt": steps}, permission=decide, limits=limits()))
    assert (result.status, result.text) == ("completed", "both")


@pytest.mark.row("WAIT-1")
async def test_silence_after_the_answer_is_the_agents_again(tmp_path: Path) -> None:
    """The clock starts anew with the answer, and runs out."""
    steps = [{"permission": {}}, {"hang": True}]
    result = await run(Scripted(tmp_path, {"prompt": steps}, permission=person(2 * IDLE_SECONDS), limits=limits()))
    assert (result.status, result.reason) == ("error", "idle_timeout")
    assert result.permissions[0].outcome == "selected"


@pytest.mark.row("WAIT-1")
async def test_the_limit_of_the_run_holds_while_a_person_is_asked(tmp_path: Path) -> None:
    """It is absolute; the child is told that the question is off."""
    child = Scripted(tmp_path, {"prompt": [ASK]}, permission=person(math.inf), limits=limits(run_timeout_seconds=1.0))
    result = await run(child)
    assert (result.status, result.reason) == ("error", "run_timeout")
    answers = [frame["result"] for frame in child.received() if "method" not in frame]
    assert answers == [{"outcome": {"outcome": "cancelled"}}]


@pytest.mark.row("WAIT-1")
async def test_a_preset_is_no_person_and_stops_no_clock(tmp_path: Path) -> None:
    """An agent that is silent after a preset's answer is idle."""
    result = await run(Scripted(tmp_path, {"prompt": [{"permission": {}}, {"hang": True}]}, limits=limits()))
    assert (result.status, result.reason) == ("error", "idle_timeout")
