import os
from collections.abc import Iterator

import pytest

from acp_agent.scripted.wire import PIPE_BUF, Inlet, LineTooLongError, Outlet, Wire


@pytest.fixture
def packets() -> Iterator[tuple[int, int]]:
    """A pipe whose every read gives one write."""
    read_fd, write_fd = os.pipe2(os.O_DIRECT)
    os.set_blocking(read_fd, False)
    yield read_fd, write_fd
    for fd in (read_fd, write_fd):
        try:
            os.close(fd)
        except OSError:  # closed by the test
            continue


def writes(fd: int) -> list[bytes]:
    """What was written, a piece for each write."""
    found = []
    while True:
        try:
            found.append(os.read(fd, 2 * PIPE_BUF))
        except BlockingIOError:
            return found


def test_bytes_are_written_in_pieces_of_the_size_asked_for(packets: tuple[int, int]) -> None:
    """One byte at a time, or as much as a pipe takes at once."""
    outlet = Outlet(packets[1])
    outlet.put(b"abc", 1)
    outlet.put(b"x" * PIPE_BUF + b"y")
    assert writes(packets[0]) == [b"a", b"b", b"c", b"x" * PIPE_BUF, b"y"]
    assert outlet.empty


def test_what_is_held_is_written_as_one_piece(packets: tuple[int, int]) -> None:
    """Nothing before the release, nothing at all if nothing was put."""
    outlet = Outlet(packets[1])
    outlet.hold()
    outlet.put(b"a")
    outlet.put(b"b", 1)
    assert writes(packets[0]) == []
    outlet.release()
    assert writes(packets[0]) == [b"ab"]
    outlet.hold()
    outlet.release()
    assert writes(packets[0]) == []


def test_a_full_pipe_blocks_nobody_and_loses_nothing(packets: tuple[int, int]) -> None:
    """What does not fit waits, and is counted."""
    outlet = Outlet(packets[1])
    data = os.urandom(300_000)
    outlet.put(data)
    assert 0 < outlet.pending_bytes < len(data)
    found = b""
    while not outlet.empty:
        found += b"".join(writes(packets[0]))
        outlet.flush()
    assert found + b"".join(writes(packets[0])) == data
    assert outlet.pending_bytes == 0


def test_a_reader_that_is_gone_breaks_the_outlet_for_good(packets: tuple[int, int]) -> None:
    """What was waiting and what comes later is dropped."""
    outlet = Outlet(packets[1])
    outlet.put(b"x" * 300_000)
    os.close(packets[0])
    outlet.flush()
    assert outlet.broken
    outlet.put(b"more")
    assert outlet.empty
    assert outlet.pending_bytes == 0


def test_lines_are_split_on_newlines_alone_wherever_reads_are_cut(packets: tuple[int, int]) -> None:
    """A bare CR is no end; at EOF the torn rest is given."""
    inlet = Inlet(packets[0])
    found = []
    for data in (b"a\rb", b"c\n\n", b"d\r\ne"):
        os.write(packets[1], data)
        found += list(inlet.lines())
    assert found == [b"a\rbc\n", b"\n", b"d\r\n"]
    os.close(packets[1])
    assert list(inlet.lines()) == [b"e"]
    assert inlet.eof


def test_an_end_after_a_whole_line_gives_no_rest(packets: tuple[int, int]) -> None:
    """EOF alone is no line."""
    inlet = Inlet(packets[0])
    os.close(packets[1])
    assert list(inlet.lines()) == []
    assert inlet.eof


def test_a_line_above_the_limit_is_an_error(packets: tuple[int, int]) -> None:
    """The memory for a client's line is bounded; whole lines up to it are given."""
    inlet = Inlet(packets[0], max_line_bytes=4)
    os.write(packets[1], b"abcd\n1234")
    assert list(inlet.lines()) == [b"abcd\n"]
    os.write(packets[1], b"5")
    with pytest.raises(LineTooLongError):
        list(inlet.lines())


def test_a_client_that_reads_no_answers_is_not_read_either(packets: tuple[int, int]) -> None:
    """Above the bound for pending answers stdin is left alone, until they were read."""
    other_read_fd, other_write_fd = os.pipe()
    wire = Wire(stdin=Inlet(packets[0]), stdout=Outlet(other_write_fd), stderr=Outlet(other_write_fd))
    wire.stdin.reading = True
    wire.max_pending_bytes = 100_000
    os.write(packets[1], b"x")
    wire.stdout.put(b"y" * 300_000)
    assert not wire.exchange(0)
    while not wire.stdout.empty:
        os.read(other_read_fd, 65_536)
        wire.stdout.flush()
    assert wire.exchange(0)
    os.close(other_read_fd)
    os.close(other_write_fd)
