"""The figures of a budget: what is folded into each, and what counts as not reported."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from acp_client.policy.budget import Budget, Reached
from acp_client.policy.meter import MAX_COUNT, MAX_IDS
from tests.support.meters import NOW, Told, usd

# ---- the limits


@pytest.mark.parametrize("name", ["max_steps", "max_cost_usd", "max_tokens", "max_wall_seconds"])
@pytest.mark.parametrize("value", [0, -1, True, "5", math.nan, math.inf])
def test_a_limit_is_a_number_above_zero(name: str, value: Any) -> None:
    """The field is named; the value is not shown."""
    with pytest.raises(ValidationError) as caught:
        Budget(**{name: value})
    assert caught.value.errors()[0]["loc"] == (name,)


@pytest.mark.parametrize("name", ["max_steps", "max_tokens"])
def test_a_count_is_whole(name: str) -> None:
    """Half a tool call cannot be made."""
    with pytest.raises(ValidationError):
        Budget.model_validate({name: 1.5})


def test_a_misspelt_limit_is_told_with_the_nearest() -> None:
    """It would hold nothing."""
    with pytest.raises(ValidationError, match="did you mean 'max_cost_usd'"):
        Budget.model_validate({"max_cost": 1.0})


def test_a_budget_cannot_be_changed() -> None:
    """Nor can a run lift its own limit."""
    budget = Budget(max_steps=1)
    with pytest.raises(ValidationError):
        budget.max_steps = 2


# ---- cost


@pytest.mark.parametrize(
    ("costs", "spent"),
    [
        ([0.10, 0.25, 0.25], 0.25),
        ([0.25, 0.25, 0.25], 0.25),
        ([0.25, 0.10], 0.25),
        ([0.25, 0.10, 0.30], 0.30),
        ([0], 0.0),
        ([1], 1.0),
        ([], None),
    ],
)
def test_cost_is_cumulative_assigned_and_the_highest_counts(costs: list[float], spent: float | None) -> None:
    """0.10, 0.25, 0.25 are 0.25; what was spent does not come back."""
    told = Told(Budget(max_cost_usd=100.0))
    for amount in costs:
        told.meter.on_usage(1, usd(amount))
    assert told.spent().cost_usd == spent
    assert told.over() == []


@pytest.mark.parametrize(
    ("limit", "at"), [(0.05, 0), (0.10, 1), (0.24, 1), (0.25, 3), (0.26, 3), (0.29, 3), (0.30, None), (1.0, None)]
)
def test_a_limit_fires_at_the_update_that_exceeds_it(limit: float, at: int | None) -> None:
    """To spend exactly the limit is allowed."""
    told = Told(Budget(max_cost_usd=limit))
    fired = None
    for number, amount in enumerate([0.10, 0.25, 0.25, 0.30]):
        told.meter.on_usage(1, usd(amount))
        if told.over() and fired is None:
            fired = number
    assert fired == at
    assert len(told.over()) == (at is not None)


@pytest.mark.parametrize(
    "cost",
    [None, 5, [], {}, usd("0.5"), usd(None), usd(amount=True), usd(math.nan), usd(math.inf), usd(-1), usd(10**400)]
    + [usd(0.5, currency) for currency in (None, 5, ["USD"])],
)
def test_what_is_no_cost_counts_as_not_reported(cost: Any) -> None:
    """Neither 0 nor NaN; and it is said at once, once."""
    told = Told(Budget(max_cost_usd=0.1))
    told.meter.on_usage(1, cost)
    told.meter.on_usage(1, cost)
    assert told.missed() == ["cost_usd: a usage update has no cost"]
    told.meter.on_turn_end()
    assert len(told.told) == 1
    report = told.meter.report(NOW, asked=True)
    assert (report.spent.cost_usd, report.unreported) == (None, ("cost_usd",))


def test_a_cost_that_is_not_repeated_stays() -> None:
    """An update about the context alone takes nothing back, and nothing is missing."""
    told = Told(Budget(max_cost_usd=1.0))
    told.meter.on_usage(1, usd(0.5))
    told.meter.on_usage(2, None)
    told.meter.on_turn_end()
    assert told.told == []
    assert told.spent().cost_usd == 0.5


def test_a_cost_that_comes_late_is_not_unreported_any_more() -> None:
    """It was said when it was so; the report says how it is."""
    told = Told(Budget(max_cost_usd=1.0))
    told.meter.on_usage(1, None)
    told.meter.on_usage(1, usd(0.5))
    told.meter.on_turn_end()
    assert told.missed() == ["cost_usd: a usage update has no cost"]
    assert told.meter.report(NOW, asked=True).unreported == ()


@pytest.mark.parametrize(
    ("costs", "spent", "unreported"),
    [
        ([usd(5, "EUR")], None, ("cost_usd",)),
        ([usd(5, "EUR"), usd(0.1)], 0.1, ()),
        ([usd(0.1), usd(5, "EUR")], 0.1, ("cost_usd",)),
        ([usd(0.1), usd(5, "EUR"), usd(0.2)], 0.2, ()),
        ([usd(0.1, "usd")], 0.1, ()),
    ],
)
def test_a_cost_in_another_currency_is_not_compared(costs: list[Any], spent: float | None, unreported: Any) -> None:
    """And says so, also where dollars were reported before."""
    told = Told(Budget(max_cost_usd=0.3))
    for cost in costs:
        told.meter.on_usage(1, cost)
    report = told.meter.report(NOW, asked=True)
    assert (report.spent.cost_usd, report.unreported, told.over()) == (spent, unreported, [])
    foreign = any(cost["currency"] == "EUR" for cost in costs)
    assert told.missed() == ["cost_usd: its cost is in EUR, which cannot be compared"] * foreign


def test_the_name_of_a_currency_is_safe_to_print_and_short() -> None:
    """It is the child's text."""
    told = Told(Budget(max_cost_usd=0.3))
    told.meter.on_usage(1, usd(1, "\x1b[2J" + "X" * 1000))
    assert "\x1b" not in told.missed()[0]
    assert len(told.missed()[0]) < 100


# ---- tokens


@pytest.mark.parametrize(
    ("used", "answer", "tokens"),
    [
        ([10, 30, 20], None, 30),
        ([10], {"totalTokens": 100}, 100),
        ([200], {"totalTokens": 100}, 200),
        ([], {"totalTokens": 0}, 0),
        ([], {"inputTokens": 70, "outputTokens": 30}, 100),
        ([], {"inputTokens": 70}, 70),
        ([], {"totalTokens": 50, "inputTokens": 70}, 50),
        ([], {}, None),
        ([], {"totalTokens": -1, "inputTokens": "5", "outputTokens": True}, None),
        ([-1, True, "5", 1.0, None, math.nan], None, None),
        ([2**70], None, MAX_COUNT),
    ],
)
def test_tokens_are_the_greatest_that_was_said(used: list[Any], answer: Any, tokens: int | None) -> None:
    """Of the context and of the answer's total; what is no count is passed over."""
    told = Told(Budget(max_tokens=MAX_COUNT))
    for count in used:
        told.meter.on_usage(count, None)
    if answer is not None:
        told.meter.on_answer(answer)
    told.meter.on_turn_end()
    assert told.spent().tokens == tokens
    assert bool(told.missed()) == (tokens is None)
    assert told.over() == []


# ---- steps


def test_steps_are_distinct_tool_calls() -> None:
    """However often each is updated; the one beyond the limit exceeds it."""
    told = Told(Budget(max_steps=2))
    for call in ["a", "b", "a", "b", "a"]:
        told.meter.on_tool_call(call)
    assert (told.spent().steps, told.over()) == (2, [])
    told.meter.on_tool_call("c")
    assert told.over() == [Reached("steps", 3, 2, shared=False, over=True)]


def test_a_flood_of_tool_calls_is_counted_in_bounded_memory() -> None:
    """Beyond what is told apart, a call counts again: a limit up there still fires."""
    told = Told(Budget(max_steps=MAX_IDS + 1))
    for number in range(MAX_IDS):
        told.meter.on_tool_call(f"call-{number}")
    told.meter.on_tool_call("call-0")
    told.meter.on_tool_call("beyond")
    assert told.over() == []
    told.meter.on_tool_call("beyond")
    assert [found.spent for found in told.over()] == [MAX_IDS + 2]
