"""How a run ends once it is decided: the agent is told, its tail is read, its process goes, and all that it left.

Owns the order, and how long each step may take.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import anyio

from acp_client.loop.waits import LazyEvent
from acp_client.process.child import AgentProcess, ladder
from acp_client.protocol.peer import Peer
from acp_client.run.child.facts import Facts
from acp_client.run.conversation import Conversation
from acp_client.session.ending import Ending
from acp_client.session.session import Session
from acp_client.spec import AgentSpec

EXIT_STATUS_SECONDS: Final = 0.25
"""After EOF, how long the exit status is waited for, so that the failure can name it."""
ANSWER_SECONDS: Final = 0.5
"""For requests that came with the end of the turn: a preset answers them at once, a person is not waited for."""
LATE_TOTAL_SECONDS: Final = 2.0
"""The most that a stream of late updates can hold up the end of a run."""

HOPELESS: Final = frozenset({"startup_timeout", "cancelled", "budget_exceeded"})
"""Without a session these leave nobody to be polite to: no grace for EOF."""


class Teardown:
    """`wind_down`, then `finish`. Run them shielded."""

    def __init__(self, spec: AgentSpec, facts: Facts, talk: Conversation, peer: Peer, process: AgentProcess) -> None:
        self._limits: Final = spec.limits
        self._facts = facts
        self._talk = talk
        self._peer = peer
        self._process = process

    async def wind_down(self, ending: Ending | None) -> None:
        """Tell the agent that it is over, if it does not know, and take what it still says."""
        session, peer, process = self._talk.session, self._peer, self._process
        if ending is None or ending.reason != "end_turn":
            self._talk.close()
        if self._facts.prompt_sent and not self._talk.settled.is_set() and not peer.eof.is_set():
            peer.notify("session/cancel", {"sessionId": session.id})
            with anyio.move_on_after(self._limits.cancel_grace_seconds):
                await self._talk.settled.wait()
        if ending is not None and ending.reason == "agent_exited":
            with anyio.move_on_after(EXIT_STATUS_SECONDS):
                await process.exited.wait()
            self._facts.outlived_stdout = not process.exited.is_set()

    async def finish(self, ending: Ending | None, draft: Callable[[], object] | None) -> None:
        """Stop the process, in order; nothing of it is left. While it goes, `draft` is called: there is time."""
        limits, peer, process = self._limits, self._peer, self._process
        began = time.monotonic()
        if self._talk.session.turn.phase == "late":
            await _await_quiet(self._talk.session, peer.eof, limits.late_update_grace_seconds)
        if peer.is_busy:
            with anyio.move_on_after(ANSWER_SECONDS):
                await peer.answer_all()
        self._talk.close()
        if peer.is_busy:
            with anyio.move_on_after(limits.cancel_grace_seconds):
                await peer.answer_all()
                await peer.flush()
        peer.close_send()
        if draft is not None:
            draft()
        started = self._talk.session.id is not None or ending is None or ending.reason not in HOPELESS
        eof_seconds = limits.eof_grace_seconds if started else 0
        await process.stop(ladder(eof_seconds, limits.term_grace_seconds, limits.kill_wait_seconds))
        if not (peer.eof.is_set() and process.stderr_ended.is_set()):
            with anyio.move_on_after(limits.kill_wait_seconds):  # what is in the pipes is read before they are closed
                await peer.eof.wait()
                await process.stderr_ended.wait()
        process.release()
        self._facts.timings["teardown"] = time.monotonic() - began


async def _await_quiet(session: Session, eof: LazyEvent, grace_seconds: float) -> None:
    end = anyio.current_time() + LATE_TOTAL_SECONDS
    while not eof.is_set():
        quiet_at = min(session.last_read + grace_seconds, end)
        if anyio.current_time() >= quiet_at:
            return
        with anyio.move_on_at(quiet_at):
            await eof.wait()
