"""One request, asked of agents that answer in different ways: each gives the same typed value, or none came."""

import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from acp_client import AgentSpec, HostToolReturned, Limits, SubAgentEvent, SubAgentFailed
from tests.delegate.test_requests import asked, declare, scripted
from tests.support.mcp import agent as tool_agent
from tests.support.scenarios import QUICK


class Trade(BaseModel):
    """What is asked for: more than JSON has."""

    lots: int
    settled: dt.date


RAW = {"lots": 3, "settled": "2026-01-02"}
TRADE = Trade(lots=3, settled=dt.date(2026, 1, 2))
SAID = json.dumps(RAW)
TASK = json.dumps({"calls": [["complete", RAW]]})
"""Read by the agent that calls tools; to the others it is a text like any."""

OURS = {"capabilities": {"_meta": {"acp-subagents": {"complete": True}}}}
PROSE = f'First ```json\n{{"lots": 1}}\n``` then ```json\n{SAID}\n```, of {{"fees": 2}} and [3].'
WRONG, NONE = '{"lots": "three"}', "I cannot. "


def answers(*texts: str) -> dict[str, Any]:
    """A child whose turns say these."""
    return {"prompts": [[{"chunk": text}] for text in texts]}


CHILDREN = {
    "ours": {"prompt": [{"chunk": WRONG}, {"complete": RAW}], **OURS},
    "prose": answers(PROSE),
    "one-repair": answers(WRONG, SAID),
    "two-repairs": answers(WRONG, NONE, SAID),
}
PROMPTS = {"ours": 1, "prose": 1, "one-repair": 2, "two-repairs": 2}
"""How often each is asked."""


async def test_the_same_request_gives_the_same_typed_value_whatever_way_it_comes(tmp_path: Path) -> None:
    """By our extension, by `complete` over MCP, out of prose, after a repair; a second repair is not asked for."""
    children = {name: scripted(tmp_path / name, scenario) for name, scenario in CHILDREN.items()}
    foreign = AgentSpec(command=(sys.executable, tool_agent.__file__), limits=Limits(**QUICK))
    declared = [declare(name, child) for name, child in children.items()]
    told: list[Any] = []
    values: dict[str, Trade | str] = {}
    async with asked(*declared, declare("by-tool", foreign), on_progress=told.append) as sub_agents:
        for name in sub_agents.names:
            try:
                values[name] = await sub_agents.request(name, task=TASK, result_type=Trade, strict=True)
            except SubAgentFailed as error:
                values[name] = f"{error.result.reason}: {error.result.text}"
    right = dict.fromkeys(("ours", "prose", "one-repair", "by-tool"), TRADE)
    assert values == right | {"two-repairs": f"output_invalid: {WRONG}{NONE}"}
    assert {name: child.methods().count("session/prompt") for name, child in children.items()} == PROMPTS
    called = [
        (one.name, one.event.call.name, one.event.call.status)
        for one in told
        if isinstance(one, SubAgentEvent) and isinstance(one.event, HostToolReturned)
    ]
    assert called == [("by-tool", "complete", "completed")]
