"""Budgets: what a run, or all the runs of a runner, may spend; and the report of what was spent. Frozen, pure data.

Owns the four figures and what each means. Counting them, and finding a limit exceeded, is `meter`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from acp_client.frozen import Frozen

Figure: TypeAlias = Literal["steps", "cost_usd", "tokens", "wall_seconds"]

FIGURES: Final[tuple[Figure, ...]] = ("steps", "cost_usd", "tokens", "wall_seconds")

REPORTED_FIGURES: Final[tuple[Figure, ...]] = ("cost_usd", "tokens")
"""What only the agent can know. Steps and time are counted on our side."""

UNITS: Final[dict[Figure, str]] = {"steps": "tool calls", "cost_usd": "USD", "tokens": "tokens", "wall_seconds": "s"}

_Count: TypeAlias = Annotated[int, Field(ge=1, strict=True)]
_Amount: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]


class Budget(Frozen):
    """What may be spent, each limit on its own; None is no limit. To spend exactly a limit is allowed.

    `max_steps` counts tool calls, by their ids. `max_cost_usd` holds against the cost that the agent reports: it is
    cumulative, so never added up, and the highest one counts, since what is spent does not come back; a cost in
    another currency cannot be compared and counts as not reported. `max_tokens` holds against the greatest of the
    total in the answer to the prompt and the tokens in the context, which is the least that was consumed.
    `max_wall_seconds` begins when the process is started, and does not rest while a person is asked.

    Raises pydantic's ValidationError for a limit that is not a number above 0.
    """

    max_steps: _Count | None = None
    max_cost_usd: _Amount | None = None
    max_tokens: _Count | None = None
    max_wall_seconds: _Amount | None = None

    def limit(self, figure: Figure) -> float | None:
        """The limit on a figure, None where there is none."""
        limit: float | None = getattr(self, f"max_{figure}")
        return limit


class Spent(Frozen):
    """What was spent. None: the agent does not report it, or not in USD; it is not 0."""

    steps: int = 0
    cost_usd: float | None = None
    tokens: int | None = None
    wall_seconds: float = 0.0


class SharedBudgetReport(Frozen):
    """The budget of the runner: what this run added, what all its runs have spent by then.

    `exceeded` and `warned` as in `BudgetReport`; `unreported` are the figures with a limit that at least one run has
    not reported: they are higher than is said here.
    """

    limits: Budget
    added: Spent
    spent: Spent
    exceeded: Figure | None = None
    warned: tuple[Figure, ...] = ()
    unreported: tuple[Figure, ...] = ()


class BudgetReport(Frozen):
    """What a run has spent of its budget. Without one of its own, all `limits` are None and `shared` has the runner's.

    `exceeded` is the first figure that went over its limit; a turn that was complete by then stays completed.
    `warned`: figures that reached 80 % of a limit before. `unreported`: figures with a limit, here or in `shared`,
    that the agent does not report: those limits cannot hold.
    """

    limits: Budget
    spent: Spent
    exceeded: Figure | None = None
    warned: tuple[Figure, ...] = ()
    unreported: tuple[Figure, ...] = ()
    shared: SharedBudgetReport | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """A figure is at 80 % of a limit, or, if `over`, beyond it. `shared`: a limit of the runner's budget."""

    figure: Figure
    spent: float
    limit: float
    shared: bool
    over: bool


@dataclass(frozen=True, slots=True)
class Unreported:
    """The agent has not reported a figure that has a limit. `why` says how that shows; it is safe to print."""

    figure: Figure
    why: str


Finding: TypeAlias = Reached | Unreported


def say_exceeded(found: Reached) -> str:
    """What was spent of which limit, and what to do, for the failure of a run that it ends."""
    name = f"max_{found.figure}"
    spent, limit = say_amount(found.figure, found.spent), say_amount(found.figure, found.limit)
    if found.shared:
        return (
            f"the runs of this Runner have spent {spent} together, its budget allows {name} = {limit}; no run goes on "
            f"or starts under it: raise {name} in Runner(budget=…), or begin another Runner"
        )
    return f"{spent} spent, the budget allows {name} = {limit}; raise {name} in the spec's budget if it needs more"


def say_amount(figure: Figure, amount: float) -> str:
    """An amount with its unit."""
    digits = f"{amount:.0f}" if figure in ("steps", "tokens") else f"{round(amount, 6):.15g}"
    return f"{digits} {UNITS[figure]}"
