"""Waiting for answers in one event loop, without a task or a thread of its own.

Owns who looks: of all calls that wait, one looks at the file for all, five times a second, and hands over when it
leaves. A look asks SQLite for its `data_version`, a number in shared memory that changes with every commit of somebody
else; only then are rows read. A file has no portable way to wake another process: sockets and signals would have to
outlive a crash of either side, and file notification differs by system. The connection is there while something waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeVar

import anyio

from acp_client.approvals.errors import ApprovalQueueError, QueueBusy, QueueUnusable
from acp_client.approvals.store import Entry, Store
from acp_client.logs import get_logger
from acp_client.loop.threads import in_thread
from acp_client.policy.approval import ApprovalRequest

LOOK_SECONDS: Final = 0.2
"""How much later than the answer a run goes on, at most: nothing to a person, and next to no work."""
HOLD_SECONDS: Final = 1.0
"""How long one call in a worker thread waits for a busy file; it is made again, so that a thread is never stuck."""
BUSY_SECONDS: Final = 30.0
"""How long a file may be busy before a request that is to be added fails."""
CLOSE_SECONDS: Final = 5.0
"""How long the end of a run may be held up by a file that is busy."""

_Value = TypeVar("_Value")


@dataclass(slots=True, eq=False)
class _Waiter:
    """One call. `deadline` is of the monotonic clock: a wall clock that is set back keeps nobody waiting.

    `is_gone`: its time is up, and there is no row any more that could say so.
    """

    id: str
    deadline: float
    expires_at: float
    entry: Entry | None = None
    is_gone: bool = False
    woken: anyio.Event = field(default_factory=anyio.Event)

    def is_done(self) -> bool:
        """True once there is nothing to wait for."""
        return self.entry is not None or self.is_gone

    def is_due(self) -> bool:
        """True once its time is up, by either clock."""
        return time.monotonic() >= self.deadline or time.time() >= self.expires_at


class Desk:
    """The open requests of one queue in one event loop."""

    def __init__(self, path: Path, *, hold_seconds: float = HOLD_SECONDS) -> None:
        self._path = path
        self._hold_seconds = hold_seconds
        self._waiting: dict[str, _Waiter] = {}
        self._looking = False
        self._seen: tuple[Store, int] | None = None
        self._turn = anyio.Lock()  # one worker thread for all of us
        self._lock = threading.Lock()  # the thread of a call that was broken off natively may still be at it
        self._store: Store | None = None

    async def ask(self, request: ApprovalRequest, seconds: float) -> Entry:
        """The request as it is when it waits no more; closed in the file if we are cancelled."""
        if request.id in self._waiting:
            raise ApprovalQueueError(f"request {request.id!r} waits in the queue already; give each an id of its own")
        waited = max(0.0, time.time() - request.asked_at)
        waiter = _Waiter(request.id, time.monotonic() + seconds - waited, request.asked_at + seconds)
        self._waiting[request.id] = waiter
        added = False
        try:
            await self._insist(
                lambda store: store.add(request, waiter.expires_at),
                undo=lambda store: store.finish(request.id, "withdrawn"),
                seconds=BUSY_SECONDS,
            )
            added = True
            return await self._settled(waiter)
        finally:
            del self._waiting[request.id]
            self._hand_over()
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._leave(waiter, added=added)

    async def _settled(self, waiter: _Waiter) -> Entry:
        while not waiter.is_done():
            if not self._looking:
                await self._look_until(waiter)
            else:
                await waiter.woken.wait()
                waiter.woken = anyio.Event()
        if waiter.entry is None:
            raise QueueUnusable(f"somebody has deleted request {waiter.id} from the approval queue while it waited")
        return waiter.entry

    async def _look_until(self, waiter: _Waiter) -> None:
        self._looking = True
        try:
            while not waiter.is_done():
                await anyio.sleep(LOOK_SECONDS)
                try:
                    await self._look()
                except QueueBusy:
                    continue
        finally:
            self._looking = False
            self._hand_over()

    async def _look(self) -> None:
        async with self._turn:  # whoever was added before is looked for, whoever comes later changes the version
            ids, seen = list(self._waiting), self._seen
            due = [waiter.id for waiter in self._waiting.values() if waiter.is_due()]
            # What was seen is set where it has arrived: a look that was broken off is made again.
            self._seen, entries = await self._call(lambda store: _read(store, ids, due, seen))
        for entry in entries:
            waiter = self._waiting.get(entry.id)
            if waiter is not None:
                waiter.entry = entry
                waiter.woken.set()
        for waiter in filter(None, map(self._waiting.get, due)):
            waiter.is_gone = waiter.entry is None  # else it would have expired in this look
            waiter.woken.set()

    def _hand_over(self) -> None:
        """Somebody looks as long as somebody waits."""
        if not self._looking:
            for waiter in self._waiting.values():
                if not waiter.is_done():
                    waiter.woken.set()
                    return

    async def _leave(self, waiter: _Waiter, *, added: bool) -> None:
        """The row says what became of it, and the last one out closes the file."""
        try:
            if added:
                await self._insist(lambda store: _close(store, waiter), seconds=CLOSE_SECONDS)
        except ApprovalQueueError as error:  # the run must end, and the row expires by itself
            get_logger(__name__).error("an approval request could not be closed", id=waiter.id, error=str(error))
        finally:
            if not self._waiting:
                await self._close_file()

    async def _insist(
        self, work: Callable[[Store], None], *, seconds: float, undo: Callable[[Store], None] | None = None
    ) -> None:
        """Do this, again while the file is busy. `undo` follows if nobody learns that it was done."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                async with self._turn:
                    return await self._call(work, undo)
            except QueueBusy:
                if time.monotonic() > deadline:
                    raise

    async def _call(self, work: Callable[[Store], _Value], undo: Callable[[Store], None] | None = None) -> _Value:
        discard = None if undo is None else lambda _: self._use(undo)
        return await in_thread(lambda: self._use(work), discard)

    def _use(self, work: Callable[[Store], _Value]) -> _Value:
        """In a thread. It may be the last to use the file: who began it was broken off, and has closed it before us."""
        try:
            with self._lock:
                return work(self._opened())
        finally:
            self._let_go()

    async def _close_file(self) -> None:
        try:
            await in_thread(self._let_go)
        except anyio.get_cancelled_exc_class():  # a native cancel, perhaps before the thread has begun
            threading.Thread(target=self._let_go, daemon=True).start()
            raise

    def _opened(self) -> Store:
        if self._store is None:
            self._store = Store(self._path, busy_seconds=self._hold_seconds)
        return self._store

    def _let_go(self) -> None:
        """Close the file if nothing waits."""
        with self._lock:
            if self._store is not None and not self._waiting:
                store, self._store = self._store, None
                store.close()


def _read(
    store: Store, ids: list[str], due: list[str], seen: tuple[Store, int] | None
) -> tuple[tuple[Store, int], list[Entry]]:
    """What there is to see now, and the settled requests if that is another thing than `seen`, or if some are due."""
    if not store.is_in_place():
        raise QueueUnusable("the file of the approval queue was removed or replaced while requests waited in it")
    store.expire(due)
    now = (store, store.version())
    return now, [] if now == seen and not due else store.settled(ids)


def _close(store: Store, waiter: _Waiter) -> None:
    if waiter.entry is not None:
        store.deliver(waiter.id)
        return
    state: Literal["expired", "withdrawn"] = "expired" if waiter.is_due() else "withdrawn"
    store.finish(waiter.id, state)
