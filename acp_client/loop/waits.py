"""Waits without a task each: until a descriptor can be read, until a time has come.

A run waits for four things beside what it does (two pipes, an exit, a deadline), and a task for one of them costs more
than all that is done about it. On asyncio these are callbacks of the loop; on trio, which has none, tasks of the group
that they are opened with.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeAlias

import anyio
import anyio.lowlevel

from acp_client.loop.apart import asyncio_loop, in_trio, known_as_asyncio, new_wait

Start: TypeAlias = Callable[..., object]
"""`start_soon` of a task group, or `Helpers.start`. What a callback raises is raised in a task that it starts."""

Rest: TypeAlias = Callable[[], Awaitable[object]]
"""What is to be awaited before the next callback: nothing is read meanwhile."""


class LazyEvent:
    """As an `anyio.Event`, but next to nothing until somebody waits: most are set, or dropped, before anybody does."""

    __slots__ = ("_is_set", "_waiters")

    def __init__(self) -> None:
        self._is_set = False
        self._waiters: list[Callable[[], object]] | None = None

    def set(self) -> None:
        """Wake all who wait, now and later. Idempotent."""
        self._is_set = True
        waiters, self._waiters = self._waiters, None
        for wake in waiters or ():
            wake()

    def is_set(self) -> bool:
        """True once it is."""
        return self._is_set

    @property
    def is_awaited(self) -> bool:
        """True while somebody waits."""
        return bool(self._waiters)

    async def wait(self) -> None:
        """Return once it is set; at once if it is. Safe to cancel."""
        if self._is_set:
            return
        if self._waiters is None:
            self._waiters = []
        wake, woken = new_wait()
        self._waiters.append(wake)
        try:
            await woken
        except BaseException:
            if self._waiters:
                self._waiters.remove(wake)
            raise


class Readable:
    """Calls back each time a descriptor can be read, from `open` to `close`; or at every turn, see `always`.

    The callback returns what is to be awaited before the next one, or None.
    """

    __slots__ = ("_always", "_callback", "_closed", "_fd", "_loop", "_soon", "_start", "_waits")

    def __init__(self, fd: int, callback: Callable[[], Rest | None]) -> None:
        self._fd: Final = fd
        self._callback: Final = callback
        self._start: Start | None = None
        self._loop: Any = None
        self._soon: Any = None
        self._always = False
        self._closed = False
        self._waits = False

    def open(self, start: Start) -> None:
        """Begin; or go on with another group, where the one before has been cancelled."""
        self._start = start
        if in_trio():
            start(self._watch)
        elif self._loop is None:
            self._loop = asyncio_loop()
            self._arm()

    def always(self) -> None:
        """From now on call back at every turn: what is there is read to its end, whoever else holds the pipe."""
        if not (self._always or self._closed):
            waited, self._always = self._waits, True
            self._disarm()
            if waited and self._loop is not None:
                self._arm()

    def close(self) -> None:
        """No more callbacks. Before the descriptor is closed. Idempotent."""
        self._closed = True
        self._disarm()

    def _disarm(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        elif self._waits and self._loop is not None:
            self._loop.remove_reader(self._fd)
        elif self._waits:
            anyio.notify_closing(self._fd)
        self._waits = False

    # ---- on asyncio

    def _arm(self) -> None:
        self._waits = True
        with known_as_asyncio():
            if self._always:
                self._soon = self._loop.call_soon(self._call)
            else:
                self._loop.add_reader(self._fd, self._call)

    def _call(self) -> None:
        try:
            rest = self._callback()
        except Exception as error:  # noqa: BLE001  # raised in the group
            self.close()
            self._begin(_raise, error)
            return
        if rest is not None:
            self._disarm()
            self._begin(self._await, rest)
        elif self._always and self._waits:
            self._soon = self._loop.call_soon(self._call)

    def _begin(self, work: Callable[..., Coroutine[Any, Any, None]], argument: Any) -> None:
        assert self._start is not None  # open has set it
        self._start(work, argument)

    async def _await(self, rest: Rest) -> None:
        await rest()
        if not self._closed:
            self._arm()

    # ---- on trio

    async def _watch(self) -> None:
        while not self._closed:
            try:
                await self._wait()
            except anyio.ClosedResourceError:  # woken by `always` or `close`
                continue
            if self._is_closed():
                return
            rest = self._callback()
            if rest is not None:
                await rest()

    def _is_closed(self) -> bool:
        return self._closed  # asked again after a wait

    async def _wait(self) -> None:
        if self._always:
            await anyio.lowlevel.checkpoint()
            return
        self._waits = True
        try:
            await anyio.wait_readable(self._fd)
        finally:
            self._waits = False


class Alarm:
    """Calls back once, at a time of the loop's clock."""

    __slots__ = ("_callback", "_handle", "_start")

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Final = callback
        self._handle: Any = None
        self._start: Start | None = None

    def set(self, at: float, start: Start) -> None:
        """The time, in place of one that was set before; never, if it is infinite."""
        self.cancel()
        self._start = start
        if at == math.inf:
            return
        if in_trio():
            self._handle = anyio.CancelScope()
            start(self._sleep, self._handle, at)
        else:
            with known_as_asyncio():
                self._handle = asyncio_loop().call_at(at, self._call)

    def cancel(self) -> None:
        """Do not call back any more. Idempotent."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _call(self) -> None:
        self._handle = None
        try:
            self._callback()
        except Exception as error:  # noqa: BLE001  # raised in the group
            assert self._start is not None  # set with the time
            self._start(_raise, error)

    async def _sleep(self, scope: anyio.CancelScope, at: float) -> None:
        with scope:
            await anyio.sleep_until(at)
        if self._handle is scope:
            self._handle = None
            self._callback()


async def _raise(error: Exception) -> None:
    raise error
