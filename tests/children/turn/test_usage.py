"""Usage: what the agent reported, assigned and never summed; what it did not report stays unknown."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Limits, run_subagent
from acp_client.outcome.result import Cost, Usage
from tests.support.scenarios import QUICK, Scripted


def cost(amount: Any, currency: Any = "USD", **fields: Any) -> dict[str, Any]:
    """A usage update with a cost."""
    return {"usage": {"used": 100, "size": 1000, "cost": {"amount": amount, "currency": currency}, **fields}}


def usd(amount: float) -> Usage:
    """What such updates come to, if the last one cost so much."""
    return Usage(context_used=100, context_size=1000, cost=Cost(amount=amount, currency="USD"), source="usage_update")


TOKENS = {"inputTokens": 70, "outputTokens": 30, "totalTokens": 100, "cachedReadTokens": 5, "thoughtTokens": 0}
COUNTED: Any = {"input_tokens": 70, "output_tokens": 30, "total_tokens": 100, "cached_tokens": 5, "thought_tokens": 0}


def answered(usage: Any) -> dict[str, Any]:
    """The end of a turn with a usage in it."""
    return {"respond": {"stopReason": "end_turn", "usage": usage}}


CASES: dict[str, tuple[list[Any], Usage]] = {
    "nothing reported": ([{"chunk": "hi"}], Usage()),
    "cost that grows": ([cost(0.10), cost(0.25), cost(0.25)], usd(0.25)),
    "cost that stays": ([cost(0.25), cost(0.25), cost(0.25)], usd(0.25)),
    "cost that falls": ([cost(0.25), cost(0.10)], usd(0.10)),
    "a cost of nothing": ([cost(0)], usd(0.0)),
    "a context without a cost": (
        [{"usage": {"used": 5, "size": 10}}],
        Usage(context_used=5, context_size=10, source="usage_update"),
    ),
    "a cost that is not repeated": ([cost(0.25), {"usage": {"used": 100, "size": 1000}}], usd(0.25)),
    "a context that shrinks": (
        [{"usage": {"used": 900, "size": 1000}}, {"usage": {"used": 50, "size": 1000}}],
        Usage(context_used=50, context_size=1000, source="usage_update"),
    ),
    "tokens with the answer": ([answered(TOKENS)], Usage(**COUNTED, source="prompt_response")),
    "some tokens with the answer": (
        [answered({"totalTokens": 100})],
        Usage(total_tokens=100, source="prompt_response"),
    ),
    "both": (
        [cost(0.10), cost(0.25), answered(TOKENS)],
        Usage(**usd(0.25).model_dump(exclude={"source", *COUNTED}), **COUNTED, source="both"),
    ),
    "null with the answer": ([answered(None)], Usage()),
}


@pytest.mark.row("BUDGET-1")
@pytest.mark.parametrize("name", CASES)
async def test_usage_is_what_was_said_last_and_by_which_way(name: str, tmp_path: Path) -> None:
    """Cumulative figures are assigned; zero is a figure, and unknown is not zero."""
    steps, usage = CASES[name]
    with anyio.fail_after(15):
        result = await run_subagent(Scripted(tmp_path, {"prompt": steps}, limits=Limits(**QUICK)).spec, "go")
    assert result.reason == "end_turn"
    assert result.usage == usage


ODD: dict[str, list[Any]] = {
    "a cost in words": [cost("0.25")],
    "a null cost": [cost(None)],
    "a cost that is true": [cost(amount=True)],
    "no number at all": [
        {
            "raw": '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":'
            '{"sessionUpdate":"usage_update","used":NaN,"size":1e999,"cost":{"amount":NaN,"currency":"USD"}}}}\n'
        }
    ],
    "a cost beyond every float": [cost(10**400)],
    "a cost without a currency": [cost(0.25, None)],
    "numbers that are text": [{"usage": {"used": "5", "size": "10"}}],
    "numbers below zero": [{"usage": {"used": -5, "size": -10}}],
    "numbers that are true": [{"usage": {"used": True, "size": True}}],
    "tokens that are text": [answered({"totalTokens": "100", "inputTokens": None, "outputTokens": -1})],
    "a usage that is a list": [answered([100])],
    "an update that is bare": [{"usage": {}}],
}


@pytest.mark.row("BUDGET-1")
@pytest.mark.odd_frames
@pytest.mark.parametrize("name", ODD)
async def test_what_is_no_figure_stays_unknown(name: str, tmp_path: Path) -> None:
    """Neither 0 nor NaN nor a failed run."""
    steps = [
        step if "usage" not in step else {"update": {"sessionUpdate": "usage_update", **step["usage"]}}
        for step in ODD[name]
    ]
    with anyio.fail_after(15):
        result = await run_subagent(Scripted(tmp_path, {"prompt": steps}, limits=Limits(**QUICK)).spec, "go")
    assert result.reason == "end_turn"
    known = result.usage.model_dump(exclude={"source", "context_used", "context_size"}, exclude_none=True)
    assert known == {}
    assert result.usage.context_used == (100 if "cost" in name and "NaN" not in name else None)
    assert "NaN" not in result.model_dump_json()


@pytest.mark.row("BUDGET-1")
async def test_two_runs_have_a_usage_each(tmp_path: Path) -> None:
    """Nothing is carried over from one child to the next."""
    steps = [{"when": {"value": "${prompt}", "is": "dear", "then": [cost(0.25)]}}, answered(TOKENS)]
    child = Scripted(tmp_path, {"prompt": steps}, limits=Limits(**QUICK))
    with anyio.fail_after(15):
        dear, cheap = [await run_subagent(child.spec, word) for word in ("dear", "cheap")]
    assert (dear.usage.total_tokens, cheap.usage.total_tokens) == (100, 100)
    assert (dear.usage.cost, cheap.usage.cost) == (Cost(amount=0.25, currency="USD"), None)
    assert (dear.usage.source, cheap.usage.source) == ("both", "prompt_response")
