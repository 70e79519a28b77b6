"""All deadlines of one run behind one timer. Pure: it is told the time and says what has run out.

Owns which deadline counts when. Times are seconds of a monotonic clock, so a clock that is set back changes nothing.
"""

from __future__ import annotations

import math
from typing import Final

from acp_client.outcome.reasons import Reason
from acp_client.spec import Limits

LOOKS_AT_A_START: Final = 8
"""How often the timer looks within the startup limit: what it oversleeps then is time that our own loop was held up,
known to an eighth. Silence needs no such looks, since whatever waited in the pipe is read before it is judged."""
MAX_LOOK_SECONDS: Final = 1.0


class Clock:
    """`touch` on every sign of life; `expired` says which deadline has passed, if any."""

    __slots__ = (
        "_budget_at",
        "_last",
        "_limits",
        "_look_seconds",
        "_paused",
        "_run_at",
        "_startup_at",
        "_warning_at",
        "began",
    )

    def __init__(self, limits: Limits) -> None:
        self.began = math.inf
        self._limits = limits
        self._look_seconds = min((limits.startup_timeout_seconds or math.inf) / LOOKS_AT_A_START, MAX_LOOK_SECONDS)
        self._last = math.inf
        self._paused = 0
        self._startup_at = math.inf
        self._run_at = math.inf
        self._budget_at = math.inf
        self._warning_at = math.inf

    def start(self, now: float) -> None:
        """The run begins: waiting for admission is not its time."""
        self.began = self._last = now
        self._startup_at = _after(now, self._limits.startup_timeout_seconds)
        self._run_at = _after(now, self._limits.run_timeout_seconds)

    def bind_budget(self, warning_at: float, budget_at: float) -> None:
        """A budget of time: when to look at it next, and when it is spent. It never rests."""
        self._warning_at = warning_at
        self._budget_at = budget_at

    def warning_due(self, now: float) -> bool:
        """It is time to look at the budget."""
        return now >= self._warning_at

    def touch(self, now: float) -> None:
        """The child gave a sign of life."""
        self._last = now

    def session_exists(self) -> None:
        """The startup deadline is met."""
        self._startup_at = math.inf

    def pause_idle(self) -> None:
        """Somebody is being asked: silence is not the agent's. Counts, so that several may be asked at once."""
        self._paused += 1

    def resume_idle(self, now: float) -> None:
        """The answer is there."""
        self._paused -= 1
        self._last = now

    def forgive(self, seconds: float) -> None:
        """Our own loop was held up: the child was not heard in this time, which is not its fault."""
        self._last += seconds
        self._startup_at += seconds

    def next_look(self, looked: float) -> float:
        """When to look again after a look at that time: at the next deadline, and while the agent starts also between.

        What is looked at later than that was held up by our own loop, from its beginning (`began`) on.
        """
        starting = self._startup_at < math.inf
        return min(self.next_deadline(looked), self._warning_at, looked + self._look_seconds if starting else math.inf)

    def next_deadline(self, now: float) -> float:
        """No deadline can pass before, though signs of life may move it further."""
        return min(self._startup_at, self._run_at, self._budget_at, self._idle_at(now))

    def _idle_at(self, now: float) -> float:
        return _after(now if self._paused else self._last, self._limits.idle_timeout_seconds)

    def expired(self, now: float) -> Reason | None:
        """The deadline that has passed, the absolute ones first."""
        if now >= min(self._run_at, self._budget_at):
            return "run_timeout" if self._run_at <= self._budget_at else "budget_exceeded"
        if now >= self._startup_at:
            return "startup_timeout"
        if now >= self._idle_at(now):
            return "idle_timeout"
        return None


def _after(now: float, seconds: float | None) -> float:
    return math.inf if seconds is None else now + seconds
