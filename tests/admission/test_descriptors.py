"""Room for a run's descriptors, counted before it starts."""

import os
import resource
from collections.abc import Iterator
from contextlib import suppress

import pytest

from acp_client.admission.descriptors import HELD, RESERVE, STARTING, Descriptors


@pytest.fixture
def room() -> Iterator[int]:
    """A limit with room for two runs at once, and what is open now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = len(os.listdir("/dev/fd"))  # noqa: PTH208  # no path
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + RESERVE + 2 * STARTING, hard))
    yield opened
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("room")
def test_no_more_is_promised_than_there_is() -> None:
    """What was promised counts, though it is not open yet; what is given back is there again."""
    descriptors = Descriptors()
    assert [descriptors.take() for _ in range(3)] == [True, True, False]
    descriptors.note_started()
    descriptors.give_back()
    assert descriptors.take()
    assert not descriptors.take()


@pytest.mark.usefixtures("room")
def test_what_others_have_open_is_seen() -> None:
    """It is counted again where room is short."""
    descriptors = Descriptors()
    assert descriptors.take()
    taken = [os.open("/dev/null", os.O_RDONLY) for _ in range(STARTING)]
    assert not descriptors.take()
    for fd in taken:
        os.close(fd)
    assert descriptors.take()


def test_where_nothing_would_come_back_a_run_may_try(room: int) -> None:
    """It fails by itself then, and says so; what is no run may not."""
    descriptors = Descriptors()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (room + 1, hard))
    assert not descriptors.take(spare=True)
    assert descriptors.take()
    assert not descriptors.take()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("room")
def test_what_is_no_run_leaves_room_for_one() -> None:
    """A warm process is started only beside it."""
    descriptors = Descriptors()
    assert descriptors.take(spare=True)
    assert not descriptors.take(spare=True)
    assert descriptors.take()


@pytest.mark.usefixtures("room")
def test_a_program_of_ours_raises_the_limit_when_it_is_in_the_way() -> None:
    """To the hard one, and only then."""
    descriptors = Descriptors()
    descriptors.may_raise = True
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert [descriptors.take() for _ in range(2)] == [True, True]
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
    assert descriptors.take()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)


def test_a_limit_that_cannot_be_raised_is_waited_for(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system refuses, or it is at its highest."""

    def refuse(_which: int, _limits: tuple[int, int]) -> None:
        raise ValueError("not allowed to raise maximum limit")

    for limits in ((room + RESERVE + STARTING, 10**6), (room + RESERVE + STARTING,) * 2):
        descriptors = Descriptors()
        descriptors.may_raise = True
        with monkeypatch.context() as patch:
            patch.setattr(resource, "getrlimit", lambda _which, limits=limits: limits)
            patch.setattr(resource, "setrlimit", refuse)
            assert [descriptors.take() for _ in range(2)] == [True, False]


@pytest.mark.usefixtures("room")
def test_without_a_limit_or_a_count_nothing_is_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without /dev/fd, or an unlimited one."""
    descriptors = Descriptors()
    with monkeypatch.context() as patch:
        patch.setattr("acp_client.admission.descriptors._OPEN", "/nonexistent")
        assert [descriptors.take() for _ in range(3)] == [True, True, True]
    descriptors = Descriptors()
    infinity = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (infinity, infinity))
    assert all(descriptors.take() for _ in range(100))


@pytest.mark.usefixtures("room")
def test_without_one_to_look_with_there_is_no_room() -> None:
    """The table is full to the last."""
    descriptors = Descriptors()
    assert descriptors.take()
    taken = []
    with suppress(OSError):
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    full = not descriptors.take()
    for fd in taken:
        os.close(fd)
    assert full
    assert descriptors.take()


@pytest.mark.usefixtures("room")
def test_a_child_of_a_fork_has_promised_nothing() -> None:
    """The runs are its parent's."""
    descriptors = Descriptors()
    assert [descriptors.take() for _ in range(3)] == [True, True, False]
    descriptors.after_fork()
    assert descriptors.take()


def test_a_run_holds_less_than_its_start_needs() -> None:
    """So the promise covers both."""
    assert HELD < STARTING
