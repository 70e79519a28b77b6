"""What host tools need that is not there: the SDK, a version of it, a place for a socket."""

import json
import sys
import tempfile
from pathlib import Path

import anyio
import pytest

from tests.host_tools.test_runs import SECONDS, add, agent, run, task
from tests.support.kernel import nothing_left, run_parent

WITHOUT_SDK = """
import sys
for name in ("mcp", "mcp_types", "uvicorn"):
    sys.modules[name] = None
from acp_client import AgentSpec, run_subagent_sync
from tests.support.mcp import agent

def add(a: int, b: int) -> int: ...

command = [sys.executable, agent.__file__]
print(run_subagent_sync(AgentSpec(command=command, host_tools=[add]), "{}").model_dump_json())
print(run_subagent_sync(AgentSpec(command=command), '{"calls": []}', result_type=int, max_repairs=0).model_dump_json())
"""


async def test_without_the_sdk_nothing_is_started_and_the_extra_is_named() -> None:
    """Judged when the run starts; a child that is not there cannot fail. `complete` alone is no tool then."""
    with anyio.fail_after(SECONDS):
        offered, asked = map(json.loads, (await run_parent(WITHOUT_SDK)).splitlines())
    assert (offered["reason"], offered["timings"]["spawn"]) == ("unsupported_capability", None)
    assert "acp-subagents[tools]" in offered["failure"]["message"]
    assert (offered["failure"]["stage"], offered["failure"]["retry_safe"]) == ("spawn", True)
    assert (asked["reason"], asked["host_tools"]) == ("output_invalid", "none")


async def test_an_sdk_that_is_too_old_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found when it is loaded, while the agent starts: one before 2.3 has no such package."""
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    result = await run(agent(tools=[add]), task())
    assert result.reason == "unsupported_capability"
    assert result.failure is not None
    assert "version 2.3 or later" in result.failure.message


async def test_where_no_socket_can_be_made_the_run_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And the agent is ended in order."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with nothing_left():
        result = await run(agent(tools=[add]), task())
    assert (result.reason, result.host_tools) == ("spawn_failed", "not_listed")
    assert result.failure is not None
    assert "the host tools cannot be served" in result.failure.message


async def test_where_no_socket_can_be_made_a_value_can_still_be_said_in_the_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody asked for tools: `complete` is one way of two."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    result = await run(agent(tools=[]), task(), result_type=list[int])
    assert (result.structured, result.reason, result.host_tools) == ([], "end_turn", "none")


async def test_a_folder_that_is_too_deep_for_a_socket_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The kernel takes about a hundred bytes."""
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    result = await run(agent(tools=[add]), task(("add", {"a": 1, "b": 1})))
    assert result.host_tool_calls[0].status == "completed"
