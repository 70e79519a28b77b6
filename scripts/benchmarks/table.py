"""What a benchmark finds: figures, checks against their bounds, and what was left out and why.

Owns the shapes, and how they are told. Each benchmark is in `rows`, by the name that chooses it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Check:
    """One figure and what it must be: a ratio, or an amount in the unit that `what` names."""

    what: str
    value: float
    sense: Literal["<=", ">="]
    bound: float

    @property
    def holds(self) -> bool:
        """True if it is within its bound."""
        return self.value <= self.bound if self.sense == "<=" else self.value >= self.bound

    def __str__(self) -> str:
        return (
            f"  {'ok    ' if self.holds else 'MISSED'} {self.what:<66}{self.value:>9.2f}  {self.sense} {self.bound:g}"
        )


@dataclass(slots=True)
class Finding:
    """Of one benchmark: who took how much, in `unit`; what was checked; who was skipped, and why."""

    title: str
    unit: str
    figures: dict[str, float] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def at_most(self, what: str, value: float, bound: float) -> None:
        """Check an upper bound."""
        self.checks.append(Check(what, value, "<=", bound))

    def at_least(self, what: str, value: float, bound: float) -> None:
        """Check a lower bound."""
        self.checks.append(Check(what, value, ">=", bound))

    def ratio(self, ours: str, other: str, bound: float) -> None:
        """Ours may be at most so many times the other's; nothing is checked where the other was skipped."""
        if other in self.figures:
            self.at_most(f"{ours} / {other}", self.figures[ours] / self.figures[other], bound)

    def faster(self, ours: str, other: str, bound: float) -> None:
        """Ours must be at least so many times faster."""
        if other in self.figures:
            self.at_least(f"{ours}, times faster than {other}", self.figures[other] / self.figures[ours], bound)

    def lines(self) -> list[str]:
        """As it is printed."""
        shown = [f"  {name:<36}{value:>12.3f} {self.unit}" for name, value in self.figures.items()]
        left_out = [f"  skipped {name}: {why}" for name, why in self.skipped.items()]
        return [self.title, *shown, *map(str, self.checks), *left_out]

    def to_json(self) -> dict[str, Any]:
        """As it is written; each check says whether it holds."""
        checks = [asdict(check) | {"holds": check.holds} for check in self.checks]
        return {
            "title": self.title,
            "unit": self.unit,
            "figures": self.figures,
            "checks": checks,
            "skipped": self.skipped,
        }


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is done: the sizes that the bounds are for, or a tenth and fewer rounds."""

    quick: bool = False
    rounds: int | None = None

    def of(self, whole: int) -> int:
        """A size."""
        return max(1, whole // 10) if self.quick else whole

    def times(self, rounds: int) -> int:
        """A number of rounds."""
        return self.rounds or (max(1, rounds // 10) if self.quick else rounds)


Row = Callable[[tuple[str, ...], Sizes], Awaitable[list[Finding]]]
"""A benchmark: takes the command of the mock, and the sizes."""
