"""Our own agents as golden transcripts: the plugin that others get, used on ourselves."""

import sys
from collections.abc import Callable
from typing import Any

import anyio

from acp_client import AgentSpec, run_subagent

WAIT_SECONDS = 40.0


async def test_the_echo_agent_is_what_it_was(acp_record: Callable[..., AgentSpec]) -> None:
    """Its recording lies beside this file; `pytest --acp-record` makes it anew."""
    spec = AgentSpec(command=(sys.executable, "-P", "-m", "acp_agent", "echo"))
    with anyio.fail_after(WAIT_SECONDS):
        result = await run_subagent(acp_record(spec), "say this")
    assert (result.status, result.text, result.diagnostics.exit_code) == ("completed", "say this", 0)


async def test_a_plain_wire_is_replayed_by_its_path(
    acp_scripted: Callable[..., AgentSpec], acp_replay: Callable[..., AgentSpec]
) -> None:
    """A golden wire of the fixtures, and a scenario that says the same."""
    update: dict[str, Any] = {"chunk": "Hello"}
    with anyio.fail_after(WAIT_SECONDS):
        said = await run_subagent(acp_scripted({"prompt": [update]}), "go")
        replayed = await run_subagent(acp_replay("../../../fixtures/transcripts/simple_turn.jsonl"), "go")
    assert (said.text, replayed.status) == ("Hello", "completed")
    assert replayed.text.startswith("Hello")
