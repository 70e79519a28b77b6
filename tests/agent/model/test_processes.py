"""Trees of real processes, each with its own script: a boss, three workers at once, two helpers for each of them.

`MODEL_REPLAYS=200` makes it two hundred replays; ten processes are started for each.
"""

import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from acp_agent.model.golden import TreeDiffers, check, harvest
from acp_client import AgentSpec, Runner, RunResult
from tests.agent.model.model_agent import REPO

REPLAYS: Final = int(os.environ.get("MODEL_REPLAYS", "1"))
WAIT_SECONDS: Final = 110.0
LEVELS: Final = 3
PATHS: Final = [
    "primary",
    *(
        f"primary/{one}{below}"
        for one in ("clerk.1-2", "worker.1-1", "worker.1-3")
        for below in ("", "/helper.1-1", "/helper.1-2")
    ),
]


def boss(mode: str, logs: Path, golden: Path, jitter: float) -> AgentSpec:
    """The tree's root as a process; the variables reach all below it."""
    env = {
        "PYTHONPATH": str(REPO),
        "ACP_MODEL_SCRIPTS": str(golden),
        "ACP_MODEL_LOGS": str(logs),
        "ACP_MODEL_MODE": mode,
        "MODEL_AGENT_JITTER": str(jitter),
    }
    program = str(REPO / "tests" / "agent" / "model" / "model_agent.py")
    return AgentSpec(command=(sys.executable, "-P", program, "boss"), env=env)


async def run(mode: str, logs: Path, golden: Path, task: str, jitter: float) -> RunResult:
    """A whole tree."""
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner() as runner:
            run = await runner.start(boss(mode, logs, golden, jitter), task, max_depth=LEVELS)
            return await run.result()


def replay(logs: Path, golden: Path, task: str = "plan", jitter: float = 0.1) -> RunResult:
    """A whole tree, without models; on one loop, since the loops of the children are their own."""
    return anyio.run(run, "replay", logs, golden, task, jitter)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    """A golden folder, and what the run said that was recorded."""
    folder = tmp_path_factory.mktemp("tree")
    golden, logs = folder / "golden", folder / "logs"
    result = anyio.run(run, "record", logs, golden, "plan", 0)
    assert result.status == "completed", result.failure
    assert len(harvest(logs, golden)) == len(PATHS)
    return golden, result


def tree(result: RunResult) -> Sequence[Any]:
    """What a parent sees of a run, but for ids and times."""
    calls = sorted((call.title, call.name, call.status) for call in result.tool_calls)
    return [result.status, result.reason, result.text, calls]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(REPLAYS))
def test_concurrent_children_of_children_each_play_their_own_script(
    seed: int, recorded: tuple[Path, RunResult], tmp_path: Path
) -> None:
    """All are asked the same, so that nothing but the call path tells them apart; every log is the script again."""
    golden, before = recorded
    jitter = random.Random(seed).choice([0, 0.02, 0.1, 0.4])  # noqa: S311  # no secret
    result = replay(tmp_path / "logs", golden, jitter=jitter)
    assert tree(result) == tree(before)
    check(tmp_path / "logs", golden)
    logged = {file.name: file.read_bytes() for file in (tmp_path / "logs").iterdir()}
    assert logged == {file.name: file.read_bytes() for file in golden.iterdir()}


@pytest.mark.slow
def test_two_swapped_scripts_are_told_with_the_call_path_of_each(
    recorded: tuple[Path, RunResult], tmp_path: Path
) -> None:
    """The run fails, and says which script it was, two processes further down."""
    golden = tmp_path / "golden"
    golden.mkdir()
    for file in recorded[0].iterdir():
        (golden / file.name).write_bytes(file.read_bytes())
    one, other = golden / "primary~~worker.1-1~~helper.1-1.jsonl", golden / "primary~~clerk.1-2~~helper.1-2.jsonl"
    swapped = one.read_bytes(), other.read_bytes()
    one.write_bytes(swapped[1])
    other.write_bytes(swapped[0])
    result = replay(tmp_path / "logs", golden)
    assert (result.status, result.reason) == ("error", "agent_error")
    assert result.failure is not None
    assert "because: model script of primary/worker.1-1/helper.1-1: " in result.failure.message
    with pytest.raises(TreeDiffers) as caught:
        check(tmp_path / "logs", golden)
    first = [(one.call_path, one.message.partition(" holds the script of ")[2]) for one in caught.value.mismatches[:2]]
    assert sorted(first) == [
        ("primary/clerk.1-2/helper.1-2", "primary/worker.1-1/helper.1-1; put it back"),
        ("primary/worker.1-1/helper.1-1", "primary/clerk.1-2/helper.1-2; put it back"),
    ]


@pytest.mark.slow
def test_a_child_in_the_background_plays_its_own_script_in_its_own_process(tmp_path: Path) -> None:
    """It goes on while its parent asks another, three levels deep; it is waited for by a later call."""
    golden = tmp_path / "golden"
    before = anyio.run(run, "record", tmp_path / "recorded", golden, "background", 0)
    assert len(harvest(tmp_path / "recorded", golden)) == 7
    result = replay(tmp_path / "logs", golden, "background", 0.4)
    assert tree(result) == tree(before)
    check(tmp_path / "logs", golden)
