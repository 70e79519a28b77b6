"""One run from the command line: starts it, shows it, and turns how it ended into an exit code.

Owns the tasks around a run: signals, writers. How it looks is `show`'s, how it runs the library's.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from acp_client.admission.descriptors import DESCRIPTORS
from acp_client.cli import logs
from acp_client.cli.exit_codes import exit_code
from acp_client.cli.interrupts import Interrupts
from acp_client.cli.options import Format
from acp_client.cli.show.answers import Answer, choose_answer
from acp_client.cli.show.narration import Line, output_failure
from acp_client.cli.show.output import Output, Writer, same_file
from acp_client.cli.show.progress import FailuresOnly, PlainProgress, Progress
from acp_client.run.handle import Run
from acp_client.runner import Runner
from acp_client.spec import AgentSpec

if TYPE_CHECKING:
    from acp_client.cli.show.live import LiveProgress
    from acp_client.policy.approval import Approver
    from acp_client.record.place import OneFile
    from acp_client.structured.output_type import OutputType

STDOUT: Final = 1
STDERR: Final = 2
CATCH_UP_SECONDS: Final = 0.1
"""Before a question: what the agent said before it asked is still on its way to the screen."""
OUTPUT_END_SECONDS: Final = 2.0
"""After a signal, how long a reader that has stalled may hold up what is left of the output."""


def run_and_show(
    spec: AgentSpec, task: str, form: Format, wanted: OutputType | None = None, transcript: OneFile | None = None
) -> int:
    """Run the task, write the answer in the given format, or the value that is wanted; returns the exit code."""
    logs.configure(spec)
    DESCRIPTORS.may_raise = True
    return anyio.run(_work, form, spec, task, wanted, transcript)


async def _work(form: Format, spec: AgentSpec, task: str, wanted: OutputType | None, transcript: OneFile | None) -> int:
    return await Work(form, wanted, transcript).do(spec, task)


class Work:
    """One run and its two outputs."""

    def __init__(self, form: Format, wanted: OutputType | None = None, transcript: OneFile | None = None) -> None:
        self._form: Final = form
        self._transcript: Final = transcript
        self._wanted: Final = wanted
        self._run: Run | None = None
        self._shared: Final = same_file(STDOUT, STDERR)
        self._writers = [Writer(self._on_output_error)]
        if not self._shared:  # one place needs one order; two must not wait for each other
            self._writers.append(Writer(self._on_output_error))
        self._stdout = Output(STDOUT, self._writers[0])
        self._stderr = Output(STDERR, self._writers[-1])
        self._answer: Answer = choose_answer(form, self._stdout, value=wanted is not None)
        self._progress: Progress = FailuresOnly(self._stdout, self._stderr, shared=self._shared)
        self._interrupts = Interrupts(self._say)
        self._showing = anyio.CancelScope()
        self._screen = anyio.Lock()

    def _say(self, word: str, text: str) -> None:
        self._progress.say(Line(word, text))

    def _on_output_error(self, output: Output) -> None:
        """Without a reader on stdout the run is for nobody; without one on stderr it goes on unseen."""
        if output is self._stdout and self._run is not None:
            self._run.cancel_now()

    async def do(self, spec: AgentSpec, task: str) -> int:
        """All of it; returns the exit code."""
        async with anyio.create_task_group() as tasks:
            await tasks.start(self._interrupts.listen)
            for writer in self._writers:
                tasks.start_soon(writer.run)
            if spec.approver is not None:
                self._let_through(spec.approver)
            async with Runner(max_concurrency=1, transcripts=self._transcript) as runner:
                run = self._run = await runner.start(spec, task, result_type=self._wanted)
                self._interrupts.watch_over(run)
                tasks.start_soon(self._give_up_on_readers, run)
                try:
                    with self._showing:
                        await self._choose_progress(spec)
                        await self._show(run)
                finally:
                    self._progress.close()
                result = await run.result()
            tasks.cancel_scope.cancel()
        return exit_code(result, self._interrupts.first, self._stdout.error)

    def _let_through(self, approver: Approver) -> None:
        from acp_client.approvals.terminal.approver import TerminalApprover  # noqa: PLC0415  # most runs ask nobody

        if isinstance(approver, TerminalApprover):
            approver.aside = self._step_aside

    async def _choose_progress(self, spec: AgentSpec) -> None:
        if self._form in ("jsonl", "quiet"):
            return
        if self._stderr.is_terminal and os.environ.get("TERM", "dumb") != "dumb":
            live = await anyio.to_thread.run_sync(_import_live)  # meanwhile the child is being started
            self._progress = live(self._stdout, shared=self._shared, label=spec.label)
        else:
            self._progress = PlainProgress(self._stdout, self._stderr, shared=self._shared)

    async def _show(self, run: Run) -> None:
        async for event in run.events():
            async with self._screen:
                await self._progress.on_event(event)
                await self._answer.on_event(event)
        result = await run.result()
        self._answer.finish(result)
        await self._stdout.drain()
        if self._stdout.error is None:
            self._progress.finish(result)
        elif (line := output_failure(self._stdout.error)) is not None:
            self._progress.say(line)
        await self._stderr.drain()

    @asynccontextmanager
    async def _step_aside(self) -> AsyncIterator[None]:
        """While somebody is asked on the terminal nothing else is shown there."""
        await anyio.sleep(CATCH_UP_SECONDS)
        async with self._screen:
            self._progress.close()
            if self._shared:
                await self._stdout.drain()
                self._stdout.midline = False  # a question begins a line of its own
            yield

    async def _give_up_on_readers(self, run: Run) -> None:
        """However slow a reader of our output is, it is waited for; but not when the user wants to stop."""
        await self._interrupts.stopping.wait()
        await run.result()
        await anyio.sleep(OUTPUT_END_SECONDS)
        self._showing.cancel()


def _import_live() -> type[LiveProgress]:
    from acp_client.cli.show.live import LiveProgress  # noqa: PLC0415  # rich, for a terminal only

    return LiveProgress
