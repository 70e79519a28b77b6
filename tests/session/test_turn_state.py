"""The fold of plan, session state and usage."""

from typing import Any

import pytest

from acp_client.outcome.result import Cost
from acp_client.session.turn import Turn


def turn(*updates: Any) -> Turn:
    """A turn that is running and has folded these."""
    folded = Turn(1000)
    folded.phase = "running"
    for update in updates:
        folded.fold(update)
    return folded


STEP = {"content": "a", "priority": "high", "status": "pending"}


def test_a_plan_replaces_the_one_before_and_entries_that_are_none_are_left_out() -> None:
    """Unknown words are kept; a plan that is no list is an empty one."""
    folded = turn({"sessionUpdate": "plan", "entries": [STEP, STEP]})
    assert len(folded.plan_entries()) == 2
    odd = STEP | {"priority": "urgent", "x": 1}
    folded.fold({"sessionUpdate": "plan", "entries": [None, 5, {"content": "no more"}, odd]})
    assert [entry.to_wire() for entry in folded.plan_entries()] == [odd]
    folded.fold({"sessionUpdate": "plan", "entries": None})
    assert folded.plan_entries() == ()


STATE: list[tuple[str, str, str, Any, Any]] = [
    ("current_mode_update", "currentModeId", "mode", "code", None),
    ("config_option_update", "configOptions", "config_options", [{"id": "a"}], []),
    ("available_commands_update", "availableCommands", "commands", [{"name": "a"}], []),
]


@pytest.mark.parametrize(("kind", "key", "attribute", "good", "default"), STATE)
@pytest.mark.parametrize("bad", [None, 5, {"a": 1}])
def test_state_is_replaced_and_a_bad_value_leaves_it(  # a table of states by bad values
    *, kind: str, key: str, attribute: str, good: Any, default: Any, bad: Any
) -> None:
    """Also where the field is missing."""
    folded = turn({"sessionUpdate": kind, key: bad}, {"sessionUpdate": kind})
    assert getattr(folded, attribute) == default
    folded.fold({"sessionUpdate": kind, key: good})
    folded.fold({"sessionUpdate": kind, key: bad})
    assert getattr(folded, attribute) == good


def test_session_info_is_cleared_by_null_and_left_by_absence() -> None:
    """The one place where they differ."""
    folded = turn({"sessionUpdate": "session_info_update", "title": "T", "updatedAt": "now", "odd": 1})
    folded.fold({"sessionUpdate": "session_info_update", "title": None})
    assert folded.session_info == {"title": None, "updatedAt": "now"}


def test_usage_is_assigned_and_never_summed() -> None:
    """The figures are cumulative; what was not told stays unknown."""
    costs = [0.10, 0.25, 0.25]
    folded = turn(
        *[{"sessionUpdate": "usage_update", "used": 7, "cost": {"amount": c, "currency": "USD"}} for c in costs]
    )
    usage = folded.usage()
    assert (usage.context_used, usage.context_size, usage.cost) == (7, None, Cost(amount=0.25, currency="USD"))
    assert usage.source == "usage_update"
    assert usage.input_tokens is None


def test_the_usage_of_a_prompt_answer_is_noted_with_its_source() -> None:
    """Both ways at once are told as both."""
    folded = turn()
    assert folded.usage().source is None
    folded.fold_prompt_usage(
        {"inputTokens": 1, "outputTokens": 2, "cachedReadTokens": 3, "thoughtTokens": 4, "totalTokens": 10}
    )
    usage = folded.usage()
    assert usage.source == "prompt_response"
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1, 2, 3)
    assert (usage.thought_tokens, usage.total_tokens, usage.context_used) == (4, 10, None)
    folded.fold({"sessionUpdate": "usage_update", "used": 1, "size": 2})
    assert folded.usage().source == "both"


NO_FIGURES: list[Any] = [None, True, -1, 1.5, "5", [], {}]


@pytest.mark.parametrize("value", NO_FIGURES)
def test_what_is_no_figure_stays_unknown(value: Any) -> None:
    """Unknown is None, never 0."""
    folded = turn({"sessionUpdate": "usage_update", "used": value, "size": value, "cost": value})
    folded.fold_prompt_usage({"inputTokens": value})
    folded.fold_prompt_usage(value)
    usage = folded.usage()
    assert (usage.context_used, usage.context_size, usage.input_tokens, usage.cost) == (None, None, None, None)


NO_AMOUNTS: list[Any] = [None, True, "1", float("nan"), float("inf"), 10**400, [], {}]


@pytest.mark.parametrize("amount", NO_AMOUNTS, ids=lambda amount: str(amount)[:8])
def test_a_cost_that_is_no_amount_is_left_out(amount: Any) -> None:
    """The last good one stays."""
    good = {"sessionUpdate": "usage_update", "cost": {"amount": 1, "currency": "EUR"}}
    folded = turn(good, {"sessionUpdate": "usage_update", "cost": {"amount": amount, "currency": "EUR"}})
    folded.fold({"sessionUpdate": "usage_update", "cost": {"amount": 2, "currency": None}})
    assert folded.usage().cost == Cost(amount=1.0, currency="EUR")
