"""The limits of a budget: warnings, time, the sum of a runner's runs, and the words for it."""

import math
import sys
from collections.abc import Callable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.policy.budget import Budget, Figure, Reached, Spent, say_exceeded
from acp_client.policy.meter import Ledger, Meter
from tests.support.meters import NOW, Told, usd

# ---- warnings, and what is not limited

GROW: dict[Figure, Callable[[Meter, int], None]] = {
    "steps": lambda meter, number: meter.on_tool_call(str(number)),
    "cost_usd": lambda meter, number: meter.on_usage(None, usd(float(number))),
    "tokens": lambda meter, number: meter.on_usage(number, None),
    "wall_seconds": lambda meter, number: meter.tick(NOW + number),
}


@pytest.mark.parametrize("figure", GROW)
def test_eighty_percent_are_told_once_and_the_end_once(figure: Figure) -> None:
    """Of ten: at eight, and beyond ten."""
    told = Told(Budget(**{f"max_{figure}": 10}))
    told.meter.begin(NOW)
    at: list[tuple[int, bool]] = []
    for number in range(1, 15):
        before = len(told.told)
        GROW[figure](told.meter, number)
        at += [(number, found.over) for found in told.told[before:] if isinstance(found, Reached)]
    assert at == [(8, False), (11, True)]
    report = told.meter.report(NOW + 14, asked=True)
    assert (report.exceeded, report.warned) == (figure, (figure,))
    assert getattr(report.spent, figure) == 14


@pytest.mark.parametrize(("limit", "amount"), [(0.1, 0.08), (0.3, 0.24), (0.7, 0.56), (1.1, 0.88), (0.05, 0.04)])
def test_eighty_percent_is_meant_in_decimals(limit: float, amount: float) -> None:
    """Though no binary fraction is one of these."""
    told = Told(Budget(max_cost_usd=limit))
    told.meter.on_usage(1, usd(amount))
    assert told.warned() == ["cost_usd"]


def test_a_leap_over_the_limit_needs_no_warning() -> None:
    """It would come too late."""
    told = Told(Budget(max_cost_usd=0.2))
    told.meter.on_usage(1, usd(0.25))
    assert (told.warned(), len(told.over())) == ([], 1)


@pytest.mark.parametrize("budget", [Budget(), None])
def test_without_a_limit_nothing_is_told_and_all_is_counted(budget: Budget | None) -> None:
    """Also nothing of what is missing: nobody waits for it."""
    told = Told(budget, Ledger(Budget()))
    told.meter.begin(NOW)
    told.meter.on_tool_call("a")
    told.meter.on_usage(None, usd(5, "EUR"))
    told.meter.on_usage(7, usd(1e9))
    told.meter.tick(NOW + 1e9)
    told.meter.on_turn_end()
    assert told.told == []
    report = told.meter.report(NOW + 3, asked=True)
    assert report.spent == Spent(steps=1, cost_usd=1e9, tokens=7, wall_seconds=3.0)
    assert (report.exceeded, report.warned, report.unreported) == (None, (), ())
    assert told.meter.seconds_left(NOW) == (math.inf, math.inf)


def test_before_the_prompt_nothing_is_unreported() -> None:
    """Nobody could report anything."""
    told = Told(Budget(max_cost_usd=1.0, max_tokens=5))
    assert told.meter.report(NOW, asked=False).unreported == ()
    assert told.meter.report(NOW, asked=True).unreported == ("cost_usd", "tokens")


# ---- time


def test_time_runs_from_the_beginning_of_the_run_and_says_when_to_look() -> None:
    """Waiting for a place is not its time."""
    told = Told(Budget(max_wall_seconds=10.0))
    told.meter.tick(NOW + 100)
    told.meter.begin(NOW + 100)
    assert told.meter.seconds_left(NOW + 101) == (7.0, 9.0)
    told.meter.tick(NOW + 108)
    assert (told.warned(), told.meter.seconds_left(NOW + 108)) == (["wall_seconds"], (math.inf, 2.0))
    told.meter.tick(NOW + 110.5)
    assert [found.spent for found in told.over()] == [10.5]


def test_the_time_of_a_runner_runs_from_its_first_run() -> None:
    """A later run has what is left of it; between the runs it runs on."""
    ledger = Ledger(Budget(max_wall_seconds=10.0))
    first, second = Told(None, ledger), Told(Budget(max_wall_seconds=5.0), ledger)
    first.meter.begin(NOW)
    second.meter.begin(NOW + 3)
    assert second.meter.seconds_left(NOW + 3) == (4.0, 5.0)
    second.meter.tick(NOW + 8)
    assert second.meter.seconds_left(NOW + 8) == (math.inf, 0.0)
    for one in (first, second):
        one.meter.end(asked=True)
    late = Told(None, ledger, at=NOW + 11)
    assert [found.figure for found in late.over()] == ["wall_seconds"]


# ---- shared


def test_ten_times_a_tenth_is_one() -> None:
    """Amounts are added as they are written; to spend exactly the limit is allowed."""
    ledger = Ledger(Budget(max_cost_usd=1.0))
    runs = [Told(None, ledger) for _ in range(10)]
    for run in runs:
        run.meter.on_usage(1, usd(0.1))
    assert [run.over() for run in runs] == [[]] * 10
    runs[3].meter.on_usage(1, usd(0.11))
    exceeded = Reached("cost_usd", 1.01, 1.0, shared=True, over=True)
    assert [run.over() for run in runs] == [[exceeded]] * 10
    shared = runs[0].meter.report(NOW, asked=True).shared
    assert shared is not None
    assert (shared.added.cost_usd, shared.spent.cost_usd, shared.exceeded) == (0.1, 1.01, "cost_usd")


def test_a_sum_beyond_every_float_is_the_greatest_one() -> None:
    """Infinity is no JSON, and would read as not reported."""
    ledger = Ledger(Budget(max_cost_usd=1.7e308))
    runs = [Told(None, ledger) for _ in range(3)]
    for run in runs:
        run.meter.on_usage(1, usd(1e308))
    shared = runs[0].meter.report(NOW, asked=True).shared
    assert shared is not None
    assert (shared.spent.cost_usd, shared.exceeded) == (sys.float_info.max, "cost_usd")


def test_a_run_that_has_ended_still_counts_and_is_told_nothing() -> None:
    """What it spent stays spent."""
    ledger = Ledger(Budget(max_steps=2))
    first, second = Told(None, ledger), Told(None, ledger)
    first.meter.on_tool_call("a")
    first.meter.end(asked=True)
    second.meter.on_tool_call("a")
    assert second.warned() == ["steps"]
    second.meter.on_tool_call("b")
    assert (len(first.told), len(second.over())) == (0, 1)


def test_a_run_that_comes_when_all_is_spent_is_told_at_once() -> None:
    """Before anything is started for it."""
    ledger = Ledger(Budget(max_tokens=5))
    Told(None, ledger).meter.on_usage(6, None)
    assert Told(None, ledger).over() == [Reached("tokens", 6, 5, shared=True, over=True)]


def test_a_run_is_held_to_both_budgets() -> None:
    """Its own is named first where one update exceeds both."""
    ledger = Ledger(Budget(max_cost_usd=0.5))
    dear, other = Told(Budget(max_cost_usd=0.5), ledger), Told(Budget(max_cost_usd=0.5), ledger)
    dear.meter.on_usage(1, usd(0.6))
    assert [found.shared for found in dear.over()] == [False, True]
    assert [found.shared for found in other.over()] == [True]


def test_a_figure_that_the_shared_budget_limits_is_missed_too() -> None:
    """In the run that does not report it, and in the sum that is too low for it."""
    ledger = Ledger(Budget(max_cost_usd=0.5))
    silent, honest = Told(None, ledger), Told(None, ledger)
    silent.meter.on_turn_end()
    assert silent.missed() == ["cost_usd: the turn is over and it was not reported"]
    silent.meter.end(asked=True)
    honest.meter.on_usage(1, usd(0.1))
    report = honest.meter.report(NOW, asked=True)
    assert report.shared is not None
    assert (report.unreported, report.shared.unreported) == ((), ("cost_usd",))


SEQUENCES = [[0.3, 0.4], [0.4, 0.2, 0.5], [0.1]]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_sum_is_of_the_highest_of_each_run_in_any_order(order: tuple[int, ...]) -> None:
    """0.4 + 0.5 + 0.1, whoever comes first."""
    ledger = Ledger(Budget(max_cost_usd=1.0))
    runs = [Told(None, ledger) for _ in SEQUENCES]
    for number in order:
        for amount in SEQUENCES[number]:
            runs[number].meter.on_usage(1, usd(amount))
    shared = runs[0].meter.report(NOW, asked=True).shared
    assert shared is not None
    assert shared.spent.cost_usd == 1.0
    assert [run.over() for run in runs] == [[], [], []]


_EVENTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10_000)), max_size=40)


@given(_EVENTS, st.integers(1, 20_000))
def test_a_shared_budget_ends_all_exactly_when_the_sum_goes_over(events: list[tuple[int, int]], limit: int) -> None:
    """Whatever is reported in whatever order: in mills, against the sum of the maxima done by hand."""
    ledger = Ledger(Budget(max_cost_usd=limit / 1000))
    runs = [Told(None, ledger) for _ in range(5)]
    highest = [0] * 5
    for who, mills in events:
        runs[who].meter.on_usage(1, usd(mills / 1000))
        highest[who] = max(highest[who], mills)
        assert [bool(run.over()) for run in runs] == [sum(highest) > limit] * 5
        if sum(highest) > limit:
            break


# ---- the words


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (Reached("cost_usd", 0.25, 0.2, shared=False, over=True), ["0.25 USD", "max_cost_usd = 0.2 USD", "the spec"]),
        (Reached("steps", 3, 2, shared=False, over=True), ["3 tool calls", "max_steps = 2 tool calls"]),
        (Reached("tokens", 10**7, 5, shared=False, over=True), ["10000000 tokens", "max_tokens = 5 tokens"]),
        (Reached("wall_seconds", 1.0004, 1.0, shared=False, over=True), ["1.0004 s", "max_wall_seconds = 1 s"]),
        (Reached("cost_usd", 1.1, 1.0, shared=True, over=True), ["together", "max_cost_usd = 1 USD", "Runner(budget"]),
    ],
)
def test_the_end_says_what_was_spent_of_which_limit_and_what_to_do(found: Reached, says: list[str]) -> None:
    """On one line."""
    said = say_exceeded(found)
    assert [words for words in says if words not in said] == []
    assert "\n" not in said
