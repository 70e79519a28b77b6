"""The agents that we ship, by name. Each is imported when it is served, not before."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acp_agent.agent import Agent


@dataclass(frozen=True, slots=True)
class Shipped:
    """Where an agent is, and what it does in a line."""

    module: str
    name: str
    description: str

    def load(self) -> Agent:
        """Make one."""
        agent: Agent = getattr(import_module(self.module), self.name)()
        return agent


SHIPPED: Final = {
    "echo": Shipped("acp_agent.agents.echo", "Echo", "says back what it is told"),
    "trade_file_extractor": Shipped(
        "acp_agent.agents.trades.agent", "TradeFileExtractor", "extracts normalised trades from a messy file"
    ),
    "risk_judge": Shipped("acp_agent.agents.desk.judge", "RiskJudge", "validates proposed trades against limits"),
    "counterparty_resolver": Shipped(
        "acp_agent.agents.desk.resolver",
        "CounterpartyResolver",
        "resolves a counterparty's name to the one with an LEI",
    ),
}
