"""Named sub-agents as a user would write them: mypy checks this file; running it only proves that it imports."""

from dataclasses import dataclass
from typing import Any, assert_type

from pydantic import BaseModel, TypeAdapter

from acp_client import (
    AgentSpec,
    DelegateTool,
    Runner,
    RunResult,
    SubAgent,
    SubAgentEvent,
    SubAgents,
    SubAgentStarted,
    SubAgentStopped,
    ToolReply,
)
from acp_client.delegate.progress import Progress

JUDGE = SubAgent(name="risk_judge", description="Judges", agent=AgentSpec(command=("judge",)), history_cap=4)


class Verdict(BaseModel):
    """A model."""

    approved: bool


@dataclass
class Trade:
    """A dataclass."""

    isin: str


async def show(progress: Progress) -> None:
    """On progress."""
    if isinstance(progress, SubAgentStarted):
        assert_type(progress.label, str)
    elif isinstance(progress, SubAgentStopped):
        assert_type(progress.name, str)
    else:
        assert_type(progress, SubAgentEvent)


async def parent(runner: Runner, messages: list[dict[str, Any]]) -> None:
    """All ways to ask, and what comes of each."""
    sub_agents = SubAgents([JUDGE], runner=runner, parent_name="Trades Agent", on_progress=show, max_depth=2)
    assert_type(await sub_agents.request("risk_judge", task="x", result_type=Verdict), Verdict | str)
    assert_type(await sub_agents.request("risk_judge", task="x", result_type=Verdict, strict=True), Verdict)
    assert_type(await sub_agents.request("risk_judge", task="x", result_type=Trade, strict=True), Trade)
    assert_type(await sub_agents.request("risk_judge", task="x", result_type=list[Trade]), list[Trade] | str)
    adapter = TypeAdapter(dict[str, int])
    assert_type(await sub_agents.request("risk_judge", task="x", result_type=adapter, strict=True), dict[str, int])
    assert_type(await sub_agents.request("risk_judge", task="x", result_type={"type": "object"}), Any)
    assert_type(await sub_agents.request("risk_judge", task="x", history=messages, history_cap=None), Any)
    assert_type(await sub_agents.run("risk_judge", task="x", context={"a": 1}), RunResult)
    reply = await sub_agents.request_for_model("risk_judge", task="x")
    assert_type(reply, ToolReply)
    assert_type(reply.for_model(), str)
    assert_type(reply.result, RunResult | None)
    tools = sub_agents.as_tools(history=lambda: messages)
    assert_type(tools, list[DelegateTool])
    assert_type(await tools[0].handler(task="x"), str)


def test_the_public_names_are_what_they_say() -> None:
    """The names above exist; their types are mypy's business."""
    assert JUDGE.history_cap == 4
    assert callable(parent)
