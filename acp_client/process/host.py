"""A task group in a task of its own: opened, used and closed from any task of the event loop.

Owns that task. A cancel scope must be left by the task that entered it; a test fixture, or a generator, is entered by
one task and left by another, so the scopes of our tasks must not be the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Self

import anyio
import anyio.abc

from acp_client.loop.apart import start_task


class TaskHost:
    """Made by `open`; ended by `close`, once."""

    def __init__(self) -> None:
        self._tasks: anyio.abc.TaskGroup | None = None
        self._opened = anyio.Event()
        self._closing = anyio.Event()
        self._closed = anyio.Event()
        self._fault: Exception | None = None
        self._task: object = None

    @classmethod
    async def open(cls) -> Self:
        """A host that takes tasks. If it is cancelled, there is none."""
        host = cls()
        host._task = start_task(host._run)  # kept: an event loop does not
        try:
            await host._opened.wait()
        except BaseException:
            host._closing.set()
            raise
        return host

    async def _run(self) -> None:
        try:
            async with anyio.create_task_group() as self._tasks:
                self._opened.set()
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001  # told by `close`
            self._fault = error
        finally:
            self._closed.set()

    def start_soon(self, work: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any, name: str) -> None:
        """Run this in a task of the host's; in the context of the caller."""
        assert self._tasks is not None  # open has waited for it
        self._tasks.start_soon(work, *arguments, name=name)

    async def close(self, on_cancel: Callable[[], None]) -> None:
        """Return when all tasks have ended. A cancellation is told to `on_cancel` and raised when they have."""
        self._closing.set()
        broken_off: BaseException | None = None
        while not self._closed.is_set():
            try:
                with anyio.CancelScope(shield=broken_off is not None):
                    await self._closed.wait()
            except BaseException as error:  # noqa: BLE001  # natively, a shield is broken through each time
                broken_off = error
                on_cancel()
        if broken_off is not None:
            raise broken_off
        if self._fault is not None:
            raise self._fault
