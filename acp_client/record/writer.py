"""The thread that writes the transcripts of a runner's runs, so that no run waits for a disk or for redaction.

Owns the thread and the queues into it: in each run's order, bounded in bytes. A run whose queue is full waits before it
reads more of its agent; nothing is dropped. Made when the first run is recorded, ended by `close`.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from typing import Any, Final, Protocol, TypeAlias

from acp_client.logs import get_logger

MAX_QUEUED_BYTES: Final = 4 * 1024 * 1024
"""What was read and sent of one run and is not written yet."""
ITEM_BYTES: Final = 256
"""What an item costs beside its bytes: a flood of small ones is bounded too."""
GATHER_SECONDS: Final = 0.02
"""How long a first item waits for more: each batch takes Python's lock from the loop, so few large ones cost least."""
HURRY_BYTES: Final = 1024 * 1024
"""With so much there is no waiting."""
BATCH_BYTES: Final = 512 * 1024
"""What is written at once: several reads. The other runs wait no longer than for this."""
CLOSE_SECONDS: Final = 5.0
"""How long the end of a runner may be held up by a disk that does not answer."""

Item: TypeAlias = tuple[float, str, Any, int]
"""When, what kind, the bytes or the fields of it, and how many bytes that are."""


class Sink(Protocol):
    """What one run's items become, in the writer's thread."""

    def take(self, items: list[Item]) -> None:
        """Write them."""
        ...

    def finish(self) -> None:
        """Nothing more comes."""
        ...


class RunQueue:
    """One run's way into the thread. All but `wait_for_room` and `wait_for_end` belong to the run's event loop."""

    def __init__(self, sink: Sink, ready: queue.SimpleQueue[RunQueue | None], hurry: threading.Event) -> None:
        self._sink = sink
        self._ready = ready
        self._hurry = hurry
        self._items: deque[Item] = deque()
        self._put_bytes = 0  # written by the loop alone
        self._taken_bytes = 0  # written by the thread alone
        self._told = False
        self._closed = False
        self._room = threading.Condition()
        self._ended = threading.Event()
        self.failed = False
        """True after a fault of ours: there is no use for it any more."""

    @property
    def is_full(self) -> bool:
        """True while the thread is behind by more than the bound."""
        return self._put_bytes - self._taken_bytes > MAX_QUEUED_BYTES and not self._ended.is_set()

    @property
    def taken_bytes(self) -> int:
        """How much the thread has taken so far."""
        return self._taken_bytes

    @property
    def ended(self) -> bool:
        """True once all is written."""
        return self._ended.is_set()

    def put(self, t: float, kind: str, what: Any, size: int) -> None:
        """Append one item; lost once it has ended. Never blocks; who can wait waits while it is full."""
        if self._ended.is_set():
            return
        self._put_bytes += size + ITEM_BYTES
        self._items.append((t, kind, what, size))
        if not self._told:
            self._told = True
            self._ready.put(self)
        if self._put_bytes - self._taken_bytes > HURRY_BYTES and not self._hurry.is_set():
            self._hurry.set()

    def close(self) -> None:
        """Nothing more will be put."""
        self._closed = True
        self._told = True
        self._ready.put(self)
        self._hurry.set()

    def wait_for_room(self, seconds: float) -> None:
        """Block until the queue is half empty, or so long."""
        with self._room:
            self._room.wait_for(self._has_room, seconds)

    def wait_for_end(self, seconds: float) -> bool:
        """Block until all is written, or so long. True if it is."""
        return self._ended.wait(seconds)

    def _has_room(self) -> bool:
        return self._put_bytes - self._taken_bytes < MAX_QUEUED_BYTES // 2 or self._ended.is_set()

    def drain(self) -> None:
        """In the thread: give the sink what is there, a batch at a time."""
        if self._ended.is_set():
            return
        self._told = False
        closed = self._closed  # before the items: what is put after it has been seen comes with another look
        try:
            while self._items:
                self._drain_batch()
            if closed:
                self._sink.finish()
        except Exception:  # noqa: BLE001  # the boundary: a fault of ours costs this transcript, not the others
            get_logger(__name__).exception("a transcript was given up")
            self._items.clear()
            self.failed = True
            closed = True
        if closed:
            self._ended.set()
            self._notify()

    def _drain_batch(self) -> None:
        items: list[Item] = []
        size = 0
        while self._items and size < BATCH_BYTES:
            items.append(self._items.popleft())
            size += items[-1][3] + ITEM_BYTES
        self._sink.take(items)
        self._taken_bytes += size
        self._notify()

    def _notify(self) -> None:
        with self._room:
            self._room.notify_all()


class Writer:
    """One thread for all runs of a runner. `open` and `close` are called in its event loop."""

    def __init__(self) -> None:
        self._ready: Final[queue.SimpleQueue[RunQueue | None]] = queue.SimpleQueue()
        self._hurry: Final = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self, sink: Sink) -> RunQueue:
        """A queue for one more run. Raises RuntimeError where the system starts no thread any more."""
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="acp transcripts", daemon=True)
            thread.start()
            self._thread = thread
        return RunQueue(sink, self._ready, self._hurry)

    def close(self) -> None:
        """Write what is there and end the thread. Blocks, at most `CLOSE_SECONDS`."""
        if self._thread is not None:
            self._ready.put(None)
            self._hurry.set()
            self._thread.join(CLOSE_SECONDS)
            self._thread = None

    def _work(self) -> None:
        while (ready := self._ready.get()) is not None:
            self._hurry.wait(GATHER_SECONDS)
            self._hurry.clear()
            ready.drain()
