"""One run, from admission to the last trace of its child: the script of CONTRACT's "life of a child".

Owns the tasks of a run, the first terminal cause and the order of the ending. Every wait in it is bounded: the
conversation by the clock, the ending by the graces of `Limits`. Runs in a task of the runner's, shielded from the
caller, so that nothing can break its clean-up.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import anyio

from acp_client.facts import gather_facts
from acp_client.logs import get_logger
from acp_client.outcome import REASONS, Failure, RunResult
from acp_client.process.child import AgentProcess, ladder
from acp_client.process.spawn import SpawnError, discard
from acp_client.process.table import ProcessTable
from acp_client.process.threads import in_thread
from acp_client.protocol.peer import Peer, Settled
from acp_client.protocol.states import ResultReceived
from acp_client.report import build_result
from acp_client.safe_text import printable
from acp_client.session import connection
from acp_client.session.clock import Clock
from acp_client.session.ending import STOP_REASONS, Ending, EndRun, ending_of, ending_of_timeout, ending_of_turn
from acp_client.session.events import RunStarted, SessionStarted, StderrOutput
from acp_client.session.session import Session
from acp_client.session.stream import EventHub
from acp_client.spec import AgentSpec

EXIT_STATUS_SECONDS: Final = 0.25
"""After EOF, how long the exit status is waited for, so that the failure can name it."""
LATE_TOTAL_SECONDS: Final = 2.0
"""The most that a stream of late updates can hold up the end of a run."""
HELD_UP_SECONDS: Final = 0.1
"""A timer that is this late means that our own loop was blocked: what the child wrote meanwhile is read first."""


class Life:
    """The inner side of a run. `Run` is what the caller holds."""

    def __init__(self, spec: AgentSpec, prompt: Sequence[dict[str, Any]], run_id: str, table: ProcessTable) -> None:
        self.spec: Final = spec
        self.hub: Final = EventHub(spec.limits.max_events_buffered)
        self.answered: Final = anyio.Event()
        self.finished: Final = anyio.Event()
        self.answer: RunResult | None = None
        self.result: RunResult | None = None
        self.ending: Ending | None = None
        self.on_end: Callable[[], None] | None = None
        self._prompt = prompt
        self._table = table
        self._began = time.monotonic()
        self._clock = Clock(spec.limits)
        self._session = Session(spec, run_id, self.hub, self._clock, self.decide)
        self._facts = gather_facts(spec, run_id)
        self._interruptible: anyio.CancelScope | None = None
        self._prompt_settled = anyio.Event()
        self._eof = anyio.Event()

    def decide(self, ending: Ending) -> None:
        """A terminal cause. The first one wins; later ones change nothing."""
        if self.ending is None:
            self.ending = ending
            if self._interruptible is not None:
                self._interruptible.cancel()

    def cancel(self) -> None:
        """The caller wants it to end."""
        self.decide(Ending("cancelled", "", self._session.stage, self._session.open_request))

    # ---- the script

    async def live(self, admitted: anyio.Event) -> None:
        """The whole life; the result is there when it returns. Raises only a native cancel, as a closing loop does."""
        with anyio.CancelScope(shield=True):
            try:
                await self._interrupt(admitted.wait)
                if self.ending is None:
                    await self._spawn_and_run()
            except Exception:  # noqa: BLE001  # the boundary: our fault must not become the caller's exception
                get_logger(__name__).exception("run failed inside", run_id=self._facts.run_id)
                self.decide(Ending("internal_error", "", self._session.stage))
            finally:
                self.cancel()  # decides only where nothing has: the loop is being closed
                try:
                    await self._leave_nothing()
                finally:
                    self._settle()

    async def _interrupt(self, step: Callable[[], Awaitable[object]]) -> None:
        """Await something that a terminal cause may break off."""
        with anyio.CancelScope() as scope:
            self._interruptible = scope
            if self.ending is None:
                await step()
        self._interruptible = None

    async def _spawn_and_run(self) -> None:
        self._clock.start(anyio.current_time())
        began = time.monotonic()
        try:
            spawned = await in_thread(self._facts.launch, discard)
        except SpawnError as error:
            self.decide(Ending("spawn_failed", str(error), "spawn"))
            return
        process = self._facts.process = AgentProcess(spawned, self._table)
        self._facts.timings["spawn"] = time.monotonic() - began
        self.hub.put(RunStarted(self._facts.run_id, self.spec.label, process.pid))
        await self._run(process)

    async def _run(self, process: AgentProcess) -> None:
        peer = Peer(
            process.transport,
            self._session,
            self._session.dispatcher(),
            max_frame_bytes=self.spec.limits.max_frame_bytes,
        )
        self._session.peer = peer
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.watch)
            tasks.start_soon(process.drain_stderr, self._feed_stderr)
            tasks.start_soon(self._read, peer)
            tasks.start_soon(self._watch_clock)
            await self._interrupt(self._converse)
            await self._wind_down(peer, process)
            self._settle_answer(peer)
            await self._finish(peer, process)
            tasks.cancel_scope.cancel()

    async def _read(self, peer: Peer) -> None:
        await peer.run()
        self._eof.set()

    def _feed_stderr(self, data: bytes) -> None:
        self._clock.touch(anyio.current_time())
        text = self._facts.stderr_shown.feed(data.decode(errors="replace"))
        self._facts.stderr.feed(data)
        if text:
            self.hub.put(StderrOutput(printable(text, multiline=True)))
            self.hub.wake()

    async def _watch_clock(self) -> None:
        while self.ending is None:
            at = self._clock.next_deadline(anyio.current_time())
            await anyio.sleep_until(at)
            late = anyio.current_time() - at
            if late > HELD_UP_SECONDS:
                self._clock.forgive(late)
                await anyio.sleep(HELD_UP_SECONDS / 2)
            reason = self._clock.expired(anyio.current_time())
            if reason is not None:
                session = self._session
                self.decide(ending_of_timeout(reason, self.spec.limits, session.stage, session.open_request))

    # ---- the conversation

    async def _converse(self) -> None:
        try:
            await self._handshake()
            await self._ask_prompt()
        except EndRun as end:
            self.decide(end.ending)

    async def _handshake(self) -> None:
        session, facts = self._session, self._facts
        began = time.monotonic()
        agent = await connection.initialize(session)
        facts.agent_info = agent.info
        facts.auth_methods = connection.describe_auth(agent)
        facts.timings["initialize"] = time.monotonic() - began
        if self.spec.auth_method is not None:
            await connection.authenticate(session, agent, self.spec.auth_method)
        began = time.monotonic()
        answer = await connection.new_session(session, agent, self.spec, self._facts.cwd, session.begin)
        facts.timings["session"] = time.monotonic() - began
        self.hub.put(SessionStarted(answer.session_id, agent.info))
        self.hub.wake()
        await connection.configure(session, answer.session_id, answer, self.spec)
        connection.check_prompt(agent, self._prompt)

    async def _ask_prompt(self) -> None:
        session = self._session
        session.turn.phase = "running"
        session.prompted_at = time.monotonic()
        self._facts.prompt_sent = True
        params = {"sessionId": session.id, "prompt": list(self._prompt)}
        await session.ask("prompt", "session/prompt", params, self._on_prompt_settled)

    def _on_prompt_settled(self, outcome: Settled) -> None:
        """At the answer's place in wire order: what comes after it is late, whatever task runs next."""
        session = self._session
        self._facts.timings["prompt"] = time.monotonic() - session.prompted_at
        if isinstance(outcome, ResultReceived):
            answer = outcome.result if isinstance(outcome.result, dict) else {}
            word = answer.get("stopReason")
            self._facts.stop_reason = word if isinstance(word, str) else None
            session.turn.fold_prompt_usage(answer.get("usage"))
            self.decide(ending_of_turn(word))
        else:
            self.decide(ending_of(outcome, "prompt", "session/prompt"))
        session.turn.phase = "late" if self.ending is not None and self.ending.reason in _OWN_WORDS else "closed"
        self._prompt_settled.set()

    # ---- the ending

    async def _wind_down(self, peer: Peer, process: AgentProcess) -> None:
        """Tell the agent that it is over, if it does not know, and take what it still says."""
        session = self._session
        if self.ending is None or self.ending.reason != "end_turn":
            session.permissions.close()
        if self._facts.prompt_sent and not self._prompt_settled.is_set() and not self._eof.is_set():
            peer.notify("session/cancel", {"sessionId": session.id})
            with anyio.move_on_after(self.spec.limits.cancel_grace_seconds):
                await self._prompt_settled.wait()
        if self.ending is not None and self.ending.reason == "agent_exited":
            with anyio.move_on_after(EXIT_STATUS_SECONDS):
                await process.exited.wait()
            self._facts.outlived_stdout = not process.exited.is_set()

    def _settle_answer(self, peer: Peer) -> None:
        """The turn is decided: take what is in the pipe, then say so."""
        peer.read_pending()
        self.answer = self._report()
        self.answered.set()

    async def _finish(self, peer: Peer, process: AgentProcess) -> None:
        limits = self.spec.limits
        began = time.monotonic()
        if self._session.turn.phase == "late":
            await self._await_quiet(limits.late_update_grace_seconds)
        with anyio.move_on_after(limits.cancel_grace_seconds):
            await peer.flush()
        peer.close_send()
        started = self._session.id is not None or self.ending is None or self.ending.reason not in _HOPELESS
        eof_seconds = limits.eof_grace_seconds if started else 0
        await process.stop(ladder(eof_seconds, limits.term_grace_seconds, limits.kill_wait_seconds))
        with anyio.move_on_after(limits.kill_wait_seconds):  # what is in the pipes is read before they are closed
            await self._eof.wait()
            await process.stderr_ended.wait()
        process.release()
        self._facts.timings["teardown"] = time.monotonic() - began

    async def _await_quiet(self, grace_seconds: float) -> None:
        end = anyio.current_time() + LATE_TOTAL_SECONDS
        while not self._eof.is_set():
            quiet_at = min(self._session.last_read + grace_seconds, end)
            if anyio.current_time() >= quiet_at:
                return
            with anyio.move_on_at(quiet_at):
                await self._eof.wait()

    async def _leave_nothing(self) -> None:
        """Only after a fault of ours, or a native cancel: what the script did not stop is stopped now."""
        process = self._facts.process
        if process is not None and not process.released:
            try:
                await process.end(self.spec.limits.kill_wait_seconds)
            except Exception:  # noqa: BLE001  # the boundary, as above; it is released all the same
                get_logger(__name__).exception("a child was not stopped in order", run_id=self._facts.run_id)

    def _report(self) -> RunResult:
        assert self.ending is not None  # only asked for once decided
        self._facts.timings["total"] = time.monotonic() - self._began
        self._facts.dropped_events = self.hub.dropped
        if self._session.first_chunk_at is not None:
            self._facts.timings["first_chunk"] = self._session.first_chunk_at - self._session.prompted_at
        return build_result(self._facts, self._session, self.ending)

    def _settle(self) -> None:
        self._session.turn.phase = "closed"
        try:
            self.result = self._report()
        except Exception:  # noqa: BLE001  # the boundary: who waits for the result must not wait for ever
            get_logger(__name__).exception("the result cannot be put together", run_id=self._facts.run_id)
            failure = Failure(stage="teardown", message=REASONS["internal_error"].meaning)
            self.result = RunResult(status="error", reason="internal_error", failure=failure, run_id=self._facts.run_id)
        self.answer = self.answer or self.result
        self.hub.close(self.result)
        self.answered.set()
        self.finished.set()
        if self.on_end is not None:
            self.on_end()


_OWN_WORDS: Final = frozenset({*STOP_REASONS.values(), "unknown_stop_reason", "agent_error"})
"""Endings that are the agent's own word, after which it may still send its tail."""

_HOPELESS: Final = frozenset({"startup_timeout", "cancelled"})
"""Without a session these leave nobody to be polite to: no grace for EOF."""
