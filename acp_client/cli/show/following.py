"""A run that is being recorded, shown as it goes, until its end note.

Owns the loop; waiting and printing are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from acp_client.cli.show.tail import Tail
from acp_client.record.format.reader import LineReader
from acp_client.record.viewer.live import Live
from acp_client.record.viewer.rows import Row
from acp_client.safe_text import printable

QUIET_LOOKS: Final = 5
"""So often nothing is new, a second in all, before a record that nobody ends is taken for whole."""


def follow(
    path: Path, show: Callable[[Iterable[Row]], None], *, wait: Callable[[], None], say: Callable[[str], None]
) -> bool:
    """Show it until it is over; False for a file whose lines are none of a transcript.

    A file that is not there is waited for. One that is cut or replaced is shown from its start again. Plain frames of
    other tools have no end note: they are over when their last prompt is answered and nothing more comes. Raises
    OSError where it is there and cannot be read; a KeyboardInterrupt goes through.
    """
    name, waited, quiet = str(path), False, 0
    with Tail(path) as tail:
        watched = _Watched(name)
        while not watched.live.run.is_over:
            anew = tail.began_anew
            lines = tail.read()
            if tail.began_anew != anew:
                say("restart  the file was cut or replaced: from its start again")
                watched = _Watched(name)
            show(watched.rows(lines))
            if watched.lines and not watched.is_transcript:
                return False
            quiet = 0 if lines else quiet + 1
            if lines or watched.live.run.is_over:
                continue
            if quiet > QUIET_LOOKS and watched.live.run.seems_over:
                show(watched.live.finish())
                break
            if not (waited or tail.is_there):
                say(f"wait     {printable(name)} is not there yet")
                waited = True
            show(watched.live.flush())
            wait()
    return True


class _Watched:
    """One file from its start. `lines` counts those that have come."""

    def __init__(self, name: str) -> None:
        self.live = Live(name)
        self.lines = 0
        self.is_transcript = False
        self._reader = LineReader(name=name)

    def rows(self, lines: Iterable[bytes]) -> Iterator[Row]:
        """The rows for these lines; those after the end are left."""
        for line in lines:
            self.lines += 1
            for read in self._reader.feed(line):
                self.is_transcript = True
                yield from self.live.feed(read)
                if self.live.run.is_over:
                    return
