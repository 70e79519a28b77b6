"""What a reader hands over by itself: in order, to its end, however that comes."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel

from acp_client.protocol.streams import READ_BYTES, FdReader


async def handed_over(reader: FdReader, act: Callable[[list[bytes]], None] = lambda _got: None) -> list[bytes]:
    """All that it hands over, to the end; `act` is called after each piece."""
    got: list[bytes] = []
    ended = anyio.Event()

    def take(data: bytes) -> None:
        got.append(data)
        act(got)
        if not data:
            ended.set()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            reader.hand_over(take, tasks.start_soon)
            await anyio.wait_all_tasks_blocked()
            act(got)
            await ended.wait()
    return got


async def test_what_can_always_be_read_is_handed_over_to_its_end(tmp_path: Path) -> None:
    """A file and /dev/null, which no event loop can wait for."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * (READ_BYTES + 1))
    reader = FdReader(os.open(path, os.O_RDONLY))
    assert [len(data) for data in await handed_over(reader)] == [READ_BYTES, 1, 0]
    reader.close()
    reader = FdReader(os.open(os.devnull, os.O_RDONLY))
    assert await handed_over(reader) == [b""]
    reader.close()


async def test_who_is_handed_what_comes_gets_eof_when_the_reader_closes_or_the_writer_is_gone() -> None:
    """Though somebody else holds the pipe, which is the case where nobody else says so."""
    for end in (FdReader.close, FdReader.finish):
        near, far = os.pipe()
        os.write(far, b"last words")
        reader = FdReader(near)
        act = partial(_end_once_there_is_something, reader, end)
        assert await handed_over(reader, act) == [b"last words", b""]
        reader.close()
        os.close(far)


def _end_once_there_is_something(reader: FdReader, end: Callable[[FdReader], None], got: list[bytes]) -> None:
    if got:
        end(reader)


async def test_a_second_receiver_goes_on_where_the_first_one_was() -> None:
    """As a run does that takes a warm process."""
    near, far = os.pipe()
    reader = FdReader(near)
    first: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        reader.hand_over(first.append, tasks.start_soon)
        os.write(far, b"one")
        with anyio.fail_after(10):
            while not first:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    os.write(far, b"two")
    os.close(far)
    assert await handed_over(reader) == [b"two", b""]
    assert first == [b"one"]
    reader.close()


async def test_a_closed_reader_hands_over_its_end() -> None:
    """Whoever waits for it would wait for ever."""
    reader = FdReader(os.open(os.devnull, os.O_RDONLY))
    reader.close()
    assert await handed_over(reader) == [b""]


async def test_what_somebody_else_has_read_first_is_no_end() -> None:
    """Both are told that there is something, and one of them gets it."""
    near, far = os.pipe()
    readers = [FdReader(near), FdReader(os.dup(near))]
    got: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        for reader in readers:
            reader.hand_over(got.append, tasks.start_soon)
        with anyio.fail_after(10):
            for word in (b"one", b"two"):
                os.write(far, word)
                while word not in got:
                    await anyio.lowlevel.checkpoint()
            os.close(far)
            while len(got) < 4:
                await anyio.lowlevel.checkpoint()
    assert got == [b"one", b"two", b"", b""]
    for reader in readers:
        reader.close()
