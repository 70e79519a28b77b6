"""stderr on a terminal: lines for what is done, and under them one that moves, for what is being done.

Owns that line. Imports rich, so it is imported late. Steps aside while answer text goes to the same terminal.
"""

from __future__ import annotations

import time
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from acp_client.cli.show.narration import Line, Narrator, ending
from acp_client.cli.show.output import Output
from acp_client.outcome.result import RunResult
from acp_client.session.events import Event, TextChunk, ThoughtChunk

FRAMES_PER_SECOND: Final = 8

_STYLES: Final = {"failed": "bold red", "aborted": "yellow", "warning": "yellow", "stop": "yellow", "done": "green"}

_DULL: Final = ("start", "session")
"""Words of lines that say nothing about what is going on."""

_TAKES_TIME: Final = ("tool", "ask")
"""Words of lines for which the answer text is broken off: it goes on below, once there is more of it."""


class LiveProgress:
    """Draws on stderr, which must be a terminal; `shared`: stdout is the same one."""

    def __init__(self, stdout: Output, *, shared: bool, label: str) -> None:
        self._stdout = stdout
        self._shared = shared
        self._narrator = Narrator()
        self._began = time.monotonic()
        self._console = Console(stderr=True, highlight=False)
        self._spinner = Spinner("dots", style="cyan")
        self._now = f"starting {label}"
        self._live: Live | None = None
        self._show()

    async def on_event(self, event: Event) -> None:
        """Keep a line for what has ended, change the moving one for what goes on."""
        if isinstance(event, TextChunk):
            self._now = "answering"
            if self._shared:
                self.close()
            return
        if isinstance(event, ThoughtChunk):
            self._now = "thinking"
        lines = self._narrator.lines(event)
        if lines and self._shared:
            await self._stdout.drain()
        for line in lines:
            self._now = self._going_on(line)
            if not line.passing:
                self.say(line)
        if lines and (lines[-1].word in _TAKES_TIME or not self._stdout_midline()):
            self._start_line()
            self._show()

    def _going_on(self, line: Line) -> str:
        """What the moving line says once this has happened."""
        if line.passing and line.word not in (*_DULL, "tool"):
            return line.text
        return self._narrator.open_call or "working"

    def say(self, line: Line) -> None:
        """Print it above the moving line."""
        self._start_line()
        self._draw()  # rich repeats the moving line as it was drawn last, which may be of a call that has ended
        style = _STYLES.get(line.word, "cyan")
        self._console.print(Text.assemble((f"{line.word:<8}", style), " ", line.text), soft_wrap=True)

    def finish(self, result: RunResult) -> None:
        """Take the moving line away and print how it ended."""
        self.close()
        for line in ending(result):
            self.say(line)

    def _start_line(self) -> None:
        if self._stdout_midline():
            self._console.print()
            self._stdout.midline = False

    def _stdout_midline(self) -> bool:
        return self._shared and self._stdout.midline

    def _show(self) -> None:
        if self._live is None:
            self._live = Live(
                get_renderable=self._draw,
                console=self._console,
                refresh_per_second=FRAMES_PER_SECOND,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def close(self) -> None:
        """Take the moving line away; the cursor is back."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self) -> Spinner:
        text = Text(f"{self._now} ({time.monotonic() - self._began:.0f} s)", no_wrap=True, overflow="ellipsis")
        self._spinner.update(text=text)
        return self._spinner
