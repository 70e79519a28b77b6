"""The budget of a run at work: what its meter finds becomes an event, a log line and, over a limit, the end.

Owns those words and that moment. Counting is the meter's, the timer the clock's, the polite ending `life`'s.
"""

from __future__ import annotations

import anyio

from acp_client.logs import get_logger
from acp_client.policy.budget import BudgetReport, Finding, Reached, Unreported, say_exceeded
from acp_client.policy.meter import Ledger, Meter
from acp_client.run.child.facts import Facts
from acp_client.run.verdict import Verdict
from acp_client.session.clock import Clock
from acp_client.session.ending import Ending
from acp_client.session.events import BudgetUnreported, BudgetWarning
from acp_client.session.session import Session
from acp_client.session.stream import EventHub
from acp_client.spec import AgentSpec


class Spending:
    """What one run spends. Where neither it nor its runner has a budget, nothing is counted and nothing done."""

    def __init__(
        self,
        spec: AgentSpec,
        ledger: Ledger | None,
        *,
        facts: Facts,
        session: Session,
        clock: Clock,
        hub: EventHub,
        verdict: Verdict,
    ) -> None:
        self._facts = facts
        self._session = session
        self._clock = clock
        self._hub = hub
        self._verdict = verdict
        self._reported_at: float | None = None
        self._meter: Meter | None = None
        if spec.budget is not None or ledger is not None:
            self._meter = session.turn.meter = Meter(spec.budget, ledger, self._on_finding)
            self._meter.join(anyio.current_time())

    def begin(self, now: float) -> None:
        """The run begins: its time does, and that of its runner if it is the first one."""
        if self._meter is not None:
            self._meter.begin(now)
            self.tick(now)

    def tick(self, now: float) -> None:
        """Look at the time, and say when to look again."""
        if self._meter is not None:
            self._meter.tick(now)
            warning, end = self._meter.seconds_left(now)
            self._clock.bind_budget(now + warning, now + end)

    def end_turn(self) -> None:
        """The prompt has its answer, or can have none any more."""
        if self._meter is not None:
            self._meter.on_turn_end()

    def report(self) -> BudgetReport | None:
        """What was spent; of time, until it was asked for first: the answer is there then, teardown is to come."""
        if self._meter is None:
            return None
        if self._reported_at is None:
            self._reported_at = anyio.current_time()
        return self._meter.report(self._reported_at, asked=self._facts.prompt_sent)

    def close(self) -> None:
        """The run is over."""
        if self._meter is not None:
            self._meter.end(asked=self._facts.prompt_sent)

    # ---- what the meter finds

    def _on_finding(self, found: Finding) -> None:
        if isinstance(found, Unreported):
            self._warn_of_unreported(found)
        elif found.over:
            self._end(found)
        else:
            self._hub.put(BudgetWarning(found.figure, found.spent, found.limit, found.shared))
            self._hub.wake()

    def _warn_of_unreported(self, found: Unreported) -> None:
        get_logger(__name__).warning(
            "a limit of the budget cannot hold", run_id=self._facts.run_id, limit=f"max_{found.figure}", why=found.why
        )
        self._hub.put(BudgetUnreported(found.figure, found.why))
        self._hub.wake()

    def _end(self, found: Reached) -> None:
        """At this place in wire order: what is asked after it, even in the same read, is not allowed any more."""
        session = self._session
        session.permissions.close()  # also after the answer, which may overtake what was asked before it
        if self._verdict.ending is not None:
            return
        stage = "spawn" if self._facts.process is None else session.stage
        self._verdict.decide(Ending("budget_exceeded", say_exceeded(found), stage, session.open_request))
