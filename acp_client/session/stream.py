"""The stream between a run and its readers: bounded, one wake-up a read, typed only when it is read.

The run appends raw updates, or the text and message of a chunk alone, without waiting; the reader turns them into typed
events in its own task. A reader that is
too slow loses events, which are counted; it never holds the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final

import anyio

from acp_client.outcome.result import RunResult
from acp_client.session.events import Event, EventsLost, RunEnded, TextChunk, to_event

EARLY_EVENTS: Final = 256
"""Kept until a first reader comes, so that one who asks right after `start` misses nothing."""
MAX_EARLY_BYTES: Final = 1024 * 1024
"""What was read while the early events were kept: more is not kept for a reader who may never come."""
MAX_STREAM_BYTES: Final = 32 * 1024 * 1024
"""What was read while a reader had something left to read: beyond it, events are lost to it, however few they are."""


class EventHub:
    """The run's end: takes events, keeps the early ones for the first reader."""

    def __init__(self, max_buffered: int) -> None:
        self._max = max_buffered
        self._early: list[Any] | None = []
        self._early_max = min(EARLY_EVENTS, max_buffered)
        self._early_bytes = 0
        self.early_lost = 0
        self.listening = True
        """False while nobody reads and the early events are full: then `early_lost` is counted up, no more."""
        self._streams: list[EventStream] = []
        self._ending: RunEnded | None = None
        self.dropped = 0

    def put(self, event: Event | dict[str, Any]) -> None:
        """Offer an event, or a raw update that becomes one when it is read."""
        if self._early is not None:
            if len(self._early) < self._early_max:
                self._early.append(event)
            else:
                self.early_lost += 1
                self.listening = False
        for stream in self._streams:
            if not stream.offer(event):
                self.dropped += 1

    def put_texts(self, texts: list[str], message_id: str | None) -> None:
        """Offer a chunk of the answer for each text: all that one read has brought of them."""
        chunks: list[Any] = [(text, message_id) for text in texts]
        if self._early is not None:
            for chunk in chunks:
                self.put(chunk)
        for stream in self._streams:
            self.dropped += stream.offer_all(chunks)

    def wake(self, read_bytes: int = 0) -> None:
        """Wake the readers, once for all that a read of so many bytes brought."""
        if self._early:
            self._early_bytes += read_bytes
            self.listening = bool(self._streams) or self._early_bytes <= MAX_EARLY_BYTES
        for stream in self._streams:
            stream.wake(read_bytes)

    def close(self, result: RunResult) -> None:
        """The run is over: readers end after what they have not read yet."""
        self._ending = RunEnded(result.status, result.reason)
        for stream in self._streams:
            stream.close(self._ending)

    def stream(self) -> EventStream:
        """A new reader: it sees what comes from now on, the first one also what came before."""
        stream = EventStream(self._max, self._early or (), self.early_lost)
        self._early = None
        self.listening = True
        self._streams.append(stream)
        if self._ending is not None:
            stream.close(self._ending)
        return stream


class EventStream(AsyncIterator[Event]):
    """One reader's bounded buffer; iterate over it. Ends after `RunEnded`."""

    def __init__(self, max_buffered: int, early: Any, early_lost: int) -> None:
        self._max = max_buffered
        self._buffer: deque[Any] = deque(early)
        self._bytes = 0
        self._lost = early_lost
        self._ending: RunEnded | None = None
        self._wake = anyio.Event()

    def offer(self, event: Any) -> bool:
        """Take an event if there is room; else count it as lost."""
        if len(self._buffer) >= self._max or self._bytes > MAX_STREAM_BYTES:
            self._lost += 1
            return False
        if self._lost:
            self._buffer.append(EventsLost(self._lost))
            self._lost = 0
        self._buffer.append(event)
        return True

    def offer_all(self, events: list[Any]) -> int:
        """Take as many as there is room for; returns how many are lost."""
        room = max(0, self._max - len(self._buffer)) if self._bytes <= MAX_STREAM_BYTES else 0
        if self._lost and room and events:
            self._buffer.append(EventsLost(self._lost))
            self._lost = 0
            room = max(1, room - 1)  # as above: the note takes a place, but not the only one
        self._buffer.extend(events[:room])
        lost = max(0, len(events) - room)
        self._lost += lost
        return lost

    def wake(self, read_bytes: int = 0) -> None:
        """Let whoever reads go on."""
        self._bytes = self._bytes + read_bytes if self._buffer else 0
        self._wake.set()
        self._wake = anyio.Event()

    def close(self, ending: RunEnded) -> None:
        """Nothing more will come."""
        self._ending = ending
        self.wake()

    async def __anext__(self) -> Event:
        """The next event. Safe to cancel: nothing is lost."""
        while not self._buffer:
            if self._lost:
                lost, self._lost = self._lost, 0
                return EventsLost(lost)
            if self._ending is not None:
                return self._finish()
            await self._wake.wait()
        event = self._buffer.popleft()
        if not self._buffer:
            self._bytes = 0
        if type(event) is tuple:
            return TextChunk(*event)
        return event if isinstance(event, Event) else to_event(event)

    def _finish(self) -> Event:
        if self._max == 0:
            raise StopAsyncIteration
        self._max = 0  # RunEnded is told once
        assert self._ending is not None  # the caller has looked
        return self._ending
