"""The judge and the resolver over the wire: what of a prompt they take for what, and what they complete with."""

import json
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agents.desk.asked import MAX_STARTS, MAX_TEXT
from acp_agent.agents.desk.judge import RiskJudge
from acp_agent.agents.desk.resolver import CounterpartyResolver
from acp_client.protocol.errors import INVALID_PARAMS
from tests.agent.trades.client import connected

TRADE = {"trade_id": "T1", "instrument": "SAP", "quantity": 100, "price": 120.1, "currency": "EUR"}
BIG = TRADE | {"trade_id": "T2", "quantity": 5_000}
LIMITS = {"limits": {"max_quantity": 100}}
APPROVED = {"approved": True, "reasons": []}
REJECTED = {"approved": False, "reasons": ["T2: quantity 5,000 is over max_quantity 100"]}


async def judged(tmp_path: Path, *blocks: dict[str, Any] | str, context: object = None) -> Any:
    """The verdict, or the error's message and reason."""
    async with connected(agent=RiskJudge()) as client:
        extension = None if context is None else {"context": context}
        answer = await client.prompt(tmp_path, *blocks, extension=extension)
    if "error" in answer:
        assert (answer["error"]["code"], client.completed) == (INVALID_PARAMS, [])
        return answer["error"]["data"]["reason"]
    (verdict,) = client.completed
    return verdict


def embedded(value: object) -> dict[str, Any]:
    """A value as an embedded resource."""
    return {"type": "resource", "resource": {"uri": "context:primer", "text": json.dumps(value)}}


@pytest.mark.parametrize("context", [LIMITS, LIMITS["limits"], json.dumps(LIMITS), f"Our limits: {json.dumps(LIMITS)}"])
async def test_a_trade_in_the_task_is_judged_by_the_limits_in_the_context(tmp_path: Path, context: object) -> None:
    """As a value or as text; named, or the limits alone."""
    assert await judged(tmp_path, f"Validate this trade: {json.dumps(TRADE)}", context=context) == APPROVED
    assert await judged(tmp_path, f"Validate this trade: {json.dumps(BIG)}", context=context) == REJECTED


async def test_a_client_without_the_extension_gives_the_limits_in_the_prompt(tmp_path: Path) -> None:
    """As text or as an embedded resource."""
    assert await judged(tmp_path, embedded(LIMITS), json.dumps({"trade": BIG})) == REJECTED
    assert await judged(tmp_path, f"Limits {json.dumps(LIMITS)}, trades {json.dumps([TRADE, BIG])}") == REJECTED


async def test_a_task_cannot_loosen_the_limits_of_the_context(tmp_path: Path) -> None:
    """Where there is a context only it says them; where there is none, two that differ are not chosen from."""
    loose = {"limits": {"max_quantity": 9_999}}
    task = f"{json.dumps(loose)} {json.dumps(BIG)}"
    assert await judged(tmp_path, task, context=LIMITS) == REJECTED
    assert await judged(tmp_path, task, context={"desk": "equities"}) == "no_limits"
    assert await judged(tmp_path, embedded(LIMITS), task) == "ambiguous_limits"


@pytest.mark.parametrize(
    "task",
    [
        f"{json.dumps(BIG)} and {json.dumps(TRADE)}",
        json.dumps({"trades": [BIG, TRADE]}),
        json.dumps([BIG, TRADE]),
        f"{json.dumps({'trade': BIG})} {json.dumps({'trades': [TRADE]})}",
    ],
)
async def test_every_trade_of_a_task_is_judged(tmp_path: Path, task: str) -> None:
    """A good one beside it does not carry a bad one through."""
    assert await judged(tmp_path, task, context=LIMITS) == REJECTED


async def test_something_else_in_a_list_of_trades_is_a_bad_trade(tmp_path: Path) -> None:
    """It is not passed over."""
    verdict = await judged(tmp_path, json.dumps([TRADE, "and so on"]), context=LIMITS)
    assert verdict == {"approved": False, "reasons": ["trade 2: it has no quantity, which max_quantity is about"]}


async def test_a_task_without_trade_or_limits_is_an_error_and_no_verdict(tmp_path: Path) -> None:
    """Nothing to judge is neither good nor bad; numbers that are no JSON make no trade."""
    assert await judged(tmp_path, json.dumps(TRADE)) == "no_limits"
    assert await judged(tmp_path, "Validate the trade", context=LIMITS) == "no_trade"
    assert await judged(tmp_path, '{"instrument": "SAP", "quantity": NaN}', context=LIMITS) == "no_trade"


async def test_a_text_too_long_to_be_read_whole_is_refused(tmp_path: Path) -> None:
    """A part of the trades must not pass for all of them."""
    good = json.dumps(TRADE)
    assert await judged(tmp_path, good + " " * MAX_TEXT, context=LIMITS) == "too_much"
    assert await judged(tmp_path, good + "{" * MAX_STARTS + json.dumps(BIG), context=LIMITS) == "too_much"
    assert await judged(tmp_path, good + "[" * 100_000, context=LIMITS) == "too_much"


async def resolved(tmp_path: Path, *blocks: str) -> Any:
    """What the resolver completes with, or the reason of its error."""
    async with connected(agent=CounterpartyResolver()) as client:
        answer = await client.prompt(tmp_path, *blocks)
    if "error" in answer:
        assert (answer["error"]["code"], client.completed) == (INVALID_PARAMS, [])
        return answer["error"]["data"]["reason"]
    (value,) = client.completed
    return value


@pytest.mark.parametrize(
    ("task", "query"),
    [
        ("GSI", "GSI"),
        ("Resolve the counterparty GSI.", "GSI"),
        ("resolve: Goldman Sachs & Co. LLC", "Goldman Sachs & Co. LLC"),
        ("Which bank is “Goldman Sachs Group” in the file?", "Goldman Sachs Group"),
        ("Who is 'Goldman'?", "Goldman"),
        ('{"counterparty": "gs"}', "gs"),
        ("W22LROWP2IHZNBB6K528", "W22LROWP2IHZNBB6K528"),
    ],
)
async def test_a_name_is_resolved_to_the_known_one_with_its_lei(tmp_path: Path, task: str, query: str) -> None:
    """However the task says it, in whatever form."""
    known = {"name": "Goldman Sachs", "lei": "W22LROWP2IHZNBB6K528"}
    assert await resolved(tmp_path, task) == {"query": query, **known, "candidates": [known], "near": None}


async def test_a_name_that_may_mean_several_is_told_with_all_of_them(tmp_path: Path) -> None:
    """None of them is chosen."""
    value = await resolved(tmp_path, "Morgan")
    assert (value["name"], value["lei"]) == (None, None)
    assert [one["name"] for one in value["candidates"]] == ["JPMorgan", "Morgan Stanley"]


async def test_a_misspelt_name_is_not_taken_for_the_one_it_is_near(tmp_path: Path) -> None:
    """It is only told."""
    value = await resolved(tmp_path, "Barclay")
    assert value == {"query": "Barclay", "name": None, "lei": None, "candidates": [], "near": "Barclays"}


@pytest.mark.parametrize("task", ["Resolve the counterparty", " ", "x" * 201])
async def test_a_task_without_a_name_is_an_error(tmp_path: Path, task: str) -> None:
    """It says what a task looks like."""
    assert await resolved(tmp_path, task) == "no_name"
