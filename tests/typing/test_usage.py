"""The public API as a user would write it: mypy checks this file; running it only proves that it imports."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, assert_type

from acp_agent import Context, PermissionAnswer, ToolCallHandle
from acp_client import (
    REASONS,
    AgentSpec,
    Budget,
    BudgetReport,
    Decision,
    Failure,
    Job,
    Limits,
    PermissionRequest,
    Run,
    Runner,
    RunResult,
    run_subagent,
    run_subagent_sync,
)
from acp_client.session.events import Event, TextChunk

SPEC = AgentSpec(command=(sys.executable, "-m", "acp_agent", "echo"), limits=Limits(idle_timeout_seconds=None))

WIDE = AgentSpec(
    command=[Path(sys.executable), "agent.py"],
    cwd=Path("/tmp"),  # noqa: S108  # a path, not a file
    env_passthrough=["X_*"],
    mcp_servers=[{"name": "files", "command": "mcp-files", "args": [], "env": []}],
    additional_directories=[Path("/")],
    config_options={"web": True},
    budget=Budget(max_steps=40, max_cost_usd=0.5, max_wall_seconds=300),
)


async def decide(request: PermissionRequest) -> Decision:
    """A policy."""
    assert_type(request.title, str | None)
    assert_type(request.paths, tuple[str, ...])
    return Decision.allow() if request.kind == "read" else Decision.reject("no")


async def parent() -> None:
    """All doors."""
    assert_type(await run_subagent(SPEC, "x"), RunResult)
    assert_type(await run_subagent(SPEC, "x", result_type=list[int] | None, max_repairs=2), RunResult)
    async with Runner(max_concurrency=2, budget=Budget(max_tokens=10**6)) as runner:
        run = await runner.start(SPEC, [{"type": "text", "text": "x"}])
        assert_type(run, Run)
        async for event in run.events():
            assert_type(event, Event)
            if isinstance(event, TextChunk):
                assert_type(event.text, str)
        answer = await run.answer()
        assert_type(answer.failure, Failure | None)
        assert_type(answer.budget, BudgetReport | None)
        assert_type(answer.structured, Any)
        async for job, result in runner.run_many([Job(SPEC, "a", result_type=dict), (SPEC, "b")]):
            assert_type(result, RunResult)
            assert job in ((SPEC, "b"), Job(SPEC, "a"))


async def turn(context: Context) -> str | None:
    """An agent's prompt."""
    call = await context.tool_call("Read", kind="read", locations=[("/a", None)])
    assert_type(call, ToolCallHandle)
    answer = await context.request_permission(call)
    assert_type(answer, PermissionAnswer)
    assert_type(context.text_of_prompt, str)
    return "end_turn" if answer.allowed else "refusal"


async def events_are_an_async_iterator(run: Run) -> AsyncIterator[Event]:
    """And can be passed as one."""
    return run.events()


def test_the_public_names_are_what_they_say() -> None:
    """The names above exist; their types are mypy's business."""
    assert REASONS["end_turn"].status == "completed"
    assert callable(run_subagent_sync)


def test_a_spec_keeps_what_it_was_given_in_one_shape() -> None:
    """Paths as text, lists as tuples; it can be a key, and its repr holds no argument."""
    assert_type(WIDE.cwd, str | None)
    assert WIDE.command == (sys.executable, "agent.py")
    assert {WIDE: 1}[WIDE.model_copy()] == 1
    assert "agent.py" not in repr(WIDE)
