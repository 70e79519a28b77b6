"""What the child says beside the wire: kept, recorded, and shown to who listens.

Owns that it counts as a sign of life, and that only what is safe to show becomes an event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from acp_client.loop.waits import Rest, Start
from acp_client.process.child import AgentProcess
from acp_client.record.nothing import NoTranscript
from acp_client.run.child.facts import Facts
from acp_client.safe_text import printable
from acp_client.session.clock import Clock
from acp_client.session.events import StderrOutput
from acp_client.session.stream import EventHub

if TYPE_CHECKING:
    from acp_client.record.transcript import Transcript


class Stderr:
    """What the child says beside the wire, and who is told of it."""

    def __init__(self, clock: Clock, facts: Facts, hub: EventHub, transcript: Transcript | NoTranscript) -> None:
        self._clock = clock
        self._facts = facts
        self._hub = hub
        self._transcript = transcript

    def drain(self, process: AgentProcess, start: Start) -> None:
        """From now on to its end."""
        process.drain_stderr(self._take, start)

    def _take(self, data: bytes) -> Rest | None:
        if data:
            self.feed(data)
        elif self._hub.listening:
            self._show(self._facts.stderr_events.finish())
        return self._transcript.caught_up if self._transcript.is_behind else None

    def feed(self, data: bytes) -> None:
        """Take what has come."""
        self._clock.touch(anyio.current_time())
        self._facts.stderr.feed(data)
        self._transcript.stderr(data)
        if self._hub.listening:  # redacting is not free, and a flood may come here
            self._show(self._facts.stderr_events.feed(data))

    def _show(self, text: str) -> None:
        if text:
            self._hub.put(StderrOutput(printable(text, multiline=True)))
            self._hub.wake()
