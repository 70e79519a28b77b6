"""An agent that delegates in turn: real processes below real processes, asked by a parent as any other."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from acp_client import AgentSpec, Runner, SubAgent, SubAgents, ToolReply
from acp_client.catalog import SHIPPED
from acp_client.protocol.errors import INVALID_PARAMS
from tests.agent.delegating_agent import Delegating
from tests.agent.served import REPO, is_running
from tests.agent.trades.client import connected

WAIT_SECONDS: Final = 60.0
DESK: Final = AgentSpec(
    command=(sys.executable, REPO / "tests" / "agent" / "delegating_agent.py"), env={"PYTHONPATH": str(REPO)}
)
TRADE: Final = {"instrument": "SAP", "quantity": 5_000, "price": 120.1, "currency": "EUR"}
LIMITS: Final = {"limits": {"max_quantity": 100}}
REASON: Final = "trade 1: quantity 5,000 is over max_quantity 100"


async def asked(task: str, *, max_depth: int, context: object = None, below: Sequence[SubAgent] = ()) -> ToolReply:
    """What the desk, asked by a parent that allows so many levels, replies."""
    desk = SubAgent(name="desk", description="Asks others", agent=DESK, sub_agents=below)
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner() as runner:
            sub_agents = SubAgents([desk], runner=runner, parent_name="Trades Agent", max_depth=max_depth)
            return await sub_agents.request_for_model("desk", task=task, context=context)


async def test_what_a_sub_agents_own_sub_agent_did_is_in_the_trace_under_both_names() -> None:
    """The value comes up through both; the parent's model sees the value alone; each request is a tool call."""
    reply = await asked(f"judge {json.dumps(TRADE)}", max_depth=2, context=LIMITS)
    assert json.loads(reply.for_model()) == {"approved": False, "reasons": [REASON]}
    below = [entry for entry in reply.sub_agent_trace if entry["agent"] == "Trades Agent › desk › risk_judge"]
    assert {entry["agent"] for entry in reply.sub_agent_trace if entry not in below} == {"Trades Agent › desk"}
    assert [entry["type"] for entry in below] == ["task", "tool_call", "message", "end"]
    assert [entry.get("text") or entry.get("title") or entry["status"] for entry in below] == [
        json.dumps(TRADE),
        "Check 1 trade against 1 limit",
        f"rejected: {REASON}",
        "completed",
    ]
    assert reply.result is not None
    (call,) = reply.result.tool_calls
    assert (call.title, call.name, call.status) == ("Consulting risk judge…", "risk_judge", "completed")


async def test_a_chain_goes_as_deep_as_its_parent_allows_and_the_next_is_refused_where_it_is_asked_for() -> None:
    """Three processes run; the third may not start a fourth. Each one's spec says a depth of 0, to no effect."""
    reply = await asked("levels 3", max_depth=3)
    assert reply.result is not None
    reasons = [reason for reason, _ in reply.result.structured]
    assert (reply.result.reason, reasons) == ("end_turn", ["end_turn", "end_turn", "depth_exceeded"])
    last = [entry for entry in reply.sub_agent_trace if entry.get("reason") == "depth_exceeded"]
    assert [entry["agent"] for entry in last] == ["Trades Agent › desk › below › below › below"]


async def test_a_sub_agent_is_a_leaf_unless_its_parent_says_otherwise() -> None:
    """It may ask, and gets `depth_exceeded`; nothing is started below it."""
    reply = await asked("levels 1", max_depth=1)
    assert reply.result is not None
    assert [reason for reason, _ in reply.result.structured] == ["depth_exceeded"]
    (call,) = reply.result.tool_calls
    assert (call.title, call.status) == ("Consulting below…", "failed")


async def test_a_cancelled_turn_leaves_nothing_of_what_it_delegated(tmp_path: Path) -> None:
    """The one below is gone with the run, two processes down."""
    pids = tmp_path / "pids"
    os.mkfifo(pids)
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner(max_depth=2) as runner:
            run = await runner.start(DESK.model_copy(update={"cwd": str(tmp_path)}), "hold")
            below = int(await anyio.to_thread.run_sync(pids.read_text, abandon_on_cancel=True))
            assert is_running(below)
            await run.cancel()
            result = await run.result()
    assert (result.reason, is_running(below)) == ("cancelled", False)


async def test_what_a_parent_declares_for_its_sub_agent_can_be_asked_there() -> None:
    """Beside those that the sub-agent has of its own; the same name means the parent's."""
    spec = AgentSpec(command=(sys.executable, "-P", "-m", "acp_agent", "echo"))
    echoes = [SubAgent(name=name, description="Says it back", agent=spec) for name in ("echo", "risk_judge")]
    reply = await asked("ask risk_judge hello there", max_depth=2, below=echoes)
    assert json.loads(reply.for_model()) == "hello there"


async def test_what_is_no_declaration_ends_the_turn_with_an_error(tmp_path: Path) -> None:
    """Nothing is asked; the values in it are not shown."""
    async with connected(agent=Delegating()) as client:
        answer = await client.prompt(tmp_path, "levels 0", extension={"sub_agents": [{"name": "s3cret", "agent": {}}]})
    assert answer["error"]["code"] == INVALID_PARAMS
    assert answer["error"]["message"] == '_meta["acp-subagents"].sub_agents holds what is no declaration of a sub-agent'


async def test_a_shape_that_an_agent_without_a_model_does_not_have_is_output_invalid() -> None:
    """It says so when it is asked again; the value that it has is no error of the agent."""
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner() as runner:
            spec = SHIPPED["risk_judge"].spec()
            judge = SubAgent(name="risk_judge", description="Validates trades", agent=spec, result_type=list[int])
            task = f"{json.dumps(TRADE)} {json.dumps(LIMITS)}"
            result = await SubAgents([judge], runner=runner).run("risk_judge", task=task)
    assert result.reason == "output_invalid"
    assert "one shape of value, which does not fit what is asked: $: " in result.text


async def test_the_depth_that_a_client_tells_counts_where_the_environment_says_none(tmp_path: Path) -> None:
    """As for an agent that was started by a wrapper with an environment of its own."""
    async with connected(agent=Delegating()) as client:
        await client.prompt(tmp_path, "levels 1", extension={"depth": 2, "max_depth": 2})
    assert [reason for reason, _ in client.completed[0]] == ["depth_exceeded"]
