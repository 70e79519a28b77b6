"""stderr: what happens meanwhile, in plain lines; on a terminal `live` draws instead.

Owns when a line is written. The words are `narration`'s.
"""

from __future__ import annotations

from typing import Protocol

from acp_client.cli.show.narration import Line, Narrator, ending, failure
from acp_client.cli.show.output import Output
from acp_client.outcome.result import RunResult
from acp_client.session.events import Event


class Progress(Protocol):
    """One way to show it."""

    async def on_event(self, event: Event) -> None:
        """Something happened; called before the answer is told of it. Safe to cancel."""

    def say(self, line: Line) -> None:
        """A line of our own, at once."""

    def finish(self, result: RunResult) -> None:
        """The run is over; called after the answer is written."""

    def close(self) -> None:
        """Leave the terminal as it was. Called on every path, also twice."""


class PlainProgress:
    """A line for everything."""

    def __init__(self, stdout: Output, stderr: Output, *, shared: bool) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._shared = shared
        self._narrator = Narrator()

    async def on_event(self, event: Event) -> None:
        """Write its lines."""
        for line in self._narrator.lines(event):
            self.say(line)
            await self._stderr.room()

    def say(self, line: Line) -> None:
        """Write it, on a line of its own also where the answer goes to the same place."""
        if self._shared and self._stdout.midline:
            self._stderr.write("\n")
            self._stdout.midline = False
        self._stderr.write(f"{line}\n")

    def finish(self, result: RunResult) -> None:
        """Write warnings and how it ended."""
        for line in ending(result):
            self.say(line)

    def close(self) -> None:
        """Lines leave nothing behind."""


class FailuresOnly(PlainProgress):
    """Nothing but why it failed: the events are on stdout already, or are not wanted."""

    async def on_event(self, event: Event) -> None:
        """Nothing."""

    def finish(self, result: RunResult) -> None:
        """Write the failure, if it is one."""
        if result.failure is not None:
            self.say(failure(result))
