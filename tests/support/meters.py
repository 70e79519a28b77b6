"""A meter of a budget, and what it told: for tests of the arithmetic."""

from typing import Any

from acp_client.policy.budget import Budget, Figure, Finding, Reached, Spent, Unreported
from acp_client.policy.meter import Ledger, Meter

NOW = 1000.0


def usd(amount: Any, currency: Any = "USD") -> dict[str, Any]:
    """A cost as it stands in an update."""
    return {"amount": amount, "currency": currency}


class Told:
    """A meter, and what it told."""

    def __init__(self, budget: Budget | None = None, ledger: Ledger | None = None, at: float = NOW) -> None:
        self.told: list[Finding] = []
        self.meter = Meter(budget, ledger, self.told.append)
        self.meter.join(at)

    def spent(self) -> Spent:
        """The figures."""
        return self.meter.report(NOW, asked=True).spent

    def over(self) -> list[Reached]:
        """The limits that were exceeded."""
        return [found for found in self.told if isinstance(found, Reached) and found.over]

    def warned(self) -> list[Figure]:
        """The figures of which a warning was given."""
        return [found.figure for found in self.told if isinstance(found, Reached) and not found.over]

    def missed(self) -> list[str]:
        """Which figures were told as not reported, and why."""
        return [f"{found.figure}: {found.why}" for found in self.told if isinstance(found, Unreported)]
