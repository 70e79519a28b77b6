"""What is said with the agent: the handshake, the prompt, and the clock that bounds both.

Owns the order of the requests and what their answers mean for the run. Everything in it is broken off by the first
terminal cause.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

import anyio

from acp_client.protocol.peer import Settled
from acp_client.protocol.states import ResultReceived
from acp_client.run.facts import Facts
from acp_client.run.verdict import Verdict
from acp_client.session import connection
from acp_client.session.clock import Clock
from acp_client.session.ending import (
    STOP_REASONS,
    EndRun,
    ending_of,
    ending_of_timeout,
    ending_of_turn,
)
from acp_client.session.events import SessionStarted
from acp_client.session.session import Session
from acp_client.session.stream import EventHub
from acp_client.spec import AgentSpec

HELD_UP_SECONDS: Final = 0.1
"""A timer that is this late means that our own loop was blocked: what the child wrote meanwhile is read first."""

OWN_WORDS: Final = frozenset({*STOP_REASONS.values(), "unknown_stop_reason", "agent_error"})
"""Endings that are the agent's own word, after which it may still send its tail."""


class Conversation:
    """One session, one prompt. `settled` is set when the prompt has its answer, or can have none any more."""

    def __init__(
        self, spec: AgentSpec, prompt: Sequence[dict[str, Any]], facts: Facts, hub: EventHub, verdict: Verdict
    ) -> None:
        self.clock: Final = Clock(spec.limits)
        self.session: Final = Session(spec, facts.run_id, hub, self.clock, verdict.decide)
        self.settled: Final = anyio.Event()
        self.prompted_at = 0.0
        self._spec = spec
        self._prompt = prompt
        self._facts = facts
        self._hub = hub
        self._verdict = verdict

    async def hold(self) -> None:
        """From the handshake to the answer; how it ends is decided on the way."""
        try:
            await self._handshake()
            await self._ask()
        except EndRun as end:
            self._verdict.decide(end.ending)

    async def _handshake(self) -> None:
        session, facts = self.session, self._facts
        began = time.monotonic()
        agent = await connection.initialize(session)
        facts.agent_info = agent.info
        facts.auth_methods = connection.describe_auth(agent)
        facts.timings["initialize"] = time.monotonic() - began
        if self._spec.auth_method is not None:
            await connection.authenticate(session, agent, self._spec.auth_method)
        began = time.monotonic()
        answer = await connection.new_session(session, agent, self._spec, facts.cwd, session.begin)
        facts.timings["session"] = time.monotonic() - began
        self._hub.put(SessionStarted(answer.session_id, agent.info))
        self._hub.wake()
        await connection.configure(session, answer.session_id, answer, self._spec)
        connection.check_prompt(agent, self._prompt)

    async def _ask(self) -> None:
        session = self.session
        session.turn.phase = "running"
        self.prompted_at = time.monotonic()
        self._facts.prompt_sent = True
        params = {"sessionId": session.id, "prompt": list(self._prompt)}
        await session.ask("prompt", "session/prompt", params, self._on_settled)

    def _on_settled(self, outcome: Settled) -> None:
        """At the answer's place in wire order: what comes after it is late, whatever task runs next."""
        turn = self.session.turn
        self._facts.timings["prompt"] = time.monotonic() - self.prompted_at
        if isinstance(outcome, ResultReceived):
            answer = outcome.result if isinstance(outcome.result, dict) else {}
            word = answer.get("stopReason")
            self._facts.stop_reason = word if isinstance(word, str) else None
            turn.fold_prompt_usage(answer.get("usage"))
            self._verdict.decide(ending_of_turn(word))
        else:
            self._verdict.decide(ending_of(outcome, "prompt", "session/prompt"))
        ending = self._verdict.ending
        turn.phase = "late" if ending is not None and ending.reason in OWN_WORDS else "closed"
        self.settled.set()

    async def watch_clock(self) -> None:
        """Decide when a deadline passes. One timer for all of them; returns once anything is decided."""
        while self._verdict.ending is None:
            at = self.clock.next_deadline(anyio.current_time())
            await anyio.sleep_until(at)
            late = anyio.current_time() - at
            if late > HELD_UP_SECONDS:
                self.clock.forgive(late)
                await anyio.sleep(HELD_UP_SECONDS / 2)
            reason = self.clock.expired(anyio.current_time())
            if reason is not None:
                session = self.session
                ending = ending_of_timeout(reason, self._spec.limits, session.stage, session.open_request)
                self._verdict.decide(ending)
