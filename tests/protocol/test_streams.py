"""Transports: over descriptors and in memory, the same promises."""

import os
import pty
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from acp_client.protocol.streams import MAX_PIPE_BYTES, READ_BYTES, FdReader, FdTransport, MemoryTransport, memory_pair
from acp_client.protocol.transport import Transport

SECONDS = 5.0

Pair = tuple[Transport, Transport]


def pipes() -> Pair:
    """Two transports over two pipes."""
    (one_in, two_out), (two_in, one_out) = os.pipe(), os.pipe()
    return FdTransport(one_in, one_out), FdTransport(two_in, two_out)


def sockets() -> Pair:
    """Two transports over two pairs of sockets, as a parent may connect an agent that uses libuv."""
    fds = []
    for _ in range(2):
        one, two = socket.socketpair()
        fds.append((one.detach(), two.detach()))
    (one_in, two_out), (two_in, one_out) = fds
    return FdTransport(one_in, one_out), FdTransport(two_in, two_out)


@pytest.fixture(params=[memory_pair, pipes, sockets])
async def pair(request: pytest.FixtureRequest) -> AsyncIterator[Pair]:
    """Two connected transports."""
    ours, theirs = request.param()
    yield ours, theirs
    ours.close()
    theirs.close()


async def send(transport: Transport, data: bytes) -> None:
    """All of it."""
    rest = memoryview(data)
    while rest:
        rest = rest[transport.send_nowait(rest) :]
        if rest:
            await transport.wait_sendable()


async def receive(transport: Transport | FdReader) -> bytes:
    """What comes, within reason."""
    with anyio.fail_after(SECONDS):
        return await transport.receive()


async def receive_all(transport: Transport | FdReader) -> bytes:
    """Everything until EOF."""
    data = b""
    while piece := await receive(transport):
        data += piece
    return data


def fill(transport: Transport) -> int:
    """Write until it takes no more."""
    total = 0
    while sent := transport.send_nowait(memoryview(b"x" * 4096)):
        total += sent
    return total


async def test_what_one_sends_the_other_receives(pair: Pair) -> None:
    """In both directions."""
    ours, theirs = pair
    await send(ours, b"there")
    await send(theirs, b"back")
    assert (await receive(theirs), await receive(ours)) == (b"there", b"back")


async def test_a_reader_waits_for_the_writer(pair: Pair) -> None:
    """And gets nothing before."""
    ours, theirs = pair
    got = []

    async def read() -> None:
        got.append(await receive(theirs))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        assert theirs.receive_nowait() == b""
        assert got == []
        await send(ours, b"now")
    assert got == [b"now"]


async def test_more_than_fits_is_taken_in_parts(pair: Pair) -> None:
    """A full direction takes nothing until something is read."""
    ours, theirs = pair
    data = bytes(range(256)) * 4096

    async def write() -> None:
        await send(ours, data)
        ours.close_send()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        assert await receive_all(theirs) == data


async def test_a_full_direction_makes_its_writer_wait_until_it_is_read(pair: Pair) -> None:
    """Back-pressure in memory is the same as in life."""
    ours, theirs = pair
    assert fill(ours) > 0
    waited = anyio.Event()

    async def wait() -> None:
        await ours.wait_sendable()
        waited.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert not waited.is_set()
        while theirs.receive_nowait():
            pass
        with anyio.fail_after(SECONDS):
            await waited.wait()


async def test_eof_comes_after_what_was_sent_and_the_other_direction_stays_open(pair: Pair) -> None:
    """Closing to send is idempotent."""
    ours, theirs = pair
    await send(ours, b"last")
    for _ in range(2):
        ours.close_send()
    assert await receive_all(theirs) == b"last"
    assert theirs.receive_nowait() == b""
    await send(theirs, b"answer")
    assert await receive(ours) == b"answer"


async def test_sending_after_our_own_end_is_a_broken_pipe(pair: Pair) -> None:
    """And waiting to send returns, so that the next write can say so."""
    ours, _ = pair
    ours.close_send()
    with anyio.fail_after(SECONDS):
        await ours.wait_sendable()
    with pytest.raises(BrokenPipeError):
        ours.send_nowait(memoryview(b"x"))


async def test_sending_to_one_who_has_gone_is_an_os_error(pair: Pair) -> None:
    """Also for a writer that waits for room."""
    ours, theirs = pair
    fill(ours)

    async def go() -> None:
        await anyio.wait_all_tasks_blocked()
        theirs.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(go)
        with anyio.fail_after(SECONDS):
            await ours.wait_sendable()
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        ours.send_nowait(memoryview(b"x"))


@pytest.mark.parametrize("action", ["receive", "wait_sendable"])
async def test_closing_wakes_whoever_waits(pair: Pair, action: str) -> None:
    """A reader gets EOF, a writer finds out with the next write; closing again does nothing."""
    ours, _ = pair
    fill(ours)
    done = []

    async def wait() -> None:
        done.append(await getattr(ours, action)())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert done == []
        with anyio.fail_after(SECONDS):
            for _ in range(2):
                ours.close()
            await anyio.wait_all_tasks_blocked()
    assert done == [b"" if action == "receive" else None]
    assert await receive(ours) == b""
    assert ours.receive_nowait() == b""


async def test_a_cancelled_reader_loses_nothing(pair: Pair) -> None:
    """What comes later is there for the next one."""
    ours, theirs = pair
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive, theirs)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    await send(ours, b"later")
    assert await receive(theirs) == b"later"


# ---- descriptors alone


async def test_one_read_takes_at_most_what_a_pipe_holds() -> None:
    """So that no read makes a buffer without bound."""
    reader, writer = pipes()
    try:
        fill(writer)
        assert len(await receive(reader)) <= READ_BYTES
    finally:
        reader.close()
        writer.close()


async def test_a_finished_reader_gives_what_is_there_and_ends_though_others_hold_the_pipe() -> None:
    """A descendant that keeps the pipe open cannot hold us."""
    fd, writing = os.pipe()
    try:
        reader = FdReader(fd)
        os.write(writing, b"tail")
        reader.finish()
        reader.finish()
        assert await receive(reader) == b"tail"
        assert await receive(reader) == b""
        reader.close()
        reader.finish()
        assert await receive(reader) == b""
    finally:
        os.close(writing)


async def test_finishing_wakes_a_reader_that_waits() -> None:
    """With EOF where nothing is there."""
    fd, writing = os.pipe()
    reader = FdReader(fd)
    got = []

    async def read() -> None:
        got.append(await receive(reader))

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            reader.finish()
        assert got == [b""]
    finally:
        reader.close()
        os.close(writing)


async def test_a_descendant_that_goes_on_writing_is_read_for_one_pipe_and_no_longer(tmp_path: Path) -> None:
    """All of what can have been there when the writer went, to the last byte."""
    path = tmp_path / "endless"
    path.write_bytes(b"x" * (MAX_PIPE_BYTES + READ_BYTES))
    reader = FdReader(os.open(path, os.O_RDONLY))
    reader.finish()
    assert len(await receive_all(reader)) == MAX_PIPE_BYTES
    reader.close()


async def test_a_file_is_always_ready_and_ends(tmp_path: Path) -> None:
    """As stdin may be a file or `/dev/null`."""
    path = tmp_path / "input"
    path.write_bytes(b"x" * 3 * READ_BYTES)
    transport = FdTransport(os.open(path, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY))
    assert transport.receive_nowait() == b""
    with anyio.fail_after(SECONDS):
        await transport.wait_sendable()
    assert transport.send_nowait(memoryview(b"x")) == 1
    assert await receive_all(transport) == b"x" * 3 * READ_BYTES
    transport.close()


async def test_a_terminal_can_be_waited_for() -> None:
    """An agent started by hand has one for its stdin."""
    controller, terminal = pty.openpty()
    reader = FdReader(terminal)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, os.write, controller, b"hello\n")
            with anyio.fail_after(SECONDS):
                assert await reader.receive() == b"hello\n"
    finally:
        reader.close()
        os.close(controller)


async def test_a_torn_stream_reads_as_its_end() -> None:
    """A reset is no exception: what it cost shows as requests without answers."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reader = FdReader(os.dup(ours.fileno()))
        os.write(ours.fileno(), b"unread")
        theirs.close()
        assert await receive(reader) == b""
        reader.close()


async def test_a_descriptor_closed_between_readiness_and_reading_is_an_end() -> None:
    """As when one task closes while another has just been woken."""
    fd, writing = os.pipe()
    reader = FdReader(fd)
    got = []

    async def read() -> None:
        got.append(await receive(reader))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        os.write(writing, b"x")
        reader.close()
    assert got in ([b""], [b"x"])
    os.close(writing)


async def test_a_reader_that_wakes_to_find_nothing_waits_on() -> None:
    """Another one has the pipe too and was faster; that is no end."""
    fd, writing = os.pipe()
    readers = [FdReader(fd), FdReader(os.dup(fd))]
    got: list[bytes] = []

    async def read(reader: FdReader) -> None:
        got.append(await receive(reader))

    async with anyio.create_task_group() as tasks:
        for reader in readers:
            tasks.start_soon(read, reader)
        await anyio.wait_all_tasks_blocked()
        os.write(writing, b"first")
        with anyio.fail_after(SECONDS):
            while not got:
                await anyio.lowlevel.checkpoint()
        os.write(writing, b"second")
    assert got == [b"first", b"second"]
    for reader in readers:
        reader.close()
    os.close(writing)


async def test_a_memory_pair_holds_what_it_was_made_for() -> None:
    """So that a test can make it as tight as it likes."""
    ours, theirs = memory_pair(3)
    assert isinstance(ours, MemoryTransport)
    assert ours.send_nowait(memoryview(b"abcdef")) == 3
    assert ours.send_nowait(memoryview(b"def")) == 0
    assert theirs.receive_nowait() == b"abc"
    assert ours.send_nowait(memoryview(b"def")) == 3
