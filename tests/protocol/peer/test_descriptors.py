"""Descriptors that others hold too: after a fork, and a terminal."""

import os
import pty

import anyio
import pytest

from acp_client.protocol import streams
from acp_client.protocol.streams import FdReader, FdTransport


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # what it is about, from 3.12 on
async def test_a_fork_does_not_hold_the_pipe_open() -> None:
    """Its child lives on, and the other side sees EOF all the same when we close."""
    there, ours = os.pipe()
    ours_in, theirs = os.pipe()
    gate_out, gate_in = os.pipe()
    transport = FdTransport(ours_in, ours)
    pid = os.fork()
    if pid == 0:
        os.close(gate_in)
        os.read(gate_out, 1)  # until the test lets go
        os._exit(0)
    os.close(gate_out)
    transport.close_send()
    try:
        assert os.read(there, 1) == b""
    finally:
        os.close(gate_in)
        os.waitpid(pid, 0)  # noqa: ASYNC222  # it ends at once: its gate is open
        transport.close()
        os.close(there)
        os.close(theirs)


async def test_the_child_of_a_fork_can_let_go_without_an_event_loop() -> None:
    """Both descriptors, once."""
    reading, theirs = os.pipe()
    there, writing = os.pipe()
    transport = FdTransport(reading, writing)
    streams._close_in_child()  # what runs after every fork, here in the parent
    transport.abandon()
    assert os.read(there, 1) == b""
    with pytest.raises(BrokenPipeError):
        os.write(theirs, b"x")
    os.close(there)
    os.close(theirs)


async def test_a_terminal_that_is_finished_is_not_waited_for() -> None:
    """Nothing more need be typed."""
    far, near = pty.openpty()
    reader = FdReader(near)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            got: list[bytes] = []

            async def read() -> None:
                got.append(await reader.receive())

            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            reader.finish()
    assert got == [b""]
    reader.close()
    os.close(far)
