"""The thread: in order, bounded, and no fault of one transcript is another's. And the tap, which only listens."""

import queue
import threading
from typing import Any

import anyio
import pytest

from acp_client.protocol.streams import memory_pair
from acp_client.record import writer as module
from acp_client.record.tap import Tap
from acp_client.record.writer import Item, RunQueue, Writer

SECONDS = 20.0


class Kept:
    """A sink that keeps what it is given; `gate` holds it up, `fault` is raised."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.items: list[Item] = []
        self.batches = 0
        self.finished = False
        self.gate = threading.Event()
        self.gate.set()
        self.fault = fault

    def take(self, items: list[Item]) -> None:
        """Keep them."""
        assert self.gate.wait(SECONDS)
        if self.fault is not None:
            raise self.fault
        self.items += items
        self.batches += 1

    def finish(self) -> None:
        """Keep that."""
        self.finished = True


def test_items_come_in_order_and_the_end_after_them() -> None:
    """In few batches: each takes Python's lock from the loop."""
    sink, writer = Kept(), Writer()
    run = writer.open(sink)
    for number in range(1000):
        run.put(float(number), "a>c", b"x", 1)
    run.close()
    assert run.wait_for_end(SECONDS)
    writer.close()
    writer.close()
    assert [item[0] for item in sink.items] == [float(number) for number in range(1000)]
    assert sink.finished
    assert sink.batches < 20


def test_the_end_of_the_runner_writes_what_is_there() -> None:
    """Also of a run that was given up before its end."""
    sink, writer = Kept(), Writer()
    writer.open(sink).put(0.0, "a>c", b"x", 1)
    writer.close()
    assert len(sink.items) == 1
    assert not sink.finished
    Writer().close()


def test_a_queue_over_its_bound_is_full_until_it_is_half_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who can wait waits; what comes all the same is kept."""
    monkeypatch.setattr(module, "MAX_QUEUED_BYTES", 10_000)
    monkeypatch.setattr(module, "HURRY_BYTES", 1_000)
    sink, writer = Kept(), Writer()
    sink.gate.clear()
    run = writer.open(sink)
    full = []
    for _ in range(2):
        run.put(0.0, "a>c", b"", 9_000)
        full.append(run.is_full)
    assert full == [False, True]
    run.wait_for_room(0.0)
    assert run.taken_bytes == 0
    sink.gate.set()
    run.wait_for_room(SECONDS)
    assert not run.is_full
    run.close()
    assert run.wait_for_end(SECONDS)
    assert run.ended
    writer.close()


def test_a_fault_of_ours_costs_one_transcript() -> None:
    """The others go on, and nobody waits for it for ever."""
    broken, good, writer = Kept(ValueError("a fault of ours")), Kept(), Writer()
    first, second = writer.open(broken), writer.open(good)
    for run in (first, second):
        run.put(0.0, "a>c", b"x", module.MAX_QUEUED_BYTES + 1)
    assert first.wait_for_end(SECONDS)
    assert not first.is_full
    assert (first.failed, second.failed) == (True, False)
    first.put(0.0, "a>c", b"x", 1)
    for run in (first, second):
        run.close()
        assert run.wait_for_end(SECONDS)
    writer.close()
    assert len(good.items) == 1
    assert good.finished


def test_a_queue_is_told_of_once_until_it_was_looked_at() -> None:
    """A flood of items is no flood of wake-ups."""
    ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
    run = RunQueue(Kept(), ready, threading.Event())
    for _ in range(5):
        run.put(0.0, "a>c", b"x", 1)
    assert ready.qsize() == 1
    run.drain()
    run.put(0.0, "a>c", b"x", 1)
    assert ready.qsize() == 2


class Heard:
    """A listener that keeps what passes, and may be behind."""

    def __init__(self) -> None:
        self.passed: list[tuple[str, bytes]] = []
        self.behind = 0

    @property
    def is_behind(self) -> bool:
        """As often as it was said."""
        return self.behind > 0

    def received(self, data: bytes) -> None:
        """Keep them."""
        self.passed.append(("received", data))

    def sent(self, data: bytes) -> None:
        """Keep them."""
        self.passed.append(("sent", data))

    async def caught_up(self) -> None:
        """A little more."""
        self.behind -= 1


async def test_a_tap_tells_the_bytes_that_passed_and_changes_none() -> None:
    """What did not fit was not sent; the end is no bytes."""
    ours, theirs = memory_pair(4)
    heard = Heard()
    tap = Tap(ours, heard)
    with anyio.fail_after(SECONDS):
        assert tap.send_nowait(memoryview(b"abcdef")) == 4
        assert tap.send_nowait(memoryview(b"ef")) == 0
        assert await theirs.receive() == b"abcd"
        await tap.wait_sendable()
        theirs.send_nowait(memoryview(b"xy"))
        assert tap.receive_nowait() == b"xy"
        assert tap.receive_nowait() == b""
        theirs.send_nowait(memoryview(b"z"))
        heard.behind = 2
        assert tap.receive_nowait() == b""
        assert await tap.receive() == b"z"
        theirs.close_send()
        assert await tap.receive() == b""
        tap.close_send()
        assert await theirs.receive() == b""
        tap.close()
    assert heard.passed == [("sent", b"abcd"), ("received", b"xy"), ("received", b"z")]
    assert heard.behind == 0
