"""A run as its caller holds it: events, cancel, answer and result. Owns nothing but the view."""

from __future__ import annotations

from acp_client.outcome.result import RunResult
from acp_client.run.life import Life
from acp_client.session.stream import EventStream
from acp_client.spec import AgentSpec


class Run:
    """One run in progress, made by `Runner.start`. Every method may be called from any task, any number of times.

    From another thread only through the loop's own: `anyio.from_thread.run(run.cancel)`, say.
    """

    def __init__(self, run_id: str, life: Life) -> None:
        self.id = run_id
        self._life = life

    def __repr__(self) -> str:
        ending = self._life.ending
        return f"<Run {self.id} of {self._life.spec.label}: {ending.reason if ending else 'running'}>"

    @property
    def spec(self) -> AgentSpec:
        """What it runs."""
        return self._life.spec

    def events(self) -> EventStream:
        """An async iterator over what happens from now on; the first reader also gets what came before.

        So a second call, while the first reader goes on or after it has left, brings only later events: one that is
        made when the run is over brings `RunEnded` and nothing else. What happened is in the result, whoever read.

        Bounded: a reader that is too slow loses events (`EventsLost` says how many) and never holds the run. Ends
        after `RunEnded`. Safe to cancel and to leave at any time.
        """
        return self._life.hub.stream()

    async def cancel(self) -> None:
        """End the run as `aborted`, reason `cancelled`. Returns at once: wait for `result`. Idempotent.

        A run that waits for admission starts nothing; one in its turn gets `session/cancel` and the grace for it.
        """
        self.cancel_now()

    def cancel_now(self) -> None:
        """`cancel` for callers that cannot await; in the thread of the event loop only."""
        self._life.cancel()

    def kill_now(self) -> None:
        """`cancel_now` without the graces: the process group is killed at once, whatever it was doing.

        For the impatient: unsaved work of the agent is lost. What left the group (`setsid`) is swept after it, with
        the usual `term_grace_seconds`. Idempotent; nothing more than a cancel before the process is there.
        """
        self._life.kill()

    @property
    def done(self) -> bool:
        """True once `result` returns at once: nothing is left of the child."""
        return self._life.finished.is_set()

    async def answer(self) -> RunResult:
        """The result as soon as the turn is decided, before the child is gone: no exit code, no late text.

        Asked for later, it has what has come by then; after the end it is the result. Safe to cancel; the run goes on.
        """
        await self._life.answered.wait()
        return self._life.answer_now()

    async def result(self) -> RunResult:
        """The result when nothing is left of the child: the same object for all callers. Never raises for the child.

        Safe to cancel; the run goes on.
        """
        await self._life.finished.wait()
        assert self._life.result is not None  # set before the event
        return self._life.result
