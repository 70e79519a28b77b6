"""Blocking calls off the loop, in threads of our own.

Owns the threads, how many there are, and how the end of a call wakes the task that waits, on either loop. Not anyio's
threads: a program that keeps all of those busy, perhaps waiting for runs of ours, must not keep us from starting or
ending a process; and on asyncio an idle one of them holds up the program's end for ever if a third Ctrl-C breaks off
the loop's own clean-up. No program waits for these: what they do is short, or of no use any more.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import anyio
from anyio.lowlevel import RunVar

from acp_client.loop.apart import waker
from acp_client.loop.waits import LazyEvent

THREADS: Final = 8
"""At once, for all runs of an event loop. Each call takes milliseconds; more threads only queue for the kernel."""
IDLE_SECONDS: Final = 5.0
"""A thread that has nothing to do for so long ends. To start one costs more than most of the calls."""
THREAD_NAME: Final = "acp-subagents"

_limiter: Final = RunVar[anyio.CapacityLimiter]("acp_subagents_threads")
_Value = TypeVar("_Value")


def _nothing() -> None:
    pass


async def in_thread(
    call: Callable[[], _Value],
    discard: Callable[[_Value], None] | None = None,
    meanwhile: Callable[[], object] = _nothing,
) -> _Value:
    """What `call` returns, or raises. It cannot be broken off, so it must end soon and by itself.

    A thread takes some time to wake: what has to be done anyway, on the loop and at once, is done `meanwhile`. The call
    runs on the loop where the system starts no thread any more. A native cancel of the task, which breaks through a
    shield, does not wait for it, nor does a loop that is broken off: what it returns then is given to `discard`, so
    that nothing is lost.
    """
    work = _Work(call, discard)
    limiter = _own_limiter()
    try:
        limiter.acquire_nowait()
    except anyio.WouldBlock:
        meanwhile()
        meanwhile = _nothing
        await limiter.acquire()
    try:
        try:
            _Worker.give(work.run)
        except RuntimeError:
            meanwhile()
            return call()
        try:
            meanwhile()
            with anyio.CancelScope(shield=True):
                await work.done.wait()
        except BaseException:
            work.give_up()
            raise
        return work.outcome()
    finally:
        limiter.release()


async def in_daemon_thread(call: Callable[[], _Value]) -> _Value:
    """What `call` returns, or raises, however long it takes: a cancel does not wait for it.

    Raises:
        RuntimeError: the system starts no thread any more.
    """
    work = _Work(call, None)
    _Worker.give(work.run)
    await work.done.wait()
    return work.outcome()


class _Work(Generic[_Value]):
    """One call, and who gets what it returns: whoever waits for it, else `discard`."""

    def __init__(self, call: Callable[[], _Value], discard: Callable[[_Value], None] | None) -> None:
        self.done = LazyEvent()
        self._wake = waker()
        self._call = call
        self._discard = discard
        self._lock = threading.Lock()
        self._given_up = False
        self._returned: list[_Value] = []
        self._raised: BaseException | None = None

    def outcome(self) -> _Value:
        """Of a call that is done. Once."""
        if self._raised is not None:
            raise self._raised
        return self._returned.pop()

    def give_up(self) -> None:
        with self._lock:
            self._given_up = True
            self._discard_all()

    def run(self) -> None:
        """In the thread."""
        try:
            value = self._call()
        except BaseException as error:  # noqa: BLE001  # raised where it is waited for
            self._raised = error
        else:
            with self._lock:
                self._returned.append(value)
                if self._given_up:
                    self._discard_all()
        try:
            self._wake(self.done.set)
        except RuntimeError:  # the loop is closed, or trio's run is over: nobody waits any more
            self.give_up()

    def _discard_all(self) -> None:
        while self._returned:
            value = self._returned.pop()
            if self._discard is not None:
                self._discard(value)


class _Worker:
    """A thread that does what it is given, one call after another, until nothing has come for `IDLE_SECONDS`."""

    idle: Final[list[_Worker]] = []

    def __init__(self) -> None:
        self._given: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    @classmethod
    def give(cls, run: Callable[[], None]) -> None:
        """Have it run by an idle thread, or by a new one. Raises RuntimeError where none can be started."""
        try:
            worker = cls.idle.pop()
        except IndexError:
            worker = cls()
            threading.Thread(target=worker._work, name=THREAD_NAME, daemon=True).start()
        worker._given.put(run)

    def _work(self) -> None:
        while True:
            try:
                run = self._given.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                try:
                    self.idle.remove(self)
                except ValueError:  # it was chosen at this moment: something comes
                    continue
                return
            run()
            del run  # what it holds is not kept while nothing is to be done
            self.idle.append(self)


os.register_at_fork(after_in_child=_Worker.idle.clear)


def _own_limiter() -> anyio.CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(THREADS)
        _limiter.set(limiter)
        return limiter
