"""Calls in threads of our own: what is done on the loop meanwhile, and what becomes of a call that nobody waits for."""

import threading
from collections.abc import Callable

import anyio
import anyio.to_thread
import pytest

from acp_client.loop import threads
from acp_client.loop.threads import in_thread

SECONDS = 10.0


async def test_what_is_to_be_done_meanwhile_is_done_once_on_the_loop_before_the_result() -> None:
    """While the thread wakes, or works."""
    went: list[str] = []
    gate = threading.Event()

    def meanwhile() -> None:
        went.append(threading.current_thread().name)
        gate.set()

    def call() -> str:
        assert gate.wait(SECONDS)
        return "result"

    with anyio.fail_after(SECONDS):
        assert await in_thread(call, meanwhile=meanwhile) == "result"
    assert went == [threading.current_thread().name]


async def test_it_does_not_wait_for_a_thread_that_is_not_free() -> None:
    """All are busy, until it has been done."""
    gate = threading.Event()
    went: list[str] = []

    def meanwhile() -> None:
        went.append("meanwhile")
        gate.set()

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            for _ in range(threads.THREADS):
                tasks.start_soon(in_thread, lambda: gate.wait(SECONDS))
            await anyio.wait_all_tasks_blocked()
            assert await in_thread(lambda: "result", meanwhile=meanwhile) == "result"
    assert went == ["meanwhile"]


async def test_it_is_done_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the call itself is on the loop, after it."""

    def refuse(_run: Callable[[], None]) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads._Worker, "give", refuse)
    went: list[str] = []
    await in_thread(lambda: went.append("call"), meanwhile=lambda: went.append("meanwhile"))
    assert went == ["meanwhile", "call"]


async def test_a_fault_in_it_discards_what_the_call_returns() -> None:
    """Nobody would get it: a process that was started is ended."""
    discarded: list[str] = []
    gone = threading.Event()

    def discard(value: str) -> None:
        discarded.append(value)
        gone.set()

    def fail() -> None:
        raise LookupError("a fault of ours")

    with anyio.fail_after(SECONDS), pytest.raises(LookupError, match="a fault of ours"):
        await in_thread(lambda: "process", discard, fail)
    assert await anyio.to_thread.run_sync(gone.wait, SECONDS)
    assert discarded == ["process"]
