"""The one timer of a run: it looks at the clock when a deadline may have passed, and decides if one has.

Owns when to look, and what is no fault of the agent's: that our own loop was held up, or had not read yet.
"""

from __future__ import annotations

from typing import Final

import anyio
import anyio.lowlevel

from acp_client.loop.waits import Alarm, Start
from acp_client.run.spending import Spending
from acp_client.run.verdict import Verdict
from acp_client.session.clock import Clock
from acp_client.session.ending import ending_of_timeout
from acp_client.session.session import Session
from acp_client.spec import Limits

HELD_UP_SECONDS: Final = 0.1
"""A timer that is this late means that our own loop was blocked: the agent is not charged for it."""

READING_TURNS: Final = 3
"""Turns of the loop in which what waits in the pipes is read before a deadline is judged. One is enough for a reader
that the loop wakes with the timer, in any order; two are to spare."""


class Deadlines:
    """Watches from `watch` to `stop`, in the group whose `start_soon` is `start`."""

    def __init__(
        self, limits: Limits, start: Start, *, clock: Clock, spending: Spending, session: Session, verdict: Verdict
    ) -> None:
        self._limits = limits
        self._start = start
        self._clock = clock
        self._spending = spending
        self._session = session
        self._verdict = verdict
        self._alarm: Final = Alarm(self._look)
        self._look_at = 0.0

    def watch(self) -> None:
        """From the beginning of the run on."""
        self._look_after(self._clock.began)

    def stop(self) -> None:
        """It is decided. Idempotent."""
        self._alarm.cancel()

    def _look_after(self, looked: float) -> None:
        self._look_at = self._clock.next_look(looked)
        self._alarm.set(self._look_at, self._start)

    def _look(self) -> None:
        if self._verdict.ending is not None:
            return
        clock, looked = self._clock, anyio.current_time()
        if looked - self._look_at > HELD_UP_SECONDS:
            clock.forgive(looked - self._look_at)
        if clock.warning_due(looked):
            self._spending.tick(looked)
        if clock.expired(looked) is None:
            self._look_after(looked)
        else:
            self._start(self._judge, looked)

    async def _judge(self, looked: float) -> None:
        for _ in range(READING_TURNS):
            await anyio.lowlevel.checkpoint()
        self._decide_if_expired()
        if self._verdict.ending is None:
            self._look_after(looked)

    def _decide_if_expired(self) -> None:
        now = anyio.current_time()
        reason = self._clock.expired(now)
        if reason == "budget_exceeded":
            self._spending.tick(now)
        elif reason is not None:
            session = self._session
            self._verdict.decide(ending_of_timeout(reason, self._limits, session.stage, session.open_request))
