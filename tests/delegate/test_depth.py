"""How deep runs may be nested: carried from process to process, enforced there, and lowered by nothing in our API."""

import json
import sys
from pathlib import Path

import anyio
import pytest

from acp_client import AgentSpec, Runner, SubAgent, SubAgents
from acp_client.run.child.depth import DEEPEST, Depth, read_depth, without_depth
from tests.support.scenarios import Scripted

MIDDLE = Path(__file__).with_name("middle.py")
DEPTH, MAX = "ACP_SUBAGENTS_DEPTH", "ACP_SUBAGENTS_MAX_DEPTH"


def test_a_process_without_the_variables_is_at_the_surface() -> None:
    """And without a limit, but for its own."""
    assert read_depth({}) == Depth(0, None)
    assert read_depth({}).refusal() is None
    assert read_depth({}).variables() == {DEPTH: "1"}
    assert read_depth({}).limited(2).variables() == {DEPTH: "1", MAX: "2"}
    assert read_depth({}).limited(0).refusal() is not None


def test_the_stricter_limit_counts_however_it_is_given() -> None:
    """A wider one of our own widens nothing."""
    inside = read_depth({DEPTH: "2", MAX: "3"})
    assert inside.refusal() is None
    for levels in (None, 1, 99):
        assert inside.limited(levels).variables() == {DEPTH: "3", MAX: "3"}
    assert inside.limited(0).deepest == 2
    assert inside.limited(0).limited(99).refusal() is not None
    assert read_depth({DEPTH: "3", MAX: "3"}).limited(99).refusal() is not None
    assert inside.meta() == {"depth": 3, "max_depth": 3}


@pytest.mark.parametrize("text", ["", " ", "-1", "+1", "1.0", "x", "٣", "1" * 5000, "0x1", "1\n", "None"])
@pytest.mark.parametrize("name", [DEPTH, MAX])
def test_what_cannot_be_read_is_taken_for_the_deepest(name: str, text: str) -> None:
    """Never for 0; the refusal names the variable."""
    depth = read_depth({name: text})
    assert (depth.here, depth.limited(99).deepest) == (DEEPEST, DEEPEST)
    assert f"{name} in its environment is no number" in str(depth.limited(99).refusal())


def test_a_spec_cannot_say_what_only_the_launch_may_say() -> None:
    """Whatever comes from elsewhere is left out."""
    assert without_depth({DEPTH: "0", MAX: "9", "A": "b"}) == {"A": "b"}


@pytest.mark.parametrize("levels", [-1, True, 1.0, "1"])
async def test_a_wrong_max_depth_names_the_rule(levels: int) -> None:
    """Where it is given, to a runner or to one run."""
    with pytest.raises(ValueError, match=r"max_depth is .*an integer of at least 0"):
        Runner(max_depth=levels)
    async with Runner() as runner:
        with pytest.raises(ValueError, match="max_depth is"):
            await runner.start(AgentSpec(command=("x",)), "x", max_depth=levels)


async def test_a_run_too_deep_ends_before_anything_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As any failure does, and it may be tried again elsewhere; the next one of the runner is as good as ever."""
    child = Scripted(tmp_path, {"prompt": [{"chunk": "hi"}]})
    async with Runner(max_concurrency=1) as runner:
        for name, value in ((DEPTH, "deep"), (MAX, "0")):
            with monkeypatch.context() as patch, anyio.fail_after(20):
                patch.setenv(name, value)
                result = await (await runner.start(child.spec, "go")).result()
            assert (result.status, result.reason) == ("error", "depth_exceeded")
            assert result.failure is not None
            assert (result.failure.stage, result.failure.retry_safe) == ("spawn", True)
            assert (result.timings.spawn, child.received()) == (None, [])
        with anyio.fail_after(20):
            assert (await (await runner.start(child.spec, "go")).result()).text == "hi"


@pytest.mark.parametrize("hope", [[], ["99"]], ids=["removed", "forged"])
async def test_of_a_chain_of_processes_the_fourth_is_refused_in_the_one_that_tried(hope: list[str]) -> None:
    """Three are real; no option, variable or passthrough of those in between makes it more."""
    spec = AgentSpec(command=(sys.executable, str(MIDDLE), *hope))
    async with Runner() as runner:
        chain = SubAgents([SubAgent(name="middle", description="d", agent=spec)], runner=runner, max_depth=3)
        with anyio.fail_after(60):
            said = json.loads(await chain.request("middle", task="deeper"))
    assert [(one["reason"], one["depth"], one["started"]) for one in said] == [
        ("end_turn", 1, True),
        ("end_turn", 2, True),
        ("depth_exceeded", 3, False),
    ]
    assert len({one["pid"] for one in said}) == 3
