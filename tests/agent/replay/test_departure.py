"""How a replay goes, step by step, in this process: real processes that die this way tell nothing afterwards."""

import os
import resource
import signal
import time
from collections.abc import Iterator

import pytest

from acp_agent.replay.departure import LINGER_SECONDS, Departure, depart
from acp_agent.scripted.wire import Inlet, Outlet, Wire


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """How long it would have waited to be killed; what it sets for the whole process is set back."""
    before = signal.getsignal(signal.SIGTERM), resource.getrlimit(resource.RLIMIT_CORE)
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    yield waits
    signal.signal(signal.SIGTERM, before[0])
    resource.setrlimit(resource.RLIMIT_CORE, before[1])


@pytest.fixture
def pipe() -> Iterator[tuple[int, Wire]]:
    """The reading end of a pipe, and the wire that has the other as its stdout."""
    reading, writing = os.pipe()
    yield reading, Wire(Inlet(0), Outlet(writing), Outlet(2))
    os.close(reading)
    os.close(writing)


def test_one_that_went_by_itself_returns_its_code(pipe: tuple[int, Wire], slept: list[float]) -> None:
    """Also where only its children had to be killed."""
    assert depart(Departure(exit_code=7), pipe[1]) == 7
    assert depart(Departure(exit_code=0, killed="kill"), pipe[1]) == 0
    assert slept == []


@pytest.mark.parametrize(("killed", "is_ignored"), [("term", False), ("kill", True)])
def test_one_that_had_to_be_killed_waits_for_it(
    pipe: tuple[int, Wire], slept: list[float], killed: str, *, is_ignored: bool
) -> None:
    """Bounded; it ignores SIGTERM if that was not enough, and closes its output if it had."""
    depart(Departure(exits_early=is_ignored, signal=9, killed=killed), pipe[1])
    assert slept == [LINGER_SECONDS]
    assert (signal.getsignal(signal.SIGTERM) == signal.SIG_IGN) == is_ignored
    if is_ignored:
        assert os.read(pipe[0], 1) == b""


def test_one_that_died_by_a_signal_sends_it_to_itself(pipe: tuple[int, Wire], slept: list[float]) -> None:
    """This one ends nobody; no core file is left by others."""
    assert depart(Departure(signal=int(signal.SIGWINCH)), pipe[1]) == 0
    assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
    assert slept == []
