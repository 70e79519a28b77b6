"""opencode, which others wrote: plain text, a command and a file that it asks for, a cancel in mid-turn."""

from pathlib import Path

import anyio
import pytest

from acp_client import run_subagent
from tests.support.agents import TURN_SECONDS, cancelled_in_its_shell, command_turn, opencode
from tests.support.fake_model import Call, fake_model

pytestmark = [pytest.mark.agents, pytest.mark.slow]


@pytest.fixture(params=["trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """One loop, since a start takes seven seconds of CPU; fast-agent has the other."""
    backend: str = request.param
    return backend


async def test_a_plain_turn_completes_with_its_text(tmp_path: Path) -> None:
    """And with the tokens that the model counted."""
    with anyio.fail_after(TURN_SECONDS), fake_model(["PONG"]) as model:
        result = await run_subagent(opencode(tmp_path, model), "Say PONG")
    assert (result.status, result.reason, result.text) == ("completed", "end_turn", "PONG")
    assert (result.usage.input_tokens, result.usage.output_tokens) == (11, 3)
    assert result.flags.killed is None


async def test_a_rejected_command_does_not_run_and_the_turn_ends_without_text(tmp_path: Path) -> None:
    """A rejection ends its turn: the model is not asked again."""
    result, ran = await command_turn("opencode", tmp_path, permission="reject")
    assert (result.reason, result.text, result.flags.empty, ran) == ("end_turn", "", True, False)
    (asked,) = result.permissions
    assert (asked.title, asked.kind, asked.option_kind) == (f"touch {tmp_path}/project/ran", "execute", "reject_once")
    assert [(call.id, call.status) for call in result.tool_calls] == [(asked.tool_call_id, "failed")]


async def test_an_allowed_command_runs_and_an_allowed_file_is_written(tmp_path: Path) -> None:
    """Each is asked for, and none of them is reported as unasked."""
    written = tmp_path / "project" / "written"
    write = Call("write", {"filePath": str(written), "content": "as asked"})
    result, ran = await command_turn("opencode", tmp_path, then=(write, "DONE"), permission="allow")
    assert (result.reason, result.text, ran, written.read_text()) == ("end_turn", "DONE", True, "as asked")
    assert [(one.kind, one.option_kind) for one in result.permissions] == [
        ("execute", "allow_once"),
        ("edit", "allow_once"),
    ]
    assert [call.status for call in result.tool_calls] == ["completed", "completed"]
    assert result.flags.completed_without_asking == ()


async def test_a_cancel_in_mid_turn_leaves_no_process_behind(tmp_path: Path) -> None:
    """Neither the agent nor the command that it was running."""
    result = await cancelled_in_its_shell(opencode, tmp_path)
    assert (result.status, result.reason) == ("aborted", "cancelled")
