"""All deadlines of one run behind one timer. Pure: it is told the time and says what has run out.

Owns which deadline counts when. Times are seconds of a monotonic clock, so a clock that is set back changes nothing.
"""

from __future__ import annotations

import math

from acp_client.outcome import Reason
from acp_client.spec import Limits


class Clock:
    """`touch` on every sign of life; `expired` says which deadline has passed, if any."""

    __slots__ = ("_last", "_limits", "_paused", "_run_at", "_startup_at")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._last = math.inf
        self._paused = 0
        self._startup_at = math.inf
        self._run_at = math.inf

    def start(self, now: float) -> None:
        """The run begins: waiting for admission is not its time."""
        self._last = now
        self._startup_at = _after(now, self._limits.startup_timeout_seconds)
        self._run_at = _after(now, self._limits.run_timeout_seconds)

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

    def next_deadline(self, now: float) -> float:
        """When to look again: no deadline can pass before, though signs of life may move it further."""
        return min(self._startup_at, self._run_at, self._idle_at(now))

    def _idle_at(self, now: float) -> float:
        return _after(now if self._paused else self._last, self._limits.idle_timeout_seconds)

    def expired(self, now: float) -> Reason | None:
        """The deadline that has passed, the absolute one first."""
        if now >= self._run_at:
            return "run_timeout"
        if now >= self._startup_at:
            return "startup_timeout"
        if now >= self._idle_at(now):
            return "idle_timeout"
        return None


def _after(now: float, seconds: float | None) -> float:
    return math.inf if seconds is None else now + seconds
