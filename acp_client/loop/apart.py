"""Asyncio and trio told apart, for what anyio has no words for."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any


def in_trio() -> bool:
    """True where trio runs the caller; else asyncio does, or nobody."""
    trio: Any = sys.modules.get("trio")
    return trio is not None and trio.lowlevel.in_trio_run()


def asyncio_loop() -> Any:
    """Asyncio's running loop, where trio does not run."""
    import asyncio  # noqa: PLC0415  # there already, where this is reached

    return asyncio.get_running_loop()


def waker() -> Callable[[Callable[[], None]], object]:
    """What calls something on the running loop, from any thread. It raises RuntimeError once the loop has ended."""
    if in_trio():
        wake: Callable[[Callable[[], None]], object] = sys.modules["trio"].lowlevel.current_trio_token().run_sync_soon
    else:
        wake = asyncio_loop().call_soon_threadsafe
    return wake


def new_wait() -> tuple[Callable[[], object], Awaitable[object]]:
    """What wakes one task, and what it awaits, once."""
    if in_trio():
        event = sys.modules["trio"].Event()
        return event.set, event.wait()
    future = asyncio_loop().create_future()

    def wake() -> None:
        if not future.done():  # it was cancelled, and who awaits it has not gone on yet
            future.set_result(None)

    return wake, future


def start_task(work: Callable[[], Coroutine[Any, Any, None]], name: str, on_end: Callable[[], None]) -> object:
    """A task that belongs to no group, in the context of the caller. It may raise nothing but its cancellation.

    `on_end` is called when it has ended, also where it never began. Keep what is returned: the loop does not.
    """
    if in_trio():

        async def whole() -> None:
            try:
                await work()
            finally:
                on_end()

        return sys.modules["trio"].lowlevel.spawn_system_task(whole, name=name, context=copy_context())
    task = asyncio_loop().create_task(work(), name=name)
    task.add_done_callback(lambda _task: on_end())
    return task


@contextmanager
def known_as_asyncio() -> Iterator[None]:
    """What is given to an asyncio loop in this block may call anyio's functions.

    They ask sniffio which loop this is; in a callback it finds no task, and goes by what its context says alone.
    """
    sniffio: Any = sys.modules.get("sniffio")
    if sniffio is None:  # anyio does without it, and then needs no help
        yield
        return
    token = sniffio.current_async_library_cvar.set("asyncio")
    try:
        yield
    finally:
        sniffio.current_async_library_cvar.reset(token)
