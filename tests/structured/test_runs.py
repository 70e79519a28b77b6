"""Structured values of real children: typed, by whatever way they come, and asked for again at most so often."""

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from acp_client import (
    AgentSpec,
    Approvals,
    Budget,
    Decision,
    Job,
    Limits,
    PermissionPolicy,
    Runner,
    RunResult,
    run_subagent,
)
from acp_client.batch import AnyJob
from tests.support.scenarios import QUICK, Scripted

EXTENSION = {"acp-subagents": {"complete": True}}


class Model(BaseModel):
    """The value, as a model."""

    n: int
    day: dt.date


@dataclass
class Data:
    """The same, as a dataclass."""

    n: int
    day: dt.date


class Typed(TypedDict):
    """The same, as a TypedDict."""

    n: int
    day: dt.date


DAY = dt.date(2026, 1, 2)
RAW = {"n": 1, "day": "2026-01-02"}
PROSE = f'First `{{"n": 0}}`.\n```json\n{json.dumps(RAW)}\n```\nThat took 3 steps; {{"n": "none"}} is no answer.'


async def play(folder: Path, scenario: dict[str, Any], given: Any, **asked: Any) -> tuple[RunResult, list[Any]]:
    """One run, and the params of the prompts that the child received."""
    spec = asked.pop("spec", {})
    child = Scripted(folder, scenario, limits=Limits(**QUICK), **spec)
    with anyio.fail_after(30):
        result = await run_subagent(child.spec, "go", result_type=given, **asked)
    prompts = [frame["params"] for frame in child.received() if frame.get("method") == "session/prompt"]
    return result, prompts


TYPES: list[tuple[Any, Any, Any]] = [
    (Model, RAW, Model(n=1, day=DAY)),
    (Data, RAW, Data(1, DAY)),
    (Typed, RAW, {"n": 1, "day": DAY}),
    (Data | int, RAW, Data(1, DAY)),
    (list[Data], [RAW], [Data(1, DAY)]),
    (int, 7, 7),
    ({"type": "object", "required": ["n"]}, RAW, RAW),
]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_child_of_ours_completes_with_a_value_of_any_type(anyio_backend: str, tmp_path: Path) -> None:
    """It is given the schema beside the prompt and nothing in it; the JSON of the result has the value in its shape."""
    assert anyio_backend
    async with anyio.create_task_group() as tasks:
        for number, case in enumerate(TYPES):
            folder = tmp_path / str(number)
            folder.mkdir()
            tasks.start_soon(_complete_with, folder, *case)


async def _complete_with(folder: Path, given: Any, raw: Any, typed: Any) -> None:
    scenario = {"prompt": [{"chunk": '{"n": 5}'}, {"complete": raw}], **OURS_AS_HOOK}
    result, prompts = await play(folder, scenario, given)
    assert (result.reason, result.repairs) == ("end_turn", 0)
    assert (result.structured, type(result.structured)) == (typed, type(typed))
    assert json.loads(result.model_dump_json())["structured"] == raw
    assert prompts[0]["prompt"] == [{"type": "text", "text": "go"}]
    assert set(prompts[0]["_meta"]["acp-subagents"]) >= {"result"}


OURS_AS_HOOK: dict[str, Any] = {
    "initialize": [{"respond": {"protocolVersion": 1, "agentCapabilities": {"_meta": EXTENSION}}}]
}


async def test_json_in_prose_is_found_and_the_agent_was_told_what_to_answer(tmp_path: Path) -> None:
    """Several blocks: the last one that fits. The prompt has one more block, with the schema."""
    result, prompts = await play(tmp_path, {"prompt": [{"chunk": PROSE}]}, Model)
    assert (result.reason, result.structured, result.text) == ("end_turn", Model(n=1, day=DAY), PROSE)
    task, told = prompts[0]["prompt"]
    assert task["text"] == "go"
    assert told["text"].count('"properties"') == 1
    assert "_meta" not in prompts[0]


async def test_one_repair_says_what_was_wrong_and_brings_the_value(tmp_path: Path) -> None:
    """In the same session; the text has both turns, the value is from the last one."""
    turns = [[{"chunk": '{"n": "none"}'}], [{"chunk": json.dumps(RAW)}]]
    result, prompts = await play(tmp_path, {"prompts": turns}, Model)
    assert (result.status, result.reason, result.repairs) == ("completed", "end_turn", 1)
    assert result.structured == Model(n=1, day=DAY)
    assert [message.text for message in result.messages] == ['{"n": "none"}', json.dumps(RAW)]
    assert len({prompt["sessionId"] for prompt in prompts}) == 1
    (told,) = prompts[1]["prompt"]
    assert "- $.n: should be a valid integer" in told["text"]
    assert "- $.day: is required" in told["text"]
    assert told["text"].count('"properties"') == 1
    turns = [[{"chunk": "["}], [{"chunk": f"{json.dumps(RAW)}]"}]]
    result, _ = await play(tmp_path, {"prompts": turns}, Model)
    assert result.structured == Model(n=1, day=DAY)  # what both turns say together is no value of either


async def test_an_answer_that_needs_two_repairs_is_output_invalid(tmp_path: Path) -> None:
    """The raw text is kept; with two allowed it is a success; with none there is one prompt."""
    turns = [[{"chunk": "I "}], [{"chunk": "cannot"}], [{"chunk": json.dumps(RAW)}]]
    result, prompts = await play(tmp_path, {"prompts": turns}, Model)
    assert (result.status, result.reason, result.repairs) == ("error", "output_invalid", 1)
    assert (result.text, result.structured, len(prompts)) == ("I cannot", None, 2)
    assert result.failure is not None
    assert "holds no JSON value" in result.failure.message
    assert not result.failure.retry_safe
    result, _ = await play(tmp_path, {"prompts": turns}, Model, max_repairs=2)
    assert (result.reason, result.repairs, result.structured) == ("end_turn", 2, Model(n=1, day=DAY))


async def test_a_completion_that_does_not_fit_is_asked_for_again_and_wins_over_text(tmp_path: Path) -> None:
    """Though the text beside it would fit: the agent has said which value it means."""
    first = [{"complete": {"n": "x"}}, {"chunk": json.dumps(RAW)}]
    result, prompts = await play(
        tmp_path, {"prompts": [first, [{"complete": RAW}]], **OURS_AS_HOOK}, Model, max_repairs=1
    )
    assert (result.reason, result.repairs, result.structured) == ("end_turn", 1, Model(n=1, day=DAY))
    note = prompts[1]["_meta"]["acp-subagents"]["repair"]
    assert note["attempt"] == 1
    assert any(fault.startswith("$.n: ") for fault in note["faults"])


@pytest.mark.parametrize("prose", ["One shape, which does not fit: $[0]: no integer", ""])
async def test_a_value_that_the_agent_does_not_mend_is_what_the_failure_tells_of(prose: str, tmp_path: Path) -> None:
    """Whatever it says instead: what completes with values is not looked into for another, even one that would fit."""
    turns = [[{"complete": ["x"]}], [{"chunk": prose}]]
    result, prompts = await play(tmp_path, {"prompts": turns, **OURS_AS_HOOK}, list[int])
    assert (result.reason, result.repairs, result.structured, len(prompts)) == ("output_invalid", 1, None, 2)
    assert result.failure is not None
    assert "(repairs tried: 1): $[0]: should be a valid integer" in result.failure.message
    result, _ = await play(tmp_path, {"prompts": turns, **OURS_AS_HOOK}, list[int], max_repairs=0)
    assert result.failure is not None
    assert "(no repair was allowed): $[0]: should be a valid integer" in result.failure.message
    assert result.failure.message.endswith("or allow a repair")


async def test_a_tail_after_the_answer_is_waited_for_before_anything_is_asked_again(tmp_path: Path) -> None:
    """Some agents send the last of their text after the response."""
    limits = Limits(**(QUICK | {"late_update_grace_seconds": 1.5}))
    child = Scripted(
        tmp_path, {"prompt": [{"stop": "end_turn"}, {"delay": 0.2}, {"chunk": json.dumps(RAW)}]}, limits=limits
    )
    with anyio.fail_after(40):
        result = await run_subagent(child.spec, "go", result_type=Model)
    assert (result.reason, result.repairs, result.structured) == ("end_turn", 0, Model(n=1, day=DAY))


async def test_the_clock_and_a_cancel_hold_through_a_repair(tmp_path: Path) -> None:
    """A repair that hangs is ended like any turn, politely; a failed run has no value that does not fit."""
    hanging = {"prompts": [[{"complete": {"n": "x"}}], [{"chunk": "b"}, {"hang": True}]]}
    child = Scripted(tmp_path, hanging, limits=Limits(**QUICK, run_timeout_seconds=60))
    with anyio.fail_after(40):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go", result_type=Model)
            async for event in run.events():
                if getattr(event, "text", "") == "b":
                    await run.cancel()
            result = await run.result()
    assert (result.status, result.reason, result.structured, result.repairs) == ("aborted", "cancelled", None, 1)
    assert child.methods()[-1] == "session/cancel"


async def test_other_endings_of_a_repair_are_its_own(tmp_path: Path) -> None:
    """A refusal, a budget that is spent over both turns."""
    result, _ = await play(tmp_path, {"prompts": [[{"chunk": "a"}], [{"stop": "refusal"}]]}, Model)
    assert (result.reason, result.text, result.repairs) == ("refusal", "a", 1)
    turns = [[{"tool_call": {"toolCallId": f"t{n}", "title": "x"}}] for n in range(2)]
    result, _ = await play(tmp_path, {"prompts": turns}, Model, spec={"budget": Budget(max_steps=1)})
    assert result.reason == "budget_exceeded"


async def test_a_repair_is_a_turn_that_may_need_approval(tmp_path: Path) -> None:
    """One that is rejected ends as cancelled, and its prompt is not sent."""
    asked: list[Any] = []

    async def approver(request: Any) -> Decision:
        asked.append(request)
        return Decision.reject("no more")

    policy = PermissionPolicy(default="reject", approvals=Approvals(after_turns=1))
    spec = {"permission": policy, "approver": approver}
    result, prompts = await play(tmp_path, {"prompt": [{"chunk": "a"}]}, Model, spec=spec)
    assert (result.reason, len(prompts), len(asked)) == ("cancelled", 1, 1)


async def test_a_job_asks_for_its_own_type(tmp_path: Path) -> None:
    """Pairs ask for none; a wrong type is a wrong argument before anything starts."""
    child = Scripted(tmp_path, {"prompt": [{"chunk": "3"}]}, limits=Limits(**QUICK))
    with anyio.fail_after(40):
        async with Runner() as runner:
            jobs: list[AnyJob] = [Job(child.spec, "go", result_type=int), (child.spec, "go")]
            found = {isinstance(job, Job): result.structured async for job, result in runner.run_many(jobs)}
            with pytest.raises(TypeError, match="result_type"):
                runner.run_many([Job(child.spec, "go", result_type="int")])
            with pytest.raises(ValueError, match="max_repairs"):
                await runner.start(AgentSpec(command=("x",)), "go", max_repairs=-1)
    assert found == {True: 3, False: None}
