"""The deadlines of a run: told the time, it says what has run out."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from acp_client.session.clock import Clock
from acp_client.spec import Limits

LIMITS = Limits(startup_timeout_seconds=10.0, run_timeout_seconds=100.0, idle_timeout_seconds=5.0)
NOW = 1000.0


def started(**limits: Any) -> Clock:
    """A clock that was started at NOW."""
    clock = Clock(LIMITS.model_copy(update=limits))
    clock.start(NOW)
    return clock


def test_before_the_start_nothing_runs_out() -> None:
    """Waiting for admission is not the run's time."""
    clock = Clock(LIMITS)
    assert clock.expired(1e12) is None
    assert clock.next_deadline(1e12) == math.inf


# What happens at which second after the start; then when which deadline passes.
HISTORIES: dict[str, tuple[list[tuple[float, Callable[[Clock, float], None]]], float, str]] = {
    "silence": ([], 5.0, "idle_timeout"),
    "signs of life without a session": (
        [(second, Clock.touch) for second in (3.0, 7.0, 9.0)],
        10.0,
        "startup_timeout",
    ),
    "a session, then silence": (
        [(4.0, Clock.touch), (4.0, lambda clock, _now: clock.session_exists())],
        9.0,
        "idle_timeout",
    ),
    "signs of life for ever": (
        [(0.0, lambda clock, _now: clock.session_exists()), *[(float(s), Clock.touch) for s in range(1, 100, 4)]],
        100.0,
        "run_timeout",
    ),
    "somebody is asked": (
        [(1.0, lambda clock, _now: clock.session_exists()), (2.0, lambda clock, _now: clock.pause_idle())],
        100.0,
        "run_timeout",
    ),
    "somebody has answered": (
        [
            (1.0, lambda clock, _now: clock.session_exists()),
            (2.0, lambda clock, _now: clock.pause_idle()),
            (50.0, Clock.resume_idle),
        ],
        55.0,
        "idle_timeout",
    ),
    "one of two has answered": (
        [
            (1.0, lambda clock, _now: clock.session_exists()),
            (2.0, lambda clock, _now: clock.pause_idle()),
            (3.0, lambda clock, _now: clock.pause_idle()),
            (4.0, Clock.resume_idle),
        ],
        100.0,
        "run_timeout",
    ),
    "a budget of time": (
        [(1.0, lambda clock, now: clock.bind_budget(now + 2.0, now + 3.0)), (3.0, Clock.touch)],
        4.0,
        "budget_exceeded",
    ),
    "a budget of time while somebody is asked": (
        [
            (1.0, lambda clock, _now: clock.session_exists()),
            (1.0, lambda clock, now: clock.bind_budget(math.inf, now + 30.0)),
            (2.0, lambda clock, _now: clock.pause_idle()),
        ],
        31.0,
        "budget_exceeded",
    ),
    "a budget of more time than the run may take": (
        [
            (1.0, lambda clock, now: clock.bind_budget(math.inf, now + 1e6)),
            (1.0, lambda clock, _now: clock.session_exists()),
            (2.0, lambda clock, _now: clock.pause_idle()),
        ],
        100.0,
        "run_timeout",
    ),
    "our own loop was held up": ([(4.0, lambda clock, _now: clock.forgive(3.0))], 8.0, "idle_timeout"),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_the_deadline_that_passes_is_told_when_it_passes(name: str) -> None:
    """And not a moment before."""
    history, at, reason = HISTORIES[name]
    clock = started()
    for second, event in history:
        assert clock.expired(NOW + second) is None
        event(clock, NOW + second)
    assert clock.expired(NOW + at - 0.001) is None
    assert clock.expired(NOW + at) == reason


def test_no_deadline_passes_before_the_one_that_is_told_next() -> None:
    """The timer may sleep until then."""
    clock = started()
    assert clock.next_deadline(NOW) == NOW + 5
    clock.touch(NOW + 3)
    assert clock.next_deadline(NOW + 3) == NOW + 8
    clock.touch(NOW + 7)
    assert clock.next_deadline(NOW + 7) == NOW + 10
    clock.session_exists()
    assert clock.next_deadline(NOW + 7) == NOW + 12
    clock.pause_idle()
    assert clock.next_deadline(NOW + 20) == NOW + 25
    assert clock.expired(NOW + 90) is None


def test_the_absolute_limit_is_told_before_others_that_passed_with_it() -> None:
    """And the one for the start before silence."""
    clock = started()
    assert clock.expired(NOW + 50) == "startup_timeout"
    assert clock.expired(NOW + 100) == "run_timeout"


OFF = ["startup_timeout_seconds", "run_timeout_seconds", "idle_timeout_seconds"]


@pytest.mark.parametrize("name", OFF)
def test_a_timeout_that_is_off_never_passes(name: str) -> None:
    """The others still do."""
    clock = started(**{name: None})
    reasons = {clock.expired(NOW + second) for second in range(200)}
    assert name.removesuffix("_seconds") not in reasons
    assert reasons != {None}
    clock = started(**dict.fromkeys(OFF))
    assert clock.next_deadline(NOW) == math.inf
    assert clock.expired(1e12) is None


def test_a_hold_up_of_our_own_does_not_move_the_absolute_limit() -> None:
    """It is the caller's time."""
    clock = started()
    clock.forgive(1000.0)
    assert clock.expired(NOW + 100) == "run_timeout"
