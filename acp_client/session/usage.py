"""What an agent reports of tokens and cost, in updates and with its answer: assigned, never summed.

Owns which values are figures. What a figure means for a budget is the meter's, which is told of each report.
(ACP v1, usage updates; the `usage` of a prompt response is no part of stable ACP, but real agents send it.)
"""

from __future__ import annotations

import math
from typing import Any, Final

from acp_client.outcome.result import Cost, Usage
from acp_client.policy.meter import Meter


class UsageReports:
    """Folds reports, raw, in wire order. What is no figure changes nothing."""

    def __init__(self) -> None:
        self._figures: dict[str, Any] = {}
        self._sources: set[str] = set()

    def fold_update(self, update: dict[str, Any], meter: Meter | None) -> None:
        """A `usage_update`: its figures are cumulative."""
        self._sources.add("usage_update")
        for name, key in (("context_used", "used"), ("context_size", "size")):
            self._note(name, update.get(key))
        cost = update.get("cost")
        if isinstance(cost, dict) and _is_amount(cost.get("amount")) and isinstance(cost.get("currency"), str):
            self._figures["cost"] = Cost(amount=float(cost["amount"]), currency=cost["currency"])
        if meter is not None:
            meter.on_usage(update.get("used"), cost)

    def fold_answer(self, usage: Any, meter: Meter | None) -> None:
        """The `usage` of a prompt response, any JSON value."""
        if not isinstance(usage, dict):
            return
        self._sources.add("prompt_response")
        for name, key in _TOKENS:
            self._note(name, usage.get(key))
        if meter is not None:
            meter.on_answer(usage)

    def _note(self, name: str, value: Any) -> None:
        if type(value) is int and value >= 0:
            self._figures[name] = value

    def usage(self) -> Usage:
        """What was reported; the source says by which way."""
        if not (self._figures or self._sources):
            return _NOTHING
        sources = self._sources
        source = None if not sources else "both" if len(sources) > 1 else next(iter(sources))
        return Usage.model_validate(self._figures | {"source": source})


_NOTHING: Final = Usage()
_TOKENS: Final = (
    ("input_tokens", "inputTokens"),
    ("output_tokens", "outputTokens"),
    ("cached_tokens", "cachedReadTokens"),
    ("thought_tokens", "thoughtTokens"),
    ("total_tokens", "totalTokens"),
)


def _is_amount(value: Any) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False
