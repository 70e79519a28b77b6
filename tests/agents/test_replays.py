"""A run of each real agent is recorded and served again without the agent: the parent's result is the same."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Runner, RunResult
from acp_client.record.format.difference import difference
from tests.agent.replay.test_runs import told
from tests.support.agents import ASKING, TURN_SECONDS, fast_agent_passthrough, real_agent, typescript_example
from tests.support.fake_model import Call, fake_model

pytestmark = pytest.mark.agents


async def _run(spec: AgentSpec, prompt: str, transcripts: Path | None = None) -> RunResult:
    with anyio.fail_after(TURN_SECONDS):
        async with Runner(transcripts=transcripts) as runner:
            return await (await runner.start(spec, prompt)).result()


async def _recorded(spec: AgentSpec, prompt: str, folder: Path) -> RunResult:
    result = await _run(spec, prompt, folder / "records")
    assert result.transcript is not None
    return result


async def _replays(before: RunResult, spec: AgentSpec, prompt: str, folder: Path) -> None:
    """Replay in another folder, with nothing of the agent's environment, and compare."""
    other = folder / "elsewhere"
    other.mkdir()
    cwd = Path("/") if spec.cwd == "/" else other
    parent: dict[str, Any] = {"permission": spec.permission, "mcp_servers": spec.mcp_servers, "limits": spec.limits}
    after = await _run(AgentSpec.replay(str(before.transcript), cwd=cwd, **parent), prompt)
    assert difference(told(before, Path(spec.cwd or "/")), told(after, cwd)) == ""


async def test_the_official_echo_agent_is_replayed(tmp_path: Path) -> None:
    """Text in, text out."""
    entry = real_agent("python-sdk-echo")
    spec = AgentSpec(command=entry["argv"], env=entry["env"], cwd=tmp_path)
    before = await _recorded(spec, "Say PONG", tmp_path)
    assert before.text == "Say PONG"
    await _replays(before, spec, "Say PONG", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("permission", ["allow", "reject"])
async def test_the_typescript_example_is_replayed(permission: str, tmp_path: Path) -> None:
    """Its permission is asked again, and its five seconds are not waited for."""
    spec = typescript_example(permission=permission)
    before = await _recorded(spec, "Do what you do", tmp_path)
    assert len(before.permissions) == 1
    await _replays(before, spec, "Do what you do", tmp_path)


@pytest.mark.slow
async def test_fast_agent_is_replayed(tmp_path: Path) -> None:
    """It says back what it is told."""
    spec = fast_agent_passthrough(tmp_path)
    before = await _recorded(spec, "PONG", tmp_path)
    assert "PONG" in before.text
    await _replays(before, spec, "PONG", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("agent", list(ASKING))
async def test_agents_that_ask_are_replayed(agent: str, tmp_path: Path) -> None:
    """A model, a command, a permission; at the replay there is no model, and no command is run."""
    build, tool = ASKING[agent]
    ran = tmp_path / "project" / "ran"
    call = Call(tool, {"command": f"touch {ran}", "description": "Leave a trace"})
    with fake_model([call, "DONE"]) as model:
        spec = build(tmp_path, model, permission="allow")
        before = await _recorded(spec, "Leave a trace", tmp_path)
    assert before.text.endswith("DONE"), before.failure
    assert before.permissions
    ran.unlink()
    await _replays(before, spec, "Leave a trace", tmp_path)
    assert not ran.exists()
