"""One run, from admission to the last trace of its child: the script of a child's life.

Owns the tasks of a run and the order of its ending. Every wait in it is bounded: the conversation by the clock, the
ending by the graces of `Limits`. Runs in a task of the runner's, shielded from the caller, so that nothing can break
its clean-up.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.lowlevel

from acp_client.admission.gate import Ticket
from acp_client.logs import clean_with, get_logger
from acp_client.loop.waits import LazyEvent
from acp_client.outcome.result import RunResult
from acp_client.policy.meter import Ledger
from acp_client.process.child import AgentProcess
from acp_client.process.host import Helpers, TaskHost
from acp_client.process.log_text import clean
from acp_client.process.spawn import SpawnError
from acp_client.process.table import ProcessTable
from acp_client.prompt import Briefing
from acp_client.protocol.peer import Peer
from acp_client.protocol.transport import Transport
from acp_client.record.nothing import NoTranscript
from acp_client.record.place import OneFile, Transcripts
from acp_client.run.child.facts import gather_facts
from acp_client.run.child.start import leave_nothing, start_cold
from acp_client.run.child.stderr import Stderr
from acp_client.run.conversation import Conversation
from acp_client.run.report import Draft, broken_result, build_result
from acp_client.run.teardown import Teardown
from acp_client.run.verdict import Verdict
from acp_client.session.ending import Ending
from acp_client.session.events import RunStarted
from acp_client.session.stream import EventHub
from acp_client.spec import AgentSpec
from acp_client.structured.wanted import NOTHING_WANTED, Wanted
from acp_client.warm.pool import Pool

if TYPE_CHECKING:
    from acp_client.host_tools.web import WebHost
    from acp_client.record.transcript import Transcript
    from acp_client.record.writer import Writer

clean_with(clean)


class Life:
    """The inner side of a run. `handle.Run` is what the caller holds."""

    def __init__(
        self,
        spec: AgentSpec,
        prompt: Sequence[dict[str, Any]] | Briefing,
        run_id: str,
        table: ProcessTable,
        ledger: Ledger | None = None,
        approval_cap_seconds: float | None = None,
        wanted: Wanted = NOTHING_WANTED,
    ) -> None:
        self.spec: Final = spec
        self.hub: Final = EventHub(spec.limits.max_events_buffered)
        self.answered: Final = LazyEvent()
        self.finished: Final = LazyEvent()
        self.answer: RunResult | None = None
        self.result: RunResult | None = None
        self.on_end: Callable[[], None] | None = None
        self.warm: Pool | None = None
        self.host: TaskHost | None = None
        self._table = table
        self._began = time.monotonic()
        self._facts = gather_facts(spec, run_id)
        self._facts.approval_cap_seconds = approval_cap_seconds
        self._facts.call_path = prompt.call_path if isinstance(prompt, Briefing) else ""
        self._verdict = Verdict()
        self._given = (prompt, ledger, wanted)
        # Nothing of it can end the run before its child is there, nor adds to its result.
        self._is_plain = ledger is None and spec.budget is None and wanted.output_type is None and not spec.host_tools
        self._draft: Final = Draft()
        self._transcript: Transcript | NoTranscript = NoTranscript()

    @functools.cached_property
    def _talk(self) -> Conversation:
        """Made when it is needed: many runs may wait for their turn."""
        prompt, ledger, wanted = self._given
        return Conversation(self.spec, prompt, self._facts, self.hub, self._verdict, ledger, wanted)

    def offer_tools(self, web: Callable[[], WebHost]) -> None:
        """Let the agent call the tools of its spec, if it has any."""
        if not self._is_plain:
            self._talk.offer_tools(web)

    def record(self, transcripts: Transcripts | OneFile, writer: Writer) -> None:
        """Keep a transcript, which `writer` writes."""
        from acp_client.record.transcript import transcript_of  # noqa: PLC0415  # most runs have none

        facts = self._facts
        transcript = transcript_of(self.spec, facts.run_id, transcripts, writer, cwd=facts.cwd, depth=facts.depth.here)
        self._transcript, facts.place = transcript, transcript.place
        self._talk.session.audit.on_record = transcript.permission
        if self._talk.offering is not None:
            self._talk.offering.on_record = transcript.host_tool

    def limit_depth(self, *levels: int | None) -> None:
        """Levels of runs below this process that there may be; a run that would be deeper has ended with this."""
        for limit in levels:
            self._facts.depth = self._facts.depth.limited(limit)
        refusal = self._facts.depth.refusal()
        if refusal is not None:
            self._verdict.decide(Ending("depth_exceeded", refusal, "spawn"))

    @property
    def ending(self) -> Ending | None:
        """The first terminal cause, once there is one."""
        return self._verdict.ending

    def cancel(self) -> None:
        """The caller wants it to end."""
        session = self._talk.session
        self._verdict.decide(Ending("cancelled", "", session.stage, session.open_request))

    def kill(self) -> None:
        """The caller wants it to end now: no grace for the process group."""
        self.cancel()
        if self._facts.process is not None:
            self._facts.process.kill()

    async def live(self, ticket: Ticket) -> None:
        """The whole life; the result is there when it returns. Raises only a native cancel, as a closing loop does."""
        self._facts.on_session = ticket.started
        with anyio.CancelScope(shield=True):
            try:
                if not ticket.admitted.is_set():
                    await self._verdict.interrupt(ticket.admitted.wait)
                self._facts.timings["queued"] = time.monotonic() - self._began
                if self.ending is None:
                    await self._spawn_and_run(ticket)
            except Exception:  # noqa: BLE001  # the boundary: our fault must not become the caller's exception
                get_logger(__name__).exception("run failed inside", run_id=self._facts.run_id)
                self._verdict.decide(Ending("internal_error", "", self._talk.session.stage))
            finally:
                self.cancel()  # decides only where nothing has: the loop is being closed
                try:
                    await leave_nothing(self._facts, self.spec)
                    await self._transcript.conclude(self._facts.redactor, self._report)
                finally:
                    self._settle()

    async def _spawn_and_run(self, ticket: Ticket) -> None:
        begin = self._talk_begins
        if not self._is_plain:
            begin()
            if self.ending is not None:
                return
        self._transcript.begin(self._facts.redactor)
        warm = None if self.warm is None else await self.warm.take(self.spec, self._facts.plan())
        try:
            process = await start_cold(self._facts, self._table, begin) if warm is None else self._facts.adopt(warm)
        except SpawnError as error:
            self._verdict.decide(Ending("spawn_failed", str(error), "spawn"))
            return
        ticket.spawned(process.pid)
        begin()
        self._talk.clock.forgive(self._facts.waited_for_thread)
        stderr = Stderr(self._talk.clock, self._facts, self.hub, self._transcript)
        for data in warm.stderr if warm is not None else ():
            stderr.feed(data)
        self.hub.put(RunStarted(self._facts.run_id, self.spec.label, process.pid))
        self.hub.wake()
        await self._run(process, process.transport if warm is None else warm.transport, stderr)

    def _talk_begins(self) -> None:
        """Idempotent."""
        if self._talk.clock.began == math.inf:
            self._talk.begin()

    async def _run(self, process: AgentProcess, transport: Transport, stderr: Stderr) -> None:
        assert self.host is not None  # the runner has set it
        session, helpers = self._talk.session, Helpers(self.host)
        transport, max_bytes = self._transcript.tap(transport), self.spec.limits.max_frame_bytes
        peer = session.peer = Peer(transport, session, session.dispatcher(), max_frame_bytes=max_bytes)
        process.watch(helpers.start)
        stderr.drain(process, helpers.start)
        peer.open(helpers.start)
        deadlines = self._talk.deadlines(helpers.start)
        deadlines.watch()
        try:
            if self._talk.offering is None:
                await helpers.attend(self._talk_and_end(peer, process))
            else:
                async with anyio.create_task_group() as tasks:
                    self._talk.offering.join(tasks)
                    await helpers.attend(self._talk_and_end(peer, process))
                    tasks.cancel_scope.cancel()
        finally:
            deadlines.stop()
            peer.close()

    async def _talk_and_end(self, peer: Peer, process: AgentProcess) -> None:
        end = Teardown(self.spec, self._facts, self._talk, peer, process)
        await self._verdict.interrupt(self._talk.hold)
        await end.wind_down(self.ending)
        if self.answered.is_awaited or not self._is_plain:  # a budget's time ends here, whoever asks for it
            peer.read_pending()  # the answer has what is in the pipe by now
            self.answer_now()
            self.answered.set()
            await anyio.lowlevel.checkpoint()  # whoever waits for it goes first
        self.answered.set()
        await end.finish(self.ending, self._report if self._is_plain else None)

    def answer_now(self) -> RunResult:
        """What is to be said once the turn is decided; the same for all who ask."""
        if self.answer is None:
            self.answer = self.result or self._report()
        return self.answer

    def _report(self) -> RunResult:
        assert self.ending is not None  # only asked for once decided
        facts, talk = self._facts, self._talk
        facts.timings["total"] = time.monotonic() - self._began
        facts.timings |= facts.done_before
        facts.dropped_events = self.hub.dropped
        if talk.session.first_chunk_at is not None:
            facts.timings["first_chunk"] = talk.session.first_chunk_at - talk.prompted_at
        if self._is_plain:
            result = self._draft.complete(facts, talk.session, self.ending, talk.answering)
        else:
            result = build_result(facts, talk.session, self.ending, talk.spending.report(), talk.answering)
        result = self._transcript.add_to(result)
        return result if talk.offering is None else talk.offering.add_to(result)

    def _settle(self) -> None:
        self._transcript.abandon()
        self._talk.session.turn.phase = "closed"
        self._talk.spending.close()
        try:
            self.result = self._report()
        except Exception:  # noqa: BLE001  # the boundary: who waits for the result must not wait for ever
            get_logger(__name__).exception("the result cannot be put together", run_id=self._facts.run_id)
            self.result = broken_result(self._facts.run_id)
        self.hub.close(self.result)
        self.answered.set()
        self.finished.set()
        if self.on_end is not None:
            self.on_end()
