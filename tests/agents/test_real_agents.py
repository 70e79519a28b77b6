"""Our runner drives agents that others wrote: live events, permissions both ways, a cancel in mid-turn."""

import anyio
import pytest

from acp_client import AgentSpec, Runner, RunResult, run_subagent
from acp_client.session.events import Event, PermissionAnswered, TextChunk, ToolCallUpdated
from tests.support.agents import real_agent

WAIT_SECONDS = 60.0
ALLOWED = "Perfect! I've successfully updated the configuration."
REJECTED = "I'll skip the configuration update."

pytestmark = pytest.mark.agents


def _spec(name: str, **fields: object) -> AgentSpec:
    entry = real_agent(name)
    return AgentSpec.model_validate({"command": entry["argv"], "env": entry["env"], "cwd": "/", **fields})


async def _watched(spec: AgentSpec) -> tuple[RunResult, list[Event]]:
    """A run to its end, and what was seen of it while it went."""
    events = []
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner() as runner:
            run = await runner.start(spec, "Do what you do")
            async for event in run.events():
                events.append(event)  # noqa: PERF401  # one by one, as they come
            return await run.result(), events


async def test_the_official_echo_agent_says_the_prompt_back() -> None:
    """It has no capabilities, and exits by itself."""
    with anyio.fail_after(WAIT_SECONDS):
        result = await run_subagent(_spec("python-sdk-echo"), "Say PONG")
    assert (result.status, result.reason, result.text) == ("completed", "end_turn", "Say PONG")
    assert (result.diagnostics.exit_code, result.flags.killed) == (0, None)
    assert not result.diagnostics.stdout_noise.count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("permission", "said", "status", "outcome"),
    [("allow", ALLOWED, "completed", "allow_once"), ("reject", REJECTED, "pending", "reject_once")],
)
async def test_the_typescript_example_is_allowed_or_refused_what_it_asks(
    permission: str, said: str, status: str, outcome: str
) -> None:
    """One call read without asking, one edit with; on rejection the call stays open, which is its way."""
    result, events = await _watched(_spec("ts-sdk-example", permission=permission))
    assert (result.status, result.reason) == ("completed", "end_turn")
    assert said in result.text
    assert [(call.id, call.status) for call in result.tool_calls] == [("call_1", "completed"), ("call_2", status)]
    assert [(one.tool_call_id, one.option_kind) for one in result.permissions] == [("call_2", outcome)]
    texts = [event.text for event in events if isinstance(event, TextChunk)]
    assert "".join(texts) == result.text
    assert len(texts) == 3
    assert any(isinstance(event, PermissionAnswered) for event in events)


async def test_the_typescript_example_is_cancelled_in_the_middle() -> None:
    """As soon as its first tool call is seen; what came until then is kept, and the child goes by itself."""
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner() as runner:
            run = await runner.start(_spec("ts-sdk-example"), "Do what you do")
            async for event in run.events():
                if isinstance(event, ToolCallUpdated):
                    assert run.id in repr(run)
                    await run.cancel()
            result = await run.result()
    assert (result.status, result.reason) == ("aborted", "cancelled")
    assert result.text.startswith("I'll help you")
    assert result.stop_reason in ("cancelled", None)
    assert result.permissions == ()
