"""Blocking calls off the loop, in threads of our own.

Owns a few worker threads for each event loop, apart from the default ones: a program that keeps all of those busy,
perhaps waiting for runs of ours, must not keep us from starting or ending a process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

THREADS: Final = 8
"""At once, for all runs of an event loop. Each call takes milliseconds; more threads only queue for the kernel."""

_limiter: Final = RunVar[anyio.CapacityLimiter]("acp_subagents_threads")
_Value = TypeVar("_Value")


async def in_thread(call: Callable[[], _Value], discard: Callable[[_Value], None] | None = None) -> _Value:
    """What `call` returns, or raises. It cannot be broken off, so it must end soon and by itself.

    Runs on the loop where the system starts no thread any more. A native cancel of the task, which breaks through a
    shield, does not wait for it: what it returns then is given to `discard`, so that nothing is lost.
    """
    work = _Work(call, discard)
    try:
        return await anyio.to_thread.run_sync(work.run, limiter=_own_limiter())
    except RuntimeError:
        if work.began:
            raise
        return work.run()
    except anyio.get_cancelled_exc_class():
        work.give_up()
        raise


class _Work(Generic[_Value]):
    """One call, and who gets what it returns: whoever waits for it, else `discard`."""

    def __init__(self, call: Callable[[], _Value], discard: Callable[[_Value], None] | None) -> None:
        self.began = False
        self._call = call
        self._discard = discard
        self._lock = threading.Lock()
        self._given_up = False
        self._returned: list[_Value] = []

    def run(self) -> _Value:
        self.began = True
        value = self._call()
        with self._lock:
            self._returned.append(value)
            if self._given_up:
                self._discard_all()
        return value

    def give_up(self) -> None:
        with self._lock:
            self._given_up = True
            self._discard_all()

    def _discard_all(self) -> None:
        while self._returned:
            value = self._returned.pop()
            if self._discard is not None:
                self._discard(value)


def _own_limiter() -> anyio.CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(THREADS)
        _limiter.set(limiter)
        return limiter
