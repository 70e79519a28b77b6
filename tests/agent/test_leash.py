"""The leash: whatever holds a process, it goes when its stdin has ended."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from acp_agent.leash import Leash
from tests.agent.served import WAIT_SECONDS

SHORT = 0.01


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Both ends of a pipe that stands for stdin."""
    ends = os.pipe()
    yield ends
    for fd in ends:
        with suppress(OSError):
            os.close(fd)


@pytest.mark.row("TREE-3")
def test_a_block_that_is_not_left_after_a_hang_up_is_ended(pipe: tuple[int, int]) -> None:
    """Though nobody in it has noticed."""
    ended = threading.Event()
    with Leash(pipe[0], ended.set, seconds=SHORT):
        os.write(pipe[1], b"unread")
        os.close(pipe[1])
        assert ended.wait(WAIT_SECONDS)


@pytest.mark.row("TREE-3")
def test_a_block_that_is_not_left_after_it_was_told_to_is_ended(pipe: tuple[int, int]) -> None:
    """With stdin still open, as after a signal; being told twice is no more than once."""
    ended = threading.Event()
    with Leash(pipe[0], ended.set, seconds=SHORT) as leash:
        leash.tighten()
        leash.tighten()
        assert ended.wait(WAIT_SECONDS)


def test_a_block_that_is_left_in_time_is_left_in_peace(pipe: tuple[int, int]) -> None:
    """Whether stdin has ended, it was told, both, or neither; no thread and no descriptor stays."""
    before = _descriptors()
    ended = threading.Event()
    for told in (True, False):
        with Leash(pipe[0], ended.set) as leash:
            if told:
                leash.tighten()
        leash.tighten()
    assert _descriptors() == before
    os.close(pipe[1])
    with Leash(pipe[0], ended.set) as leash:
        leash.tighten()
    assert not ended.is_set()
    assert all(thread.name != "leash" for thread in threading.enumerate())


def test_a_file_as_stdin_never_hangs_up() -> None:
    """It ends by being read; only the program knows when."""
    ended = threading.Event()
    with open(os.devnull, "rb") as file, Leash(file.fileno(), ended.set, seconds=SHORT):  # noqa: PTH123  # a device
        assert not ended.wait(SHORT * 10)


def _descriptors() -> set[str]:
    return {entry.name for entry in Path("/dev/fd").iterdir()}
