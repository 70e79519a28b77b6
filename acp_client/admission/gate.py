"""The gate that every run of a runner passes: in the order of their start, as many at once as there is room for.

Owns the queue. A run waits for a place (`max_concurrency`), for a turn at starting, and for descriptors; waiting is not
its time, and can be given up at any moment. What a run does with its place is the run's.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import anyio

from acp_client.admission.descriptors import DESCRIPTORS, Descriptors
from acp_client.admission.load import is_busy
from acp_client.loop.waits import LazyEvent
from acp_client.process.host import TaskHost

STARTS_PER_CORE: Final = 16
"""Children that start at once, from their spawn to their session. More of them only take the time from one another: an
agent needs up to half a second of CPU to start, and hundreds together would all miss their startup deadline."""
START_SECONDS: Final = 2.0
"""After that a start no longer keeps others from theirs; one that only waits (for a download, say) does not even so
long, where that can be seen."""
LOOK_SECONDS: Final = 0.02
"""Where nobody tells that there is room again: descriptors of others, a start that took too long."""


class Ticket:
    """One run's place in the queue, and then inside. Made by `Gate.enter`; `leave` ends it."""

    def __init__(self, gate: Gate) -> None:
        self.admitted: Final = LazyEvent()
        self._gate = gate
        self._spawning = False
        self._inside = False
        self.pid: int | None = None

    def admit(self) -> None:
        """There is room for it."""
        self._spawning = self._inside = True
        self.admitted.set()

    def spawned(self, pid: int | None = None) -> None:
        """Its child is there, or will not be. Idempotent."""
        self.pid = self.pid or pid
        if self._spawning:
            self._spawning = False
            self._gate.descriptors.note_started()

    def started(self) -> None:
        """Its session exists, or will not: the next one may start. Idempotent."""
        self._gate.end_start(self)

    def leave(self) -> None:
        """It is over, inside or still in the queue. Idempotent."""
        self.spawned()
        self._gate.leave(self, inside=self._inside)
        self._inside = False


class Gate:
    """Admits at most `most` runs at once, first come, first served. One for each runner, in its event loop.

    `on_short` is called while a run waits for descriptors: whoever holds some that can be spared gives them back.
    """

    def __init__(self, most: int, on_short: Callable[[], None], descriptors: Descriptors = DESCRIPTORS) -> None:
        self.descriptors: Final = descriptors
        self._free = most
        self._on_short = on_short
        self._most_starts = STARTS_PER_CORE * _cores()
        self._queue: deque[Ticket] = deque()
        self._starting: dict[Ticket, float] = {}
        self._tasks: TaskHost | None = None
        self._looking = False

    def open(self, tasks: TaskHost) -> None:
        """The tasks of the runner's, for the looks."""
        self._tasks = tasks

    def enter(self) -> Ticket:
        """A place at the end of the queue; admitted at once if there is room."""
        ticket = Ticket(self)
        self._queue.append(ticket)
        self._admit()
        return ticket

    def leave(self, ticket: Ticket, *, inside: bool) -> None:
        """Give a place back."""
        self._starting.pop(ticket, None)
        if inside:
            self._free += 1
            self.descriptors.give_back()
        elif ticket in self._queue:
            self._queue.remove(ticket)
        self._admit()

    def end_start(self, ticket: Ticket) -> None:
        """Give a turn at starting back."""
        if self._starting.pop(ticket, None) is not None:
            self._admit()

    def _admit(self) -> None:
        """In the order of their start, on trio too, which begins tasks in any order."""
        while self._queue and self._free and self._has_turn():
            if not self.descriptors.take():
                self._on_short()
                break
            self._free -= 1
            ticket = self._queue.popleft()
            self._starting[ticket] = time.monotonic()
            ticket.admit()
        if self._queue and self._free and not self._looking:
            assert self._tasks is not None  # the runner has opened it before it takes runs
            self._looking = True
            self._tasks.start_soon(self._look, name="admission")

    def _has_turn(self) -> bool:
        began = time.monotonic() - START_SECONDS
        while self._starting and next(iter(self._starting.values())) <= began:
            del self._starting[next(iter(self._starting))]
        return len(self._starting) < self._most_starts

    def _pass_over_waiting(self) -> None:
        """A start that takes no time from others needs no turn."""
        for ticket in list(self._starting):
            if ticket.pid is not None and is_busy(ticket.pid) is False:
                del self._starting[ticket]

    async def _look(self) -> None:
        """While there is a place and yet somebody waits."""
        try:
            while self._queue and self._free:
                await anyio.sleep(LOOK_SECONDS)
                self._pass_over_waiting()
                self._admit()
        finally:
            self._looking = False


def _cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
