"""A budget over real children: the run ends at the right update, politely, and with what was said by then."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Budget, BudgetUnreported, BudgetWarning, Event, Limits, Runner, RunResult
from acp_client.policy.budget import Spent
from tests.support.kernel import nothing_left
from tests.support.scenarios import QUICK, Scripted

SHORT = Limits(**QUICK | {"cancel_grace_seconds": 0.3, "eof_grace_seconds": 0.2, "term_grace_seconds": 0.3})


def cost(amount: float, currency: str = "USD") -> dict[str, Any]:
    """A usage update with a cost."""
    return {"usage": {"used": 100, "size": 1000, "cost": {"amount": amount, "currency": currency}}}


async def spend(spec: AgentSpec, runner_budget: Budget | None = None) -> tuple[RunResult, list[Event]]:
    """The result of a run, and its events."""
    with nothing_left(), anyio.fail_after(20):
        async with Runner(budget=runner_budget) as runner:
            run = await runner.start(spec, "go")
            events = [event async for event in run.events()]
            return await run.result(), events


def check_exceeded(result: RunResult, figure: str, says: str) -> None:
    """The reason, the figure, and a failure that names the limit."""
    assert (result.status, result.reason) == ("error", "budget_exceeded")
    assert result.budget is not None
    assert result.failure is not None
    assert (result.budget.exceeded, result.failure.retry_safe) == (figure, False)
    assert says in result.failure.message


COSTS = [{"chunk": "a"}, cost(0.10), {"chunk": "b"}, cost(0.25), {"chunk": "c"}, cost(0.25), {"chunk": "d"}]


async def test_cumulative_costs_within_the_limit_are_no_end(tmp_path: Path) -> None:
    """0.10, 0.25, 0.25 are 0.25 spent, not 0.60; the warning came at 0.25."""
    child = Scripted(tmp_path, {"prompt": COSTS}, limits=SHORT, budget=Budget(max_cost_usd=0.30))
    result, events = await spend(child.spec)
    assert (result.reason, result.text) == ("end_turn", "abcd")
    assert result.budget is not None
    assert (result.budget.spent.cost_usd, result.budget.warned) == (0.25, ("cost_usd",))
    assert (result.budget.exceeded, result.budget.unreported, result.budget.shared) == (None, (), None)
    assert [event for event in events if isinstance(event, BudgetWarning)] == [BudgetWarning("cost_usd", 0.25, 0.30)]


@pytest.mark.parametrize("on_cancel", ["obey", "end_turn", [{"chunk": " flushed"}, {"stop": "cancelled"}], "ignore"])
async def test_the_update_over_the_limit_ends_the_run_with_what_was_said(on_cancel: Any, tmp_path: Path) -> None:
    """A cancel, the grace, and what the agent flushes in it; one that is deaf to it is ended all the same."""
    steps = [{"chunk": "a"}, cost(0.10), {"chunk": "b"}, cost(0.25), {"hang": True}]
    child = Scripted(
        tmp_path, {"prompt": steps, "on_cancel": on_cancel}, limits=SHORT, budget=Budget(max_cost_usd=0.20)
    )
    result, _ = await spend(child.spec)
    check_exceeded(result, "cost_usd", "0.25 USD spent, the budget allows max_cost_usd = 0.2 USD")
    assert result.text == ("ab flushed" if isinstance(on_cancel, list) else "ab")
    assert child.methods() == ["initialize", "session/new", "session/prompt", "session/cancel"]


async def test_a_last_update_over_the_limit_comes_before_the_answer(tmp_path: Path) -> None:
    """In one write with it: the first cause wins, the answer's word and the text are kept, no cancel is sent."""
    steps = [{"together": [{"chunk": "all"}, cost(0.25), {"stop": "end_turn"}]}]
    child = Scripted(tmp_path, {"prompt": steps}, limits=SHORT, budget=Budget(max_cost_usd=0.20))
    result, _ = await spend(child.spec)
    check_exceeded(result, "cost_usd", "max_cost_usd")
    assert (result.stop_reason, result.text) == ("end_turn", "all")
    assert "session/cancel" not in child.methods()


async def test_a_complete_turn_is_not_ended_by_what_its_answer_says(tmp_path: Path) -> None:
    """It is there and paid for; that it was too dear is said."""
    answer = {"stopReason": "end_turn", "usage": {"totalTokens": 500, "inputTokens": 1, "outputTokens": 499}}
    child = Scripted(
        tmp_path,
        {"prompt": [{"chunk": "all"}, {"respond": answer}]},
        limits=SHORT,
        budget=Budget(max_tokens=400, max_cost_usd=1.0),
    )
    result, events = await spend(child.spec)
    assert (result.reason, result.text, result.failure) == ("end_turn", "all", None)
    assert result.budget is not None
    assert (result.budget.exceeded, result.budget.spent.tokens) == ("tokens", 500)
    assert result.budget.unreported == ("cost_usd",)
    assert [event.figure for event in events if isinstance(event, BudgetUnreported)] == ["cost_usd"]


async def test_what_is_not_reported_is_said_at_the_first_update_that_lacks_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """While the agent still works: a reader can stop it."""
    steps = [cost(5.0, "EUR"), {"wait_for": str(tmp_path / "told")}, {"chunk": "on"}]
    child = Scripted(tmp_path, {"prompt": steps}, limits=SHORT, budget=Budget(max_cost_usd=1.0))
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            async for event in run.events():
                if isinstance(event, BudgetUnreported):
                    (tmp_path / "told").touch()
            result = await run.result()
    assert (result.reason, result.text) == ("end_turn", "on")
    assert result.budget is not None
    assert (result.budget.spent.cost_usd, result.budget.unreported) == (None, ("cost_usd",))
    assert [record.levelname for record in caplog.records if "max_cost_usd" in record.message] == ["WARNING"]
    assert "EUR" in caplog.text


async def test_a_step_too_many_is_not_permitted_any_more(tmp_path: Path) -> None:
    """The request that brings it is answered `cancelled`, though the policy would allow it."""
    ask = {"permission": {"tool_call": {"toolCallId": "call-${n}", "title": "T", "kind": "edit"}, "save": "last"}}
    asked = [ask, {"when": {"value": "${last.result.outcome.outcome}", "is": "selected", "else": [{"hang": True}]}}]
    child = Scripted(
        tmp_path,
        {"prompt": [{"repeat": {"times": 5, "steps": asked}}]},
        limits=SHORT,
        permission="allow",
        budget=Budget(max_steps=2),
    )
    result, events = await spend(child.spec)
    check_exceeded(result, "steps", "3 tool calls spent, the budget allows max_steps = 2")
    assert [record.outcome for record in result.permissions] == ["selected", "selected", "cancelled"]
    assert [event.figure for event in events if isinstance(event, BudgetWarning)] == ["steps"]


async def test_a_step_too_many_is_not_permitted_after_the_answer_either(tmp_path: Path) -> None:
    """All in one write: the turn stays completed, but what it asked for beyond its budget is not allowed."""
    asked = [{"permission": {"wait": False, "tool_call": {"toolCallId": f"c{number}"}}} for number in range(5)]
    child = Scripted(
        tmp_path,
        {"prompt": [{"together": [*asked, {"stop": "end_turn"}]}]},
        limits=SHORT,
        permission="allow",
        budget=Budget(max_steps=2),
    )
    result, _ = await spend(child.spec)
    assert result.reason in ("end_turn", "budget_exceeded")
    assert result.budget is not None
    assert result.budget.exceeded == "steps"
    assert [record.outcome for record in result.permissions] == ["selected", "selected", *["cancelled"] * 3]


async def test_who_is_being_asked_when_the_budget_ends_is_asked_no_longer(tmp_path: Path) -> None:
    """The request is answered `cancelled`, and time goes on while a person thinks."""
    gave_up = anyio.Event()

    async def ponder(_request: Any) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            gave_up.set()

    child = Scripted(
        tmp_path,
        {"prompt": [{"chunk": "a"}, {"permission": {"on": {"cancelled": [{"hang": True}]}}}]},
        limits=SHORT,
        permission=ponder,
        budget=Budget(max_wall_seconds=1.5),
    )
    result, events = await spend(child.spec)
    check_exceeded(result, "wall_seconds", "max_wall_seconds = 1.5 s")
    assert gave_up.is_set()
    assert [record.outcome for record in result.permissions] == ["cancelled"]
    assert [event.figure for event in events if isinstance(event, BudgetWarning)] == ["wall_seconds"]
    assert result.budget is not None
    assert result.budget.spent.wall_seconds >= 1.5


async def test_time_that_is_spent_before_the_session_exists_ends_it_too(tmp_path: Path) -> None:
    """No byte of the prompt can have reached the agent."""
    child = Scripted(tmp_path, {"initialize": [{"hang": True}]}, limits=SHORT, budget=Budget(max_wall_seconds=0.3))
    result, _ = await spend(child.spec)
    assert result.failure is not None
    assert (result.reason, result.failure.stage, result.failure.retry_safe) == ("budget_exceeded", "initialize", True)
    assert result.budget is not None
    assert result.budget.unreported == ()


async def test_without_a_budget_there_is_no_report(tmp_path: Path) -> None:
    """And nothing is warned of."""
    result, events = await spend(Scripted(tmp_path, {"prompt": COSTS}, limits=SHORT).spec)
    assert (result.reason, result.budget) == ("end_turn", None)
    assert not [event for event in events if event.type.startswith("budget")]


RUNS = 10


def report_and_ask(amount: float) -> list[dict[str, Any]]:
    """One update, and the next one only after it has been folded here: a request is answered after it."""
    return [cost(amount), {"permission": {"on": {"cancelled": [{"hang": True}]}}}]


async def test_ten_runs_never_overspend_their_budget_by_more_than_what_is_in_flight(tmp_path: Path) -> None:
    """Each has one update in flight at the most; all end at once, and say what all have spent."""
    steps = [step for number in range(1, 200) for step in report_and_ask(number / 100)]
    specs = []
    for number in range(RUNS):
        folder = tmp_path / str(number)
        folder.mkdir()
        specs.append(Scripted(folder, {"prompt": steps}, limits=SHORT, permission="allow").spec)
    with nothing_left(), anyio.fail_after(40):
        async with Runner(budget=Budget(max_cost_usd=1.0)) as runner:
            results = [result async for _, result in runner.run_many([(spec, "go") for spec in specs])]
    assert [result.reason for result in results] == ["budget_exceeded"] * RUNS
    budgets = [result.budget for result in results if result.budget is not None]
    added = sum(budget.spent.cost_usd or 0.0 for budget in budgets)
    last = max(budget.shared.spent.cost_usd or 0.0 for budget in budgets if budget.shared is not None)
    assert last == pytest.approx(added)
    assert 1.0 < last <= 1.0 + RUNS * 0.01 + 1e-9
    for result in results:
        assert result.failure is not None
        assert "the runs of this Runner have spent 1.01 USD together" in result.failure.message
        assert result.budget is not None
        assert result.budget.shared is not None
        assert (result.budget.exceeded, result.budget.shared.exceeded) == (None, "cost_usd")


async def test_one_update_too_many_ends_all_ten_at_exactly_that_sum(tmp_path: Path) -> None:
    """Ten times 0.10 are 1.00 and allowed; the one that is let go on to 0.11 ends them all."""
    specs = []
    for number in range(RUNS):
        folder = tmp_path / str(number)
        folder.mkdir()
        steps = [cost(0.10), {"wait_for": str(folder / "go on")}, cost(0.11), {"hang": True}]
        specs.append(Scripted(folder, {"prompt": [{"chunk": "a"}, *steps]}, limits=SHORT).spec)
    with nothing_left(), anyio.fail_after(40):
        async with Runner(budget=Budget(max_cost_usd=1.0)) as runner:
            runs = [await runner.start(spec, "go") for spec in specs]
            for run in runs:
                async for event in run.events():
                    if event.type == "usage":
                        break
            (tmp_path / "4" / "go on").touch()
            results = [await run.result() for run in runs]
            late = await (await runner.start(specs[0], "go")).result()
    assert [(result.reason, result.text) for result in results] == [("budget_exceeded", "a")] * RUNS
    for number, result in enumerate(results):
        assert result.budget is not None
        assert result.budget.shared is not None
        assert result.budget.shared.added.cost_usd == (0.11 if number == 4 else 0.10)
        assert result.budget.shared.spent.cost_usd == 1.01
    assert late.failure is not None
    assert (late.reason, late.failure.stage, late.failure.retry_safe) == ("budget_exceeded", "spawn", True)
    assert late.timings.spawn is None
    assert late.budget is not None
    assert late.budget.spent == Spent()


async def test_a_run_that_waits_for_its_turn_ends_with_the_budget_without_a_process(tmp_path: Path) -> None:
    """Of three with one place, the first spends it all."""
    child = Scripted(tmp_path, {"prompt": [cost(0.25), {"hang": True}]}, limits=SHORT)
    with nothing_left(), anyio.fail_after(20):
        async with Runner(max_concurrency=1, budget=Budget(max_cost_usd=0.20)) as runner:
            runs = [await runner.start(child.spec, "go") for _ in range(3)]
            results = [await run.result() for run in runs]
            assert not [event async for event in runs[2].events() if event.type == "run_started"]
    assert [result.reason for result in results] == ["budget_exceeded"] * 3
    assert [result.failure.stage for result in results if result.failure] == ["prompt", "spawn", "spawn"]


@pytest.mark.parametrize("wrong", [5, {"max_steps": 1}, "cheap"])
def test_a_runner_takes_a_budget_and_nothing_else(wrong: Any) -> None:
    """What to write is said."""
    with pytest.raises(TypeError, match=r"Budget\(max_cost_usd"):
        Runner(budget=wrong)


async def test_what_an_ended_run_did_not_report_is_missing_from_the_sum(tmp_path: Path) -> None:
    """The runs after it say so: more may be spent than is known."""
    when = {"when": {"value": "${prompt}", "is": "honest", "then": [cost(0.25)]}}
    child = Scripted(tmp_path, {"prompt": [when]}, limits=SHORT)
    with nothing_left(), anyio.fail_after(20):
        async with Runner(budget=Budget(max_cost_usd=1.0)) as runner:
            results = [await (await runner.start(child.spec, word)).result() for word in ("silent", "honest")]
    budgets = [result.budget for result in results if result.budget is not None]
    assert [budget.unreported for budget in budgets] == [("cost_usd",), ()]
    assert [budget.shared.unreported for budget in budgets if budget.shared is not None] == [("cost_usd",)] * 2


async def test_the_time_that_is_spent_ends_with_the_turn_whoever_asks_for_the_answer(tmp_path: Path) -> None:
    """Not with the grace for late updates after it: here is nobody who waits for `answer()`."""
    limits = Limits(**QUICK | {"late_update_grace_seconds": 0.5})
    child = Scripted(tmp_path, {"prompt": [{"chunk": "a"}]}, limits=limits, budget=Budget(max_wall_seconds=60.0))
    with anyio.fail_after(20):
        async with Runner() as runner:
            result = await (await runner.start(child.spec, "go")).result()
    assert result.budget is not None
    assert result.timings.total is not None
    assert result.timings.teardown is not None
    assert result.timings.teardown >= 0.5
    assert result.budget.spent.wall_seconds <= result.timings.total - result.timings.teardown
