"""What is to be written: in order, at once where there is room, and nothing raised where nobody reads."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from acp_client.protocol.envelope import request_frame
from acp_client.protocol.outbox import TAP_VARIABLE, Outbox
from acp_client.protocol.states import OurRequest
from acp_client.protocol.streams import MemoryTransport, memory_pair

pytestmark = pytest.mark.odd_frames

SECONDS = 5.0
CAPACITY = 10


class Wire:
    """An outbox over a small pipe, and what it has lost."""

    def __init__(self) -> None:
        self.ours, self.theirs = memory_pair(CAPACITY)
        self.lost: list[OurRequest] = []
        self.outbox = Outbox(self.ours, self.lost.append)

    def put(self, frame: bytes, **more: Any) -> None:
        """Queue a frame of no method."""
        self.outbox.put(frame, "", **more)

    async def read(self, size: int) -> bytes:
        """So many bytes from the other end."""
        data = b""
        with anyio.fail_after(SECONDS):
            while len(data) < size:
                data += await self.theirs.receive()
        return data


@asynccontextmanager
async def writing(wire: Wire) -> AsyncIterator[None]:
    """The writer runs."""
    async with anyio.create_task_group() as tasks:
        wire.outbox.open(tasks.start_soon)
        with anyio.fail_after(SECONDS):
            yield
        tasks.cancel_scope.cancel()


async def test_a_frame_is_written_at_once_where_there_is_room() -> None:
    """Without any task."""
    wire = Wire()
    wire.put(b"abc\n")
    assert not wire.outbox
    assert wire.theirs.receive_nowait() == b"abc\n"


async def test_frames_that_do_not_fit_follow_in_order_and_whole() -> None:
    """However small the pipe is."""
    wire = Wire()
    frames = [bytes([65 + number]) * (number * 3) + b"\n" for number in range(12)]
    for frame in frames:
        wire.put(frame)
    assert wire.outbox
    async with writing(wire):
        assert await wire.read(len(b"".join(frames))) == b"".join(frames)
        await wire.outbox.flush()
    assert not wire.outbox


async def test_flush_of_nothing_returns_at_once() -> None:
    """Also without a writer."""
    with anyio.fail_after(SECONDS):
        await Wire().outbox.flush()


async def test_the_bytes_of_answers_are_counted_until_they_are_written() -> None:
    """And only those of answers."""
    wire = Wire()
    wire.put(b"x" * 10)
    wire.put(b"answer" * 5, is_answer=True)
    wire.put(b"y" * 20)
    assert wire.outbox.answer_bytes == 30
    async with writing(wire):
        await wire.read(40)
        while wire.outbox.answer_bytes:
            await wire.outbox.changed()
        assert wire.outbox
        await wire.read(20)


async def test_a_change_is_told_though_the_next_frame_fits_only_in_part() -> None:
    """Whoever waits for one answer to be written need not wait for all."""
    wire = Wire()
    wire.put(b"a" * (CAPACITY - 1), is_answer=True)
    wire.theirs.receive_nowait()
    wire.put(b"b" * CAPACITY, is_answer=True)
    wire.put(b"c" * CAPACITY * 9, is_answer=True)
    told = anyio.Event()

    async def wait() -> None:
        await wire.outbox.changed()
        told.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        wire.theirs.receive_nowait()
        async with writing(wire):
            await told.wait()
            assert wire.outbox


async def test_a_broken_pipe_is_remembered_and_every_request_on_its_way_is_lost() -> None:
    """The frames that wait and those that come later."""
    wire = Wire()
    requests = [OurRequest(number, "m") for number in range(3)]
    wire.put(b"x" * 20)
    wire.put(request_frame(0, "m", {}), request=requests[0])
    wire.put(b"answer", is_answer=True)
    wire.theirs.close()
    wire.put(request_frame(1, "m", {}), request=requests[1])
    assert wire.lost == []
    async with writing(wire):
        await wire.outbox.lost.wait()
        assert wire.lost == requests[:2]
        wire.put(request_frame(2, "m", {}), request=requests[2])
        assert wire.lost == requests
        assert not wire.outbox
        assert wire.outbox.answer_bytes == 0
        await wire.outbox.flush()


async def test_a_request_that_was_written_whole_is_not_lost_by_writing() -> None:
    """Its answer may still come."""
    wire = Wire()
    request = OurRequest(1, "m")
    wire.put(b"short", request=request)
    wire.theirs.close()
    wire.put(b"next")
    assert wire.outbox.lost.is_set()
    assert wire.lost == []


async def test_clearing_drops_what_is_queued_and_tells_those_who_wait() -> None:
    """Requests among it are lost."""
    wire = Wire()
    request = OurRequest(1, "m")
    wire.put(b"x" * 30, is_answer=True)
    wire.put(b"y", request=request)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.outbox.flush)
        await anyio.wait_all_tasks_blocked()
        wire.outbox.clear()
    assert wire.lost == [request]
    assert wire.theirs.receive_nowait() == b"x" * CAPACITY


class Sluggish(MemoryTransport):
    """Says that there is room and takes nothing, every other time."""

    turns = 0

    def send_nowait(self, data: memoryview) -> int:
        """A byte, or none."""
        self.turns += 1
        return 0 if self.turns % 2 else super().send_nowait(data[:1])


async def test_a_pipe_that_takes_nothing_though_it_said_so_is_asked_again() -> None:
    """As a pipe may that others write to as well."""
    ours, theirs = memory_pair()
    outbox = Outbox(Sluggish(ours._incoming, ours._outgoing), lambda _request: None)
    outbox.put(b"abcdef", "")
    async with anyio.create_task_group() as tasks:
        outbox.open(tasks.start_soon)
        with anyio.fail_after(SECONDS):
            await outbox.flush()
        tasks.cancel_scope.cancel()
    assert theirs.receive_nowait() == b"abcdef"


async def test_a_tap_gets_each_frame_with_its_method(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that never reach the other side; without the variable there is no tap."""
    tap = tmp_path / "tap"
    monkeypatch.setenv(TAP_VARIABLE, str(tap))
    wire = Wire()
    wire.outbox.put(b'{"a":1}\n', "session/new")
    wire.theirs.close()
    wire.outbox.put(b'{"b":2}\n', "")
    monkeypatch.delenv(TAP_VARIABLE)
    Wire().outbox.put(b"c\n", "x")
    assert tap.read_bytes() == b'session/new {"a":1}\n {"b":2}\n'
