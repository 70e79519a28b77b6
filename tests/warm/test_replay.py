"""The record of an agent that was greeted ahead of its run."""

import anyio
import anyio.lowlevel
import pytest

from acp_client.protocol.streams import MemoryTransport, memory_pair
from acp_client.warm.replay import MAX_RECORD_BYTES, Replay

GREETING = b"hello\n"


def _replay() -> tuple[Replay, MemoryTransport]:
    ours, theirs = memory_pair()
    return Replay(ours, GREETING), theirs


async def test_the_greeting_is_swallowed_and_answered_from_the_record() -> None:
    """In pieces too; then everything goes through."""
    replay, theirs = _replay()
    assert replay.record(b"hi\n")
    assert replay.record(b"there\n")
    assert replay.receive_nowait() == b""
    assert replay.send_nowait(memoryview(GREETING[:2])) == 2
    assert replay.send_nowait(memoryview(GREETING[2:] + b"next\n")) == 4
    assert [await replay.receive(), replay.receive_nowait()] == [b"hi\n", b"there\n"]
    assert replay.send_nowait(memoryview(b"next\n")) == 5
    assert theirs.receive_nowait() == b"next\n"
    theirs.send_nowait(memoryview(b"live\n"))
    assert replay.receive_nowait() == b"live\n"
    theirs.send_nowait(memoryview(b"more\n"))
    assert await replay.receive() == b"more\n"
    await replay.wait_sendable()


async def test_nothing_is_answered_before_it_is_asked() -> None:
    """A reader that is there first waits."""
    replay, _theirs = _replay()
    replay.record(b"hi\n")
    got: list[bytes] = []

    async def read() -> None:
        got.append(await replay.receive())

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            for _ in range(3):
                await anyio.lowlevel.checkpoint()
            assert got == []
            replay.send_nowait(memoryview(GREETING))
    assert got == [b"hi\n"]


async def test_a_run_that_ends_without_a_greeting_gets_no_answer() -> None:
    """Only EOF, when the other end closes."""
    replay, theirs = _replay()
    replay.record(b"hi\n")
    replay.close_send()
    assert theirs.receive_nowait() == b""
    theirs.close_send()
    with anyio.fail_after(5):
        assert await replay.receive() == b""
    replay.close()
    with pytest.raises(BrokenPipeError):
        theirs.send_nowait(memoryview(b"late\n"))


def test_the_record_is_bounded() -> None:
    """More than that, and the process is of no use."""
    replay = Replay(None, GREETING)  # type: ignore[arg-type]  # nothing is moved
    assert replay.record(b"x" * MAX_RECORD_BYTES)
    assert not replay.record(b"x")
