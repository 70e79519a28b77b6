"""fast-agent, which others wrote: plain text, a tool that it does not ask for, a cancel in mid-turn."""

from pathlib import Path

import anyio
import pytest

from acp_client import run_subagent
from tests.support.agents import TURN_SECONDS, cancelled_in_its_shell, fast_agent, fast_agent_passthrough
from tests.support.fake_model import Call, fake_model

pytestmark = [pytest.mark.agents, pytest.mark.slow]


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """One loop, since a start takes five seconds of CPU; opencode has the other."""
    backend: str = request.param
    return backend


async def test_a_plain_turn_completes_with_its_text(tmp_path: Path) -> None:
    """Its model `passthrough` says the prompt back; it exits by itself."""
    with anyio.fail_after(TURN_SECONDS):
        result = await run_subagent(fast_agent_passthrough(tmp_path), "Say PONG")
    assert (result.status, result.reason, result.text) == ("completed", "end_turn", "Say PONG")
    assert (result.diagnostics.exit_code, result.flags.killed) == (0, None)
    assert not result.diagnostics.stdout_noise.count


async def test_what_it_writes_by_itself_it_writes_unasked_and_that_is_said(tmp_path: Path) -> None:
    """A client without files of its own is not asked about the agent's: no policy can hold it, but the result tells."""
    written = tmp_path / "written"
    write = Call("write_text_file", {"path": str(written), "content": "by itself"})
    with anyio.fail_after(TURN_SECONDS), fake_model([write, "DONE"]) as model:
        result = await run_subagent(fast_agent(tmp_path, model, permission="reject"), "Write")
    assert (result.text, written.read_text(), result.permissions) == ("DONE", "by itself", ())
    assert result.flags.completed_without_asking == tuple(call.id for call in result.tool_calls)
    assert len(result.tool_calls) == 1


async def test_a_cancel_in_mid_turn_leaves_no_process_behind(tmp_path: Path) -> None:
    """Neither the agent nor the command that it was running."""
    result = await cancelled_in_its_shell(fast_agent, tmp_path)
    assert (result.status, result.reason) == ("aborted", "cancelled")
