"""The parent's functions in agents that others wrote: called over http and stdio, under other names, and permitted."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from acp_client import AgentSpec, Budget, HostToolsOffered, Runner, RunResult
from tests.support import mcp_shell
from tests.support.agents import TURN_SECONDS, fast_agent, opencode, without_mcp_over_http
from tests.support.fake_model import Asked, Call, FakeModel, fake_model

pytestmark = [pytest.mark.agents, pytest.mark.slow]


@dataclass(frozen=True)
class Agent:
    """How one of them shows a tool of a server: to its model, and to us."""

    build: Callable[..., AgentSpec]
    for_model: str
    title: str
    asks: bool
    foreign_kind: str

    def named(self, tool: str, server: str = "host_tools") -> tuple[str, str]:
        """What its model and we are shown."""
        return self.for_model.format(server, tool), self.title.format(server, tool)


FAST_AGENT = Agent(fast_agent, "{}__{}", "{}/{}", asks=True, foreign_kind="execute")
OPENCODE = Agent(opencode, "{}_{}", "{}_{}", asks=False, foreign_kind="other")


class Quote(BaseModel):
    """A value."""

    isin: str
    price: float


def price_of(isin: str) -> float:
    """Look a price up."""
    return {"XS1": 99.25}[isin]


LOOK_UP = Call("price_of", {"isin": "XS1"})


def complete(asked: Asked) -> Call:
    """With the price that the tool gave."""
    return Call("complete", {"isin": "XS1", "price": float(asked.results[-1])})


def say_price(asked: Asked) -> str:
    """As prose."""
    return f"It costs {asked.results[0]}."


async def run(spec: AgentSpec, way: str, **asked: Any) -> RunResult:
    """One run, in which the tools were offered in this way, and listed before the prompt."""
    if way == "stdio":
        spec = without_mcp_over_http(spec)
    with anyio.fail_after(TURN_SECONDS):
        async with Runner() as runner:
            going = await runner.start(spec, "What does XS1 cost?", **asked)
            offered = [(one.way, one.listed) async for one in going.events() if isinstance(one, HostToolsOffered)]
            result = await going.result()
    assert result.failure is None
    assert (offered, result.host_tools) == ([(way, True)], "listed")
    return result


@pytest.mark.parametrize(
    ("anyio_backend", "agent", "way"),
    [("asyncio", FAST_AGENT, "http"), ("trio", OPENCODE, "stdio")],
    ids=["fast-agent", "opencode"],
)
async def test_the_answer_and_the_typed_value_come_of_what_the_parent_s_function_returned(
    agent: Agent, way: str, tmp_path: Path
) -> None:
    """The `complete` tool is called beside it. Each call is one step, however late the agent tells of it."""
    with fake_model([LOOK_UP, complete, say_price]) as model:
        spec = agent.build(tmp_path, model, host_tools=[price_of], budget=Budget(max_steps=2))
        result = await run(spec, way, result_type=Quote)
    assert (result.reason, result.text) == ("end_turn", "It costs 99.25.")
    assert result.structured == Quote(isin="XS1", price=99.25)
    assert result.repairs == 0
    tools = {"price_of": {"isin": "XS1"}, "complete": {"isin": "XS1", "price": 99.25}}
    called = [(one.name, one.arguments, one.status) for one in result.host_tool_calls]
    assert called == [(tool, arguments, "completed") for tool, arguments in tools.items()]
    assert [one.tool_call_id for one in result.host_tool_calls] == [one.id for one in result.tool_calls]
    assert result.budget is not None
    assert result.budget.spent.steps == 2
    titles = [agent.named(tool)[1] for tool in tools]
    assert [one.title for one in result.tool_calls] == titles
    assert [one.title for one in result.permissions] == (titles if agent.asks else [])
    assert {agent.named(tool)[0] for tool in tools} <= model.tools()


def opencode_that_always_asks(folder: Path, model: FakeModel, **fields: Any) -> AgentSpec:
    """As its users may configure it."""
    return opencode(folder, model, ask=["*"], **fields)


@pytest.mark.parametrize(
    ("anyio_backend", "agent", "build", "way"),
    [("asyncio", FAST_AGENT, fast_agent, "stdio"), ("trio", OPENCODE, opencode_that_always_asks, "http")],
    ids=["fast-agent", "opencode"],
)
async def test_a_tool_of_ours_is_permitted_where_a_tool_of_another_server_is_not(
    agent: Agent, build: Callable[..., AgentSpec], way: str, tmp_path: Path
) -> None:
    """Under the default policy, which rejects. Both are asked for in the same words."""
    ran = tmp_path / "project" / "ran"
    with fake_model([LOOK_UP, Call("shell", {"command": f"touch {ran}"}), say_price]) as model:
        result = await run(build(tmp_path, model, host_tools=[price_of], mcp_servers=[mcp_shell.SPEC]), way)
    ours, theirs = agent.named("price_of"), agent.named("shell", mcp_shell.NAME)
    assert {ours[0], theirs[0]} <= model.tools()
    assert [(one.title, one.kind, one.action, one.decided_by) for one in result.permissions] == [
        (ours[1], "other", "allow", "host tools"),
        (theirs[1], agent.foreign_kind, "reject", "preset reject"),
    ]
    assert [(one.name, one.status) for one in result.host_tool_calls] == [("price_of", "completed")]
    assert [one.status for one in result.tool_calls] == ["completed", "failed"]
    assert not ran.exists()
