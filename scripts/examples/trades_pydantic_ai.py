"""The trades parent as a pydantic-ai agent: its tools are our named sub-agents, each call a child process of its own.

No model and no key: a function stands in for the model, and does what one would do. It has a file extracted, then asks
the judge for every trade and the resolver for every name, all in one turn, then sums up. Needs `pydantic-ai-slim`.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import anyio

from acp_client import Runner, SubAgent, SubAgents, SubAgentStarted
from acp_client.catalog import SHIPPED
from acp_client.safe_text import printable

try:
    from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
except ImportError:
    sys.exit("this example needs pydantic-ai; install it with `pip install pydantic-ai-slim`")

FILE: Final = Path(__file__).resolve().parents[2] / "fixtures" / "trades" / "london_broker.csv"
EXTRACTOR, JUDGE, RESOLVER = "trade_file_extractor", "risk_judge", "counterparty_resolver"
LIMITS: Final = {"limits": {"max_quantity": 20_000, "max_notional": {"GBP": 30_000}}}
INSTRUCTED: Final = ("GSI", "Deutsche Bank AG London Branch", "Goldmann Sachs")
SPECIALISTS: Final = [
    SubAgent(name=name, description=SHIPPED[name].description, agent=SHIPPED[name].spec())
    for name in (EXTRACTOR, JUDGE, RESOLVER)
]


def stand_in(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """What a model would say next: it sees the tool results so far, and nothing of the children's work."""
    assert {tool.name for tool in info.function_tools} == {EXTRACTOR, JUDGE, RESOLVER}
    results = list(tool_results(messages))
    if not results:
        return ModelResponse(parts=[ToolCallPart(EXTRACTOR, {"task": f"Extract the trades from {str(FILE)!r}"})])
    if len(results) == 1:
        trades = json.loads(results[0].model_response_str())["trades"]
        judge = [ToolCallPart(JUDGE, {"task": f"Validate {json.dumps(one)}", "context": LIMITS}) for one in trades]
        names = [ToolCallPart(RESOLVER, {"task": f"Resolve the counterparty “{name}”"}) for name in INSTRUCTED]
        return ModelResponse(parts=[*judge, *names])
    said = [json.loads(result.model_response_str()) for result in results[1:]]
    approved = sum(bool(one.get("approved")) for one in said)
    known = sum(bool(one.get("lei")) for one in said)
    return ModelResponse(parts=[TextPart(f"approved {approved} trades, know {known} of {len(INSTRUCTED)} names")])


def tool_results(messages: Iterable[ModelMessage]) -> Iterable[ToolReturnPart]:
    """All tool results in a conversation."""
    return (part for message in messages for part in message.parts if isinstance(part, ToolReturnPart))


def show(event: Any) -> None:
    """A label for people while the children work."""
    if isinstance(event, SubAgentStarted):
        print(f"  {printable(event.label)}")


async def main() -> None:
    """One run of the agent, then what it was told."""
    trace: list[dict[str, Any]] = []
    async with Runner(max_concurrency=4) as runner:
        sub_agents = SubAgents(
            SPECIALISTS, runner=runner, parent_name="Trades Agent", on_progress=show, on_trace=trace.extend
        )
        agent = Agent(FunctionModel(stand_in), tools=[tool.to_pydantic_ai() for tool in sub_agents.as_tools()])
        run = await agent.run(f"Process {FILE.name}")
    print(run.output)
    print("What the model saw, one tool result for each request:")
    for result in tool_results(run.all_messages()):
        print(f"  {result.tool_name}: {printable(result.model_response_str(), max_chars=100)}")
    print("What only people see, the trace:")
    for entry in trace:
        print(f"  {printable(entry['agent'])}: {entry['type']}")


if __name__ == "__main__":
    anyio.run(main)
