"""Tasks that belong to no task of the caller's: opened, used and closed from any task of the event loop.

Owns those tasks. A cancel scope must be left by the task that entered it; a test fixture, or a generator, is entered by
one task and left by another, so the scopes of our tasks must not be the caller's. And most runs need no task beside
their own: a group for each would cost more than what it is there for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

import anyio

from acp_client.loop.apart import start_task
from acp_client.loop.waits import LazyEvent

Work = Callable[..., Coroutine[Any, Any, Any]]


class TaskHost:
    """Takes tasks until it is closed, once."""

    def __init__(self) -> None:
        self._tasks: Final[set[object]] = set()  # kept: an event loop does not
        self._ended = LazyEvent()
        self._fault: Exception | None = None

    def start_soon(self, work: Work, *arguments: Any, name: str, on_end: Callable[[], None] | None = None) -> None:
        """Run this in a task, in the context of the caller; `on_end` is called however it ends, begun or not."""

        def end() -> None:
            self._tasks.discard(task)
            if not self._tasks:
                self._ended.set()
            if on_end is not None:
                on_end()

        task = start_task(partial(self._run, work, arguments), name, end)
        self._tasks.add(task)

    async def _run(self, work: Work, arguments: tuple[Any, ...]) -> None:
        try:
            await work(*arguments)
        except Exception as error:  # noqa: BLE001  # told by `close`
            self._fault = self._fault or error

    async def close(self, on_cancel: Callable[[], None]) -> None:
        """Return when all tasks have ended. A cancellation is told to `on_cancel` and raised when they have."""
        broken_off: BaseException | None = None
        while self._tasks:
            self._ended = LazyEvent()
            try:
                with anyio.CancelScope(shield=broken_off is not None):
                    await self._ended.wait()
            except BaseException as error:  # noqa: BLE001  # natively, a shield is broken through each time
                broken_off = error
                on_cancel()
        if broken_off is not None:
            raise broken_off
        if self._fault is not None:
            raise self._fault


class Helpers:
    """Tasks beside one piece of work: they end with it, and a fault in one of them ends it."""

    def __init__(self, host: TaskHost) -> None:
        self._host = host
        self._scopes: Final[set[anyio.CancelScope]] = set()
        self._ended = LazyEvent()
        self._work: Final = anyio.CancelScope()
        self._fault: Exception | None = None
        self._over = False

    def start(self, help_: Work, *arguments: Any) -> None:
        """Begin a task of the host's. When the work is over it is cancelled from the beginning."""
        scope = anyio.CancelScope()
        if self._over:
            scope.cancel()
        self._scopes.add(scope)
        self._host.start_soon(
            self._help, scope, help_, arguments, name=f"helper {help_.__qualname__}", on_end=partial(self._end, scope)
        )

    async def _help(self, scope: anyio.CancelScope, help_: Work, arguments: tuple[Any, ...]) -> None:
        try:
            with scope:
                await help_(*arguments)
        except Exception as error:  # noqa: BLE001  # raised by `attend`
            self._fault = self._fault or error
            self._work.cancel()

    def _end(self, scope: anyio.CancelScope) -> None:
        self._scopes.discard(scope)
        if not self._scopes:
            self._ended.set()

    async def attend(self, work: Awaitable[None]) -> None:
        """Do the work, then end the tasks and wait for them. Raises what it raises, else the first fault of a task."""
        try:
            with self._work:
                await work
        finally:
            self._over = True
            for scope in tuple(self._scopes):
                scope.cancel()
            while self._scopes:
                self._ended = LazyEvent()
                await self._ended.wait()
        if self._fault is not None:
            raise self._fault
