"""What is said with the agent: the handshake, the prompt, the repairs of its answer.

Owns the order of the requests and what their answers mean for the run. Everything in it is broken off by the first
terminal cause.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import anyio

from acp_client.logs import get_logger
from acp_client.loop.waits import LazyEvent, Start
from acp_client.policy.meter import Ledger
from acp_client.prompt import Briefing
from acp_client.protocol.peer import Settled
from acp_client.protocol.states import ResultReceived
from acp_client.run.answering import Answering
from acp_client.run.child.facts import Facts
from acp_client.run.deadlines import Deadlines
from acp_client.run.spending import Spending
from acp_client.run.verdict import Verdict
from acp_client.session import connection
from acp_client.session.clock import Clock
from acp_client.session.ending import (
    STOP_REASONS,
    Ending,
    EndRun,
    ending_of,
    ending_of_turn,
)
from acp_client.session.events import SessionStarted
from acp_client.session.extension import EXTENSION_KEY, extension_in
from acp_client.session.session import Session
from acp_client.session.stream import EventHub
from acp_client.spec import AgentSpec
from acp_client.structured.wanted import NOTHING_WANTED, Wanted

if TYPE_CHECKING:
    from acp_client.host_tools.web import WebHost
    from acp_client.run.offering import Offering

OWN_WORDS: Final = frozenset({*STOP_REASONS.values(), "unknown_stop_reason", "agent_error"})
"""Endings that are the agent's own word, after which it may still send its tail."""


class Conversation:
    """One session, one prompt, and perhaps repairs of its answer, each a turn of its own.

    `settled` is set when the prompt of the turn has its answer, or can have none any more.
    """

    def __init__(
        self,
        spec: AgentSpec,
        prompt: Sequence[dict[str, Any]] | Briefing,
        facts: Facts,
        hub: EventHub,
        verdict: Verdict,
        ledger: Ledger | None,
        wanted: Wanted = NOTHING_WANTED,
    ) -> None:
        self.clock: Final = Clock(spec.clock_limits)
        self.session: Final = _session(spec, facts, hub, self.clock, verdict)
        self.spending: Final = Spending(
            spec, ledger, facts=facts, session=self.session, clock=self.clock, hub=hub, verdict=verdict
        )
        self.answering: Final = Answering(wanted, self.session)
        self.settled = LazyEvent()
        self.prompted_at = 0.0
        self._turns = 0
        self._spec = spec
        self._briefing = prompt if isinstance(prompt, Briefing) else Briefing(prompt)
        self._prompt = self._briefing.task
        self._meta: dict[str, Any] = {}
        self._extension: Mapping[str, Any] = {}
        self._facts = facts
        self._hub = hub
        self._verdict = verdict
        self.offering: Offering | None = None

    def offer_tools(self, web: Callable[[], WebHost]) -> None:
        """Let the agent call the tools of its spec, over http where it takes that."""
        if self._spec.host_tools or self.answering.is_asked:
            from acp_client.run.offering import Offering  # noqa: PLC0415  # most runs have none

            self.offering = Offering(
                self._spec, facts=self._facts, session=self.session, clock=self.clock, hub=self._hub, web=web
            )

    def close(self) -> None:
        """Nothing more is permitted to the agent, and no tool of ours goes on."""
        self.session.permissions.close()
        if self.offering is not None:
            self.offering.close()

    def begin(self) -> None:
        """Time begins to count. A budget that is spent already decides at once."""
        now = anyio.current_time()
        self.clock.start(now)
        self.spending.begin(now)
        fault = self.offering.fault() if self.offering is not None else None
        if fault is not None:
            self._verdict.decide(fault)

    def deadlines(self, start: Start) -> Deadlines:
        """Who bounds all this, in the group whose `start_soon` is `start`."""
        return Deadlines(
            self._spec.limits,
            start,
            clock=self.clock,
            spending=self.spending,
            session=self.session,
            verdict=self._verdict,
        )

    async def hold(self) -> None:
        """From the handshake to the answer; how it ends is decided on the way."""
        try:
            await self._handshake()
            await self._take_turn()
            while await self._is_unfit():
                self._prompt = self.answering.ask_again()
                self._meta = self._place_meta() | self.answering.meta()
                await self._take_turn()
        except EndRun as end:
            self._verdict.decide(end.ending)

    async def _take_turn(self) -> None:
        await self.session.approve_turn(self._prompt, self._turns)
        self._turns += 1
        await self._ask()

    async def _is_unfit(self) -> bool:
        """True if the turn ended well, without what is wanted; its tail, which some agents send late, is waited for."""
        if self._verdict.ending is None:
            await anyio.sleep(self._spec.limits.late_update_grace_seconds)
            if self.answering.is_there():
                self._verdict.decide(ending_of_turn("end_turn"))
        return self._verdict.ending is None

    async def _handshake(self) -> None:
        session, facts = self.session, self._facts
        began = time.monotonic()
        agent = await connection.initialize(session, forms=session.serves_forms)
        facts.agent_info = agent.info
        facts.auth_methods = connection.describe_auth(agent)
        facts.timings["initialize"] = time.monotonic() - began
        if self._spec.auth_method is not None:
            await connection.authenticate(session, agent, self._spec.auth_method)
        began = time.monotonic()
        ours = await self._open_tools(agent)
        answer = await connection.new_session(session, agent, self._spec, facts.cwd, session.begin, ours)
        facts.timings["session"] = time.monotonic() - began
        facts.on_session()
        self._hub.put(SessionStarted(answer.session_id, agent.info))
        self._hub.wake()
        await connection.configure(session, answer.session_id, answer, self._spec)
        self._fit_prompt(agent)
        if self.offering is not None:
            await self.offering.await_listing()

    async def _open_tools(self, agent: connection.Agent) -> list[dict[str, Any]]:
        """Our server for `session/new`. What a child of ours completes with comes over our extension."""
        extended = extension_in(agent.raw_capabilities).get("complete") is True
        if self.offering is None or (extended and not self._spec.host_tools):
            return []
        return await self.offering.open(agent, None if extended else self.answering.tool())

    def _place_meta(self) -> dict[str, Any]:
        return self._facts.place_meta() if self._extension else {}

    def _fit_prompt(self, agent: connection.Agent) -> None:
        """The prompt in the form that this agent takes; and what a child of ours is told beside it."""
        ours = self._extension = extension_in(agent.raw_capabilities)
        embedded = agent.capabilities.prompt_capabilities.embedded_context
        extended = ours.get("history") is True
        self._prompt = self._briefing.fit(extension=extended, embedded=embedded)
        if ours:
            self._meta = self._place_meta() | (dict(self._briefing.meta) if extended else {})
        if "sub_agents" in self._briefing.meta and ours.get("sub_agents") is not True:
            self._meta.pop("sub_agents", None)
            get_logger(__name__).warning("an agent takes no sub-agents of its own; they are ignored", agent=agent.info)
        connection.check_prompt(agent, self._prompt)
        offered = self.offering is not None and self.offering.has_complete
        self._prompt = self.answering.ask(self._prompt, extended=ours.get("complete") is True, tool=offered)
        self._meta |= self.answering.meta()

    async def _ask(self) -> None:
        session = self.session
        self.settled = LazyEvent()
        self.answering.begin_turn()
        session.turn.phase = "running"
        self.prompted_at = self.prompted_at or time.monotonic()
        self._facts.prompt_sent = True
        params: dict[str, Any] = {"sessionId": session.id, "prompt": list(self._prompt)}
        if self._meta:
            params["_meta"] = {EXTENSION_KEY: self._meta}
        await session.ask("prompt", "session/prompt", params, self._on_settled)

    def _on_settled(self, outcome: Settled) -> None:
        """At the answer's place in wire order: what comes after it is late, whatever task runs next."""
        turn = self.session.turn
        self._facts.timings["prompt"] = time.monotonic() - self.prompted_at
        if isinstance(outcome, ResultReceived):
            answer = outcome.result if isinstance(outcome.result, dict) else {}
            word = answer.get("stopReason")
            self._facts.stop_reason = word if isinstance(word, str) else None
            self._decide_turn(ending_of_turn(word))
            self.session.note_trace(answer)
            turn.fold_prompt_usage(answer.get("usage"))  # a turn that is complete is not ended by what it cost
        else:
            self._verdict.decide(ending_of(outcome, "prompt", "session/prompt"), by_itself=True)
        self.spending.end_turn()
        ending = self._verdict.ending
        turn.phase = "late" if ending is None or ending.reason in OWN_WORDS else "closed"
        self.settled.set()

    def _decide_turn(self, ending: Ending) -> None:
        """A turn that ends well decides only with what is wanted; `hold` goes on otherwise."""
        if ending.reason != "end_turn" or self._verdict.ending is not None or self.answering.is_there():
            self._verdict.decide(ending, by_itself=True)


def _session(spec: AgentSpec, facts: Facts, hub: EventHub, clock: Clock, verdict: Verdict) -> Session:
    cap = facts.approval_cap_seconds
    session = Session(spec, facts.run_id, hub, clock, verdict.decide, cwd=facts.cwd, approval_cap_seconds=cap)
    session.people.redact = lambda text: facts.redactor.redact(text)  # noqa: PLW0108  # the redactor that is made later knows more
    return session
