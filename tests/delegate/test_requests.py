"""Requests to named sub-agents, with real children: the value, the reply for a model, and what the child received."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, model_serializer

from acp_client import (
    AgentSpec,
    Limits,
    Runner,
    SubAgent,
    SubAgentEvent,
    SubAgentFailed,
    SubAgents,
    SubAgentStarted,
    SubAgentStopped,
    TextChunk,
    UnknownSubAgent,
)
from tests.delegate.messages import OPENAI
from tests.record.kept import Kept
from tests.support.scenarios import QUICK, Scripted

SAYS = {"prompt": [{"chunk": "approved"}]}


class Verdict(BaseModel):
    """What a judge completes with."""

    approved: bool


def scripted(folder: Path, scenario: dict[str, Any]) -> Scripted:
    """A child in a folder of its own."""
    folder.mkdir(exist_ok=True)
    return Scripted(folder, scenario, limits=Limits(**QUICK))


def declare(name: str, child: Scripted | AgentSpec, **fields: Any) -> SubAgent:
    """A sub-agent that such a child plays."""
    spec = child.spec if isinstance(child, Scripted) else child
    return SubAgent(**{"name": name, "description": name, "agent": spec, **fields})


@asynccontextmanager
async def asked(*declared: SubAgent, **options: Any) -> AsyncIterator[SubAgents]:
    """The sub-agents of a parent; every wait on them is bounded."""
    with anyio.fail_after(40):
        async with Runner() as runner:
            yield SubAgents(declared, runner=runner, **{"parent_name": "Trades Agent", **options})


def prompt_of(child: Scripted) -> dict[str, Any]:
    """The params of the last prompt that the child received."""
    params: dict[str, Any] = [one["params"] for one in child.received() if one.get("method") == "session/prompt"][-1]
    return params


@pytest.mark.parametrize(
    ("cap", "planted"), [(0, []), (1, []), (3, [6, 7, 8]), (6, list(range(9))), (99, list(range(9)))]
)
async def test_a_child_receives_the_capped_history_the_primer_and_the_task(
    cap: int, planted: list[int], tmp_path: Path
) -> None:
    """In this order, as text; of older calls neither argument nor result. A call's cap wins over the declared one."""
    child = scripted(tmp_path, SAYS)
    async with asked(declare("judge", child, history_cap=2)) as sub_agents:
        said = await sub_agents.request(
            "judge", task="Validate it", context={"limits": {"EUR": 5}}, history=OPENAI, history_cap=cap
        )
    assert said == "approved"
    history, primer, task = [block["text"] for block in prompt_of(child)["prompt"]]
    assert [number for number in range(9) if f"PLANT-{number}" in json.dumps(child.received())] == planted
    assert len(json.loads(history.partition("\n\n")[2])) == len(OPENAI)
    assert json.loads(primer.partition("\n\n")[2]) == {"limits": {"EUR": 5}}
    assert task == "Validate it"


async def test_an_agent_that_takes_resources_gets_history_and_primer_as_such(tmp_path: Path) -> None:
    """The declared cap holds where the call has none."""
    child = scripted(tmp_path, {"capabilities": {"promptCapabilities": {"embeddedContext": True}}, **SAYS})
    async with asked(declare("judge", child, history_cap=0)) as sub_agents:
        await sub_agents.run("judge", task="Validate it", context="EUR only", history=OPENAI)
    blocks = prompt_of(child)["prompt"]
    assert [block["type"] for block in blocks] == ["text", "resource", "text", "resource", "text"]
    history, primer = (block["resource"] for block in blocks if block["type"] == "resource")
    assert (history["mimeType"], len(json.loads(history["text"]))) == ("application/json", len(OPENAI))
    assert "PLANT" not in history["text"]
    assert (primer["mimeType"], primer["text"]) == ("text/plain", "EUR only")
    assert blocks[-1]["text"] == "Validate it"


async def test_a_child_of_ours_gets_real_messages_and_its_task_alone(tmp_path: Path) -> None:
    """In `_meta`, with how deep it is; its own sub-agents too, where they may run."""
    ours = {"complete": True, "history": True, "sub_agents": True}
    child = scripted(tmp_path, {"capabilities": {"_meta": {"acp-subagents": ours}}, **SAYS})
    leaf = declare("leaf", AgentSpec(command=("leaf",)))
    messages = [{"role": "user", "content": "Book it."}]
    async with asked(declare("judge", child, sub_agents=[leaf]), max_depth=2) as sub_agents:
        request = sub_agents.request("judge", task="Validate it", context={"a": 1}, history=messages)
        messages[0]["content"] = "changed after the call"
        messages.append({"role": "user", "content": "so was this"})
        await request
    params = prompt_of(child)
    assert params["prompt"] == [{"type": "text", "text": "Validate it"}]
    assert params["_meta"]["acp-subagents"] == {
        "history": [{"role": "user", "content": "Book it."}],
        "context": {"a": 1},
        "sub_agents": [{"name": "leaf", "description": "leaf", "agent": {"command": ["leaf"]}}],
        "depth": 1,
        "max_depth": 2,
        "call_path": "primary/judge.1",
    }


@pytest.mark.parametrize("ours", [None, {"complete": True, "history": True}], ids=["foreign", "ours"])
async def test_an_agent_that_takes_no_sub_agents_is_told_of_none(
    ours: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And the parent is warned."""
    meta = {} if ours is None else {"capabilities": {"_meta": {"acp-subagents": ours}}}
    child = scripted(tmp_path, {**meta, **SAYS})
    leaf = declare("leaf", AgentSpec(command=("secret-leaf",)))
    async with asked(declare("judge", child, sub_agents=[leaf]), max_depth=2) as sub_agents:
        await sub_agents.run("judge", task="Validate it")
    assert "secret-leaf" not in json.dumps(child.received())
    assert [record.levelname for record in caplog.records] == ["WARNING"]


NESTED: Any = json.loads("[" * 200 + "]" * 200)

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"name": "jugde"}, "did you mean 'judge'"),
    ({"task": ""}, "task must say what to do"),
    ({"task": 5}, "task must be a string"),
    ({"context": object()}, "context is no data"),
    ({"history": [{"role": "user", "content": 5}]}, "history[0].content must be"),
    ({"history_cap": -1}, "history_cap is -1"),
    ({"max_repairs": -1}, "max_repairs"),
    ({"name": 10**5000}, "there is no sub-agent '<int>'"),
    ({"context": NESTED}, "context is no data: it is nested deeper than 150 levels"),
    ({"history": [{"role": "user", "content": "x", "more": NESTED}]}, "history[0] is no data: it is nested deeper"),
    ({"result_type": {"type": "nonsense"}}, "result_type at $.type"),
]


async def test_a_wrong_request_starts_nothing_and_is_an_answer_for_a_model(tmp_path: Path) -> None:
    """It raises at the call, before it is awaited; for a model it is a reply that says the same."""
    child = scripted(tmp_path, SAYS)
    told: list[Any] = []
    async with asked(declare("judge", child), on_progress=told.append) as sub_agents:
        for fields, message in WRONG:
            arguments = {"name": "judge", "task": "x", **fields}
            for way in (sub_agents.run, sub_agents.request):
                with pytest.raises((UnknownSubAgent, TypeError, ValueError)) as caught:
                    way(**arguments)
                assert message in str(caught.value)
            reply = await sub_agents.request_for_model(**arguments)
            assert message in reply.for_model()
            assert (reply.is_error, reply.result, reply.sub_agent_trace) == (True, None, ())
    assert (child.received(), told) == ([], [])


async def test_a_request_is_a_run_of_the_sub_agents_name(tmp_path: Path) -> None:
    """In its events and its transcript, whatever its program is called; an agent that has a name keeps it."""
    told: list[Any] = []
    child = scripted(tmp_path / "c", SAYS)
    named = declare("other", child.spec.model_copy(update={"name": "named"}))
    with anyio.fail_after(30):
        async with Runner(transcripts=tmp_path / "kept") as runner:
            subagents = SubAgents([declare("judge", child), named], runner=runner, on_progress=told.append)
            results = [await subagents.run(name, task="go") for name in ("judge", "other")]
    assert [one.event.agent for one in told if isinstance(one, SubAgentEvent) and hasattr(one.event, "agent")] == [
        "judge",
        "named",
    ]
    assert [Kept(str(result.transcript)).header.agent for result in results] == ["judge", "named"]


async def test_the_value_is_the_structured_one_else_the_text(tmp_path: Path) -> None:
    """A type, declared or given, makes it typed; what fails, and with `strict` plain text, raises with its result."""
    value = scripted(tmp_path / "value", {"prompt": [{"chunk": "so: "}, {"complete": {"approved": True}}]})
    prose = scripted(tmp_path / "prose", SAYS)
    crash = scripted(tmp_path / "crash", {"prompt": [{"chunk": "so far"}, {"exit": 3}]})
    declared = [declare("value", value, result_type=Verdict), declare("prose", prose), declare("crash", crash)]
    async with asked(*declared) as sub_agents:
        assert await sub_agents.request("value", task="x", strict=True) == Verdict(approved=True)
        assert await sub_agents.request("value", task="x", result_type=None) == {"approved": True}
        assert await sub_agents.request("prose", task="x") == "approved"
        reasons = []
        for name, strict in {"prose": True, "crash": False}.items():
            with pytest.raises(SubAgentFailed) as caught:
                await sub_agents.request(name, task="x", strict=strict)
            reasons.append((caught.value.result.reason, caught.value.result.text))
        with pytest.raises(SubAgentFailed) as caught:
            await sub_agents.request("prose", task="x", result_type=Verdict, max_repairs=0)
        reasons.append((caught.value.result.reason, caught.value.result.text))
    assert reasons == [("end_turn", "approved"), ("agent_exited", "so far"), ("output_invalid", "approved")]


async def test_a_model_sees_one_result_and_people_the_trace(tmp_path: Path) -> None:
    """The content holds nothing of the child's work; the trace has it under its breadcrumb, nested ones below it."""
    nested = {"acp-subagents": {"sub_agent_trace": [{"agent": "judge › leaf", "type": "message", "text": "deep"}]}}
    steps = [
        {"tool_call": {"toolCallId": "c", "title": "Look up", "status": "completed", "rawOutput": {"x": "WORK"}}},
        {
            "notify": {
                "method": "_acp_subagents/complete",
                "params": {"sessionId": "${session}", "result": {"approved": True}, "_meta": nested},
            }
        },
    ]
    child = scripted(tmp_path, {"prompt": steps})
    traces: list[Any] = []
    async with asked(declare("judge", child), on_trace=traces.append) as sub_agents:
        reply = await sub_agents.request_for_model("judge", task="Validate it")
    assert json.loads(reply.for_model()) == {"approved": True}
    assert str(reply) == reply.for_model()
    kinds = [(entry["agent"].removeprefix("Trades Agent › "), entry["type"]) for entry in reply.sub_agent_trace]
    assert kinds == [("judge", "task"), ("judge", "tool_call"), ("judge › leaf", "message"), ("judge", "end")]
    assert "WORK" in json.dumps(reply.to_dict()["sub_agent_trace"])
    assert traces == [list(reply.sub_agent_trace)]


async def test_a_failed_run_is_a_text_that_a_model_can_read(tmp_path: Path) -> None:
    """What failed, and what had been said by then; also where nothing could be started."""
    crash = scripted(tmp_path, {"prompt": [{"chunk": "so far"}, {"exit": 3}]})
    told: list[Any] = []
    gone = declare("gone", AgentSpec(command=(str(tmp_path / "nothing"),)))
    async with asked(declare("crash", crash), gone, on_progress=told.append) as sub_agents:
        first = await sub_agents.request_for_model("crash", task="x")
        second = await sub_agents.as_tools()[1].reply(task="x")
    assert first.for_model().startswith("sub-agent 'crash' failed (agent_exited): ")
    assert first.for_model().endswith("It had said by then:\nso far")
    assert second.for_model().startswith("sub-agent 'gone' failed (spawn_failed): ")
    assert (first.is_error, second.is_error) == (True, True)
    ends = [(type(one), one.name) for one in told if not isinstance(one, SubAgentEvent)]
    assert ends == [(kind, name) for name in ("crash", "gone") for kind in (SubAgentStarted, SubAgentStopped)]


class Unwritable(BaseModel):
    """A value whose own serializer fails."""

    n: int

    @model_serializer
    def _write(self) -> dict[str, Any]:
        raise SystemExit(self.n)


async def test_a_value_that_cannot_be_written_is_told_to_the_model(tmp_path: Path) -> None:
    """The parent has it all the same."""
    child = scripted(tmp_path, {"prompt": [{"chunk": '{"n": 3}'}]})
    async with asked(declare("judge", child)) as sub_agents:
        reply = await sub_agents.request_for_model("judge", task="x", result_type=Unwritable)
    assert reply.for_model().startswith("sub-agent 'judge' completed with a value that cannot be written as JSON: ")
    assert reply.result is not None
    assert (reply.is_error, reply.result.structured) == (True, Unwritable(n=3))


async def test_eight_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    """One fails, one is cancelled: the others answer, each in its place, and every start has its stop."""
    children = [
        scripted(tmp_path / f"good-{number}", {"prompt": [{"chunk": f"answer {number}"}]}) for number in range(6)
    ]
    children.append(scripted(tmp_path / "bad", {"prompt": [{"exit": 3}]}))
    children.append(scripted(tmp_path / "slow", {"prompt": [{"chunk": "waiting"}, {"hang": True}]}))
    told: list[Any] = []
    cancelled = anyio.CancelScope()
    said: dict[int, Any] = {}

    def show(one: Any) -> None:
        told.append(one)
        if isinstance(one, SubAgentEvent) and one.name == "a7" and isinstance(one.event, TextChunk):
            cancelled.cancel()

    declared = [declare(f"a{number}", child) for number, child in enumerate(children)]
    async with asked(*declared, on_progress=show) as sub_agents:

        async def ask(number: int) -> None:
            with cancelled if number == 7 else anyio.CancelScope():
                said[number] = (await sub_agents.request_for_model(f"a{number}", task="x")).for_model()

        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(ask, number)
    assert [said[number] for number in range(6)] == [f"answer {number}" for number in range(6)]
    assert "agent_exited" in said[6]
    assert 7 not in said
    starts = [one.call_id for one in told if isinstance(one, SubAgentStarted)]
    stops = {one.call_id: (one.name, one.status) for one in told if isinstance(one, SubAgentStopped)}
    assert sorted(starts) == sorted(stops)
    assert len(told) - sum(isinstance(one, SubAgentEvent) for one in told) == 16
    assert dict(stops.values()) == {f"a{n}": "completed" for n in range(6)} | {"a6": "error", "a7": "aborted"}
    order = [one.call_id for one in told if one.name == "a7"]
    assert len(set(order)) == 1
    assert isinstance(told[[one.name for one in told].index("a7")], SubAgentStarted)
    assert isinstance([one for one in told if one.name == "a7"][-1], SubAgentStopped)
