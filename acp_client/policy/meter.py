"""What is spent, held against what may be: told each figure as it comes, a meter says what there is to say of it. Pure.

Owns the counting for one run (`Meter`) and for all runs of a runner (`Ledger`). Every figure is assigned and only
grows. Leaves to `run.spending` what becomes of a finding. Times are seconds of a monotonic clock.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final

from acp_client.policy.budget import (
    FIGURES,
    REPORTED_FIGURES,
    Budget,
    BudgetReport,
    Figure,
    Finding,
    Reached,
    SharedBudgetReport,
    Spent,
    Unreported,
)
from acp_client.safe_text import printable

WARN_AT: Final = 0.8
"""Of a limit: late enough to mean something, early enough to do something."""

ROUNDING: Final = 1e-9
"""Of a limit: 0.08 are 80 % of 0.1, which binary fractions do not know."""

MAX_IDS: Final = 10_000
"""Tool calls of a run that are told apart; beyond them, every update of an unknown one counts as a step."""

MAX_COUNT: Final = 2**63 - 1
"""A higher count is nonsense, and is taken for this."""

MAX_COST: Final = sys.float_info.max
"""A higher sum likewise: infinity is no JSON."""

MAX_CURRENCY_CHARS: Final = 20


class Gauge:
    """One budget: says once for each figure that 80 % are reached, and once that a limit is exceeded."""

    __slots__ = ("_limits", "_shared", "budget", "exceeded", "warned")

    def __init__(self, budget: Budget, *, shared: bool) -> None:
        self.budget: Final = budget
        self.exceeded: Reached | None = None
        self.warned: list[Figure] = []
        self._shared = shared
        self._limits = {figure: limit for figure in FIGURES if (limit := budget.limit(figure)) is not None}

    def measure(self, figure: Figure, spent: float) -> Reached | None:
        """What there is to say of a figure that has grown; nothing more once a limit is exceeded."""
        limit = self._limits.get(figure)
        if limit is None or self.exceeded is not None:
            return None
        if spent > limit:
            self.exceeded = Reached(figure, spent, limit, self._shared, over=True)
            return self.exceeded
        if figure in self.warned or spent < limit * WARN_AT * (1 - ROUNDING):
            return None
        self.warned.append(figure)
        return Reached(figure, spent, limit, self._shared, over=False)

    def seconds_left(self, elapsed: float) -> tuple[float, float]:
        """Until the warning and until the end; inf for what does not come, or is over."""
        limit = self._limits.get("wall_seconds", math.inf) if self.exceeded is None else math.inf
        return (math.inf if "wall_seconds" in self.warned else limit * WARN_AT - elapsed), limit - elapsed


class Ledger:
    """The budget of a runner: the sum of the latest figures of all its runs. A finding is told to all that go on."""

    def __init__(self, budget: Budget) -> None:
        self.gauge: Final = Gauge(budget, shared=True)
        self._unreported: set[Figure] = set()
        self._members: dict[Meter, None] = {}
        self._sums: dict[Figure, Decimal] = {}  # of amounts as they are written: ten times 0.1 is 1
        self._began: float | None = None

    def join(self, meter: Meter, now: float) -> None:
        """A run begins to wait or to go; one that comes too late is told so at once."""
        self.tick(now)
        self._members[meter] = None
        if self.gauge.exceeded is not None:
            meter.tell(self.gauge.exceeded)

    def leave(self, meter: Meter, unreported: Iterable[Figure]) -> None:
        """A run has ended: what it has spent stays, and what it did not report is not known."""
        self._members.pop(meter, None)
        self._unreported.update(unreported)

    def begin(self, now: float) -> None:
        """A run begins: with the first one, time does."""
        if self._began is None:
            self._began = now

    def add(self, figure: Figure, value: float, before: float) -> None:
        """A run's figure has grown from what it was before."""
        self._sums[figure] = self._sums.get(figure, Decimal(0)) + Decimal(repr(value)) - Decimal(repr(before))
        self._tell(figure, self._sum(figure) or 0)

    def tick(self, now: float) -> None:
        """Look at the time."""
        self._tell("wall_seconds", self.elapsed(now))

    def _tell(self, figure: Figure, spent: float) -> None:
        found = self.gauge.measure(figure, spent)
        if found is not None:
            for meter in list(self._members):
                meter.tell(found)

    def _sum(self, figure: Figure) -> float | None:
        found = self._sums.get(figure)
        return None if found is None else min(float(found), MAX_COST) if figure == "cost_usd" else int(found)

    def elapsed(self, now: float) -> float:
        """Since the first run began."""
        return 0.0 if self._began is None else now - self._began

    def report(self, added: Spent, unreported: Iterable[Figure], now: float) -> SharedBudgetReport:
        """As it is now, seen by a run that added so much and did not report some."""
        sums = {figure: found for figure in FIGURES if (found := self._sum(figure)) is not None}
        gauge, unknown = self.gauge, self._unreported.union(unreported)
        return SharedBudgetReport(
            limits=gauge.budget,
            added=added,
            spent=Spent.model_validate(sums | {"wall_seconds": self.elapsed(now)}),
            exceeded=gauge.exceeded.figure if gauge.exceeded else None,
            warned=tuple(gauge.warned),
            unreported=tuple(figure for figure in REPORTED_FIGURES if figure in unknown and gauge.budget.limit(figure)),
        )


class Meter:
    """What one run spends, held against its own budget and the ledger. `tell` gets every finding, at once."""

    def __init__(self, budget: Budget | None, ledger: Ledger | None, tell: Callable[[Finding], None]) -> None:
        self.tell: Final = tell
        self._gauge = Gauge(budget or Budget(), shared=False)
        self._ledger = ledger
        budgets = [self._gauge.budget, *([ledger.gauge.budget] if ledger else [])]
        self._wanted = [figure for figure in REPORTED_FIGURES if any(one.limit(figure) is not None for one in budgets)]
        self._spent: dict[Figure, float] = {}
        self._calls: set[int] = set()
        self._told: set[Figure] = set()
        self._foreign = False
        self._began: float | None = None

    # ---- what the agent does and says

    def on_tool_call(self, call_id: str) -> None:
        """A tool call was announced, updated, or asked about."""
        key = hash(call_id)  # ids may be long, and this is only to tell them apart
        if key not in self._calls:
            if len(self._calls) < MAX_IDS:
                self._calls.add(key)
            self._grow("steps", self._spent.get("steps", 0) + 1)

    def know_tool_call(self, call_id: str) -> None:
        """A tool call has been counted already, under another id: what is said of this one is no step."""
        if len(self._calls) < MAX_IDS:
            self._calls.add(hash(call_id))

    def on_usage(self, used: Any, cost: Any) -> None:
        """A `usage_update`: any JSON values. What is no figure is passed over, and said if a limit waits for it."""
        tokens = _count(used)
        if tokens is None:
            self._miss("tokens", "a usage update does not say how many")
        else:
            self._grow("tokens", tokens)
        amount, currency = _amount(cost)
        if amount is None:
            self._miss("cost_usd", "a usage update has no cost")
            return
        self._foreign = currency.upper() != "USD"
        if self._foreign:
            name = printable(currency, max_chars=MAX_CURRENCY_CHARS)
            self._miss("cost_usd", f"its cost is in {name}, which cannot be compared", known=False)
        else:
            self._grow("cost_usd", amount)

    def on_answer(self, usage: dict[str, Any]) -> None:
        """The `usage` of a prompt response: its total, or where it has none the input and output that it names."""
        parts = [_count(usage.get(key)) for key in ("inputTokens", "outputTokens")]
        total = _count(usage.get("totalTokens"))
        if total is None and parts != [None, None]:
            total = sum(part or 0 for part in parts)
        if total is not None:
            self._grow("tokens", total)

    def on_turn_end(self) -> None:
        """The prompt has its answer, or gets none: what has not been reported is said now at the latest."""
        for figure in self._wanted:
            self._miss(figure, "the turn is over and it was not reported")

    def _grow(self, figure: Figure, value: float) -> None:
        """Assign a figure. One that falls changes nothing: what was spent does not come back."""
        before = self._spent.get(figure)
        if before is not None and value <= before:
            return
        self._spent[figure] = value
        found = self._gauge.measure(figure, value)
        if found is not None:
            self.tell(found)
        if self._ledger is not None:
            self._ledger.add(figure, value, before or 0)

    def _miss(self, figure: Figure, why: str, *, known: bool = True) -> None:
        """Say once that a figure with a limit is not there; with `known`, only if there was none before."""
        missing = figure in self._wanted and figure not in self._told
        if missing and not (known and figure in self._spent):
            self._told.add(figure)
            self.tell(Unreported(figure, why))

    # ---- time

    def join(self, now: float) -> None:
        """The run waits to be started: its place under the budget that it shares."""
        if self._ledger is not None:
            self._ledger.join(self, now)

    def begin(self, now: float) -> None:
        """The process is about to be started."""
        self._began = now
        if self._ledger is not None:
            self._ledger.begin(now)

    def tick(self, now: float) -> None:
        """Look at the time."""
        found = self._gauge.measure("wall_seconds", self._elapsed(now))
        if found is not None:
            self.tell(found)
        if self._ledger is not None:
            self._ledger.tick(now)

    def seconds_left(self, now: float) -> tuple[float, float]:
        """Until the next `tick` that warns, and until the one that ends the run; inf for what does not come."""
        left = [self._gauge.seconds_left(self._elapsed(now))]
        if self._ledger is not None:
            left.append(self._ledger.gauge.seconds_left(self._ledger.elapsed(now)))
        return min(warning for warning, _ in left), min(end for _, end in left)

    def _elapsed(self, now: float) -> float:
        return 0.0 if self._began is None else now - self._began

    # ---- the end

    def end(self, *, asked: bool) -> None:
        """Nothing more comes of this run."""
        if self._ledger is not None:
            self._ledger.leave(self, self._unreported(asked=asked))

    def _unreported(self, *, asked: bool) -> tuple[Figure, ...]:
        foreign = ("cost_usd",) if self._foreign else ()
        return tuple(figure for figure in self._wanted if asked and (figure not in self._spent or figure in foreign))

    def report(self, now: float, *, asked: bool) -> BudgetReport:
        """As it is now; `asked`: the prompt was sent, before which nobody can report anything."""
        spent = Spent.model_validate({**self._spent, "wall_seconds": self._elapsed(now)})
        exceeded, unreported = self._gauge.exceeded, self._unreported(asked=asked)
        return BudgetReport(
            limits=self._gauge.budget,
            spent=spent,
            exceeded=exceeded.figure if exceeded else None,
            warned=tuple(self._gauge.warned),
            unreported=unreported,
            shared=None if self._ledger is None else self._ledger.report(spent, unreported, now),
        )


def _count(value: Any) -> int | None:
    return min(value, MAX_COUNT) if type(value) is int and value >= 0 else None


def _amount(cost: Any) -> tuple[float | None, str]:
    """The amount and its currency; no amount where there is none that can be used."""
    amount, currency = (cost.get("amount"), cost.get("currency")) if isinstance(cost, dict) else (None, None)
    if not isinstance(amount, int | float) or isinstance(amount, bool) or not isinstance(currency, str):
        return None, ""
    try:
        number = float(amount)
    except OverflowError:  # an integer beyond every float
        return None, ""
    return (number, currency) if 0 <= number < math.inf else (None, "")
