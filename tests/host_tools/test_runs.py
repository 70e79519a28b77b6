"""Host tools in runs: a foreign agent in a process of its own calls them over real MCP, and what the result says."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from acp_client import (
    AgentSpec,
    Budget,
    Decision,
    HostToolCalled,
    HostToolReturned,
    HostToolsOffered,
    Image,
    Job,
    Limits,
    PermissionPolicy,
    Rule,
    Runner,
    RunResult,
    ToolContext,
    run_subagent,
)
from tests.support.kernel import named, nothing_left
from tests.support.mcp import agent as tool_agent

SECONDS = 40.0

anyway = pytest.mark.parametrize("way", [[], ["http"]], ids=["stdio", "http"])


async def add(a: int, b: int, context: ToolContext) -> int:
    """Adds."""
    await context.progress(1, 2, "half")
    return a + b


def picture() -> list[Any]:
    """A picture and a word."""
    return ["look:", Image(b"\x89PNG\r\n\x1a\n", "image/png")]


def fail(why: str) -> None:
    """Fails."""
    raise LookupError(why)


def agent(*words: str, tools: list[Callable[..., Any]], **fields: Any) -> AgentSpec:
    """The foreign agent."""
    return AgentSpec(command=[sys.executable, tool_agent.__file__, *words], host_tools=tools, **fields)


def task(*calls: tuple[str, Any], **more: Any) -> str:
    """Its prompt."""
    return json.dumps({"calls": calls, **more})


async def run(spec: AgentSpec, prompt: str, **more: Any) -> RunResult:
    """One run, to its end."""
    with anyio.fail_after(SECONDS):
        return await run_subagent(spec, prompt, **more)


@anyway
async def test_a_foreign_agent_calls_the_parent_s_functions(way: list[str], tmp_path: Path) -> None:
    """Values, pictures, progress and failures pass; the record says what was called; nothing is left."""
    seen = tmp_path / "servers.json"
    calls = [("add", {"a": 1, "b": 2}), ("picture", {}), ("fail", {"why": "no"})]
    with nothing_left():
        result = await run(agent(*way, tools=[add, picture, fail]), task(*calls, file=str(seen)))
    assert (result.status, result.failure, result.host_tools) == ("completed", None, "listed")
    (progress, added), (pictured,), (failed,) = json.loads(result.text)
    assert (progress["progress"], progress["message"]) == (1, "half")
    assert added["content"] == [{"type": "text", "text": "3"}]
    assert [block["type"] for block in pictured["content"]] == ["text", "image"]
    assert failed == {"content": [{"type": "text", "text": "LookupError: no"}], "isError": True}
    told = [(one.ordinal, one.name, one.arguments, one.status, one.error) for one in result.host_tool_calls]
    assert told == [
        (1, "add", {"a": 1, "b": 2}, "completed", None),
        (2, "picture", {}, "completed", None),
        (3, "fail", {"why": "no"}, "failed", "LookupError: no"),
    ]
    (server,) = json.loads(seen.read_text())
    assert server["name"] == "host_tools"
    assert server.get("type", "stdio") == (way or ["stdio"])[0]
    if not way:
        folder = Path(server["args"][3]).parent
        assert (folder.exists(), named(folder)) == (False, [])


async def test_the_events_tell_of_offer_calls_and_returns_in_their_place() -> None:
    """After the agent's own word of the call, to which they are matched."""
    announced = {"toolCallId": "c-1", "title": "host_tools/add", "status": "pending", "rawInput": {"a": 1, "b": 1}}
    with anyio.fail_after(SECONDS):
        async with Runner() as runner:
            going = await runner.start(agent(tools=[add]), task(("add", {"a": 1, "b": 1}), announce=announced))
            events = [event async for event in going.events()]
            result = await going.result()
    kinds = [event.type for event in events]
    assert kinds == [
        *("run_started", "session_started", "host_tools_offered", "tool_call", "host_tool_called"),
        *("host_tool_returned", "text", "run_ended"),
    ]
    offered, called, returned = events[2], events[4], events[5]
    assert isinstance(offered, HostToolsOffered)
    assert (offered.way, offered.listed) == ("stdio", True)
    assert isinstance(called, HostToolCalled)
    assert called.tool_call_id == "c-1"
    assert isinstance(returned, HostToolReturned)
    assert returned.call == result.host_tool_calls[0]
    assert json.dumps([event.to_json() for event in events if event.type.startswith("host_")])


async def test_what_was_never_listed_is_said_and_holds_the_prompt_for_a_moment_only() -> None:
    """One agent lists at its first call only; another never."""
    jobs = {
        "never": Job(agent("never", tools=[add]), task()),
        "lazy": Job(agent("lazy", tools=[add]), task(("add", {"a": 1, "b": 1}))),
        "none": Job(agent(tools=[]), task()),
    }
    with anyio.fail_after(SECONDS):
        async with Runner() as runner:
            results = {id(job): result async for job, result in runner.run_many(jobs.values())}
    never, lazy, none = (results[id(job)] for job in jobs.values())
    assert (never.status, never.host_tools, never.host_tool_calls) == ("completed", "not_listed", ())
    assert (lazy.host_tools, lazy.host_tool_calls[0].status) == ("listed", "completed")
    assert none.host_tools == "none"


async def test_the_prompt_waits_for_an_agent_that_lists_after_it_has_opened_the_session() -> None:
    """As some do: a model that is asked before could not call what it does not know."""
    with anyio.fail_after(SECONDS):
        async with Runner() as runner:
            going = await runner.start(agent("late", tools=[add]), task())
            offered = [event async for event in going.events() if isinstance(event, HostToolsOffered)]
    assert [event.listed for event in offered] == [True]


async def test_an_agent_may_start_several_bridges() -> None:
    """The second one is used, and both go with the run."""
    with nothing_left():
        result = await run(agent("twice", tools=[add]), task(("add", {"a": 1, "b": 1}), raw=["garbage"]))
    assert result.host_tool_calls[0].status == "completed"
    assert "no JSON-RPC" in result.text


@anyway
async def test_cancelling_the_run_cancels_a_tool_that_runs(way: list[str]) -> None:
    """Async ones at once; a plain function is left to its thread, and nothing waits for it."""
    started, cancelled, release = anyio.Event(), anyio.Event(), threading.Event()

    async def wait() -> None:
        """Waits."""
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    with anyio.fail_after(SECONDS), nothing_left():
        async with Runner() as runner:
            going = await runner.start(agent(*way, tools=[wait]), task(("wait", {})))
            await started.wait()
            await going.cancel()
            result = await going.result()
    release.set()
    assert cancelled.is_set()
    assert (result.status, result.reason) == ("aborted", "cancelled")
    assert [one.status for one in result.host_tool_calls] == ["cancelled"]


async def test_a_plain_function_that_never_ends_holds_no_run_up() -> None:
    """Its thread does."""
    started, release = threading.Event(), threading.Event()

    def block() -> None:
        """Blocks."""
        started.set()
        release.wait(SECONDS)

    try:
        with anyio.fail_after(SECONDS):
            async with Runner() as runner:
                going = await runner.start(agent(tools=[block]), task(("block", {})))
                await anyio.to_thread.run_sync(started.wait)
                await going.cancel()
                result = await going.result()
    finally:
        release.set()
    assert result.reason == "cancelled"
    assert result.host_tool_calls[0].status == "cancelled"


async def test_a_slow_tool_is_no_silence_of_the_agent_s() -> None:
    """The idle clock rests while a tool of ours runs."""

    async def slow() -> str:
        """Takes longer than an agent may be silent."""
        await anyio.sleep(0.7)
        return "done"

    result = await run(agent(tools=[slow], limits=Limits(idle_timeout_seconds=0.5)), task(("slow", {})))
    assert (result.status, result.failure) == ("completed", None)


# ---- permission and budget

ASK = {"toolCallId": "c-1", "title": "host_tools/add", "kind": "edit", "rawInput": {"a": 1, "b": 1}}


async def test_a_permission_for_our_own_tool_is_given_under_the_strictest_preset() -> None:
    """Its offer is the consent; a request that only looks like it is rejected as ever."""
    ours = await run(agent(tools=[add], permission="reject"), task(("add", {"a": 1, "b": 1}), ask=ASK))
    assert ours.host_tool_calls[0].status == "completed"
    assert [(one.action, one.decided_by) for one in ours.permissions] == [("allow", "host tools")]
    shell = ASK | {"kind": "execute", "rawInput": {"command": "host_tools/add"}}
    other = await run(agent(tools=[add], permission="reject"), task(("add", {"a": 1, "b": 1}), ask=shell))
    assert [(one.action, one.rule) for one in other.permissions] == [("reject", "preset reject")]
    assert other.host_tool_calls == ()


async def test_a_rule_that_names_a_tool_rejects_its_calls_whether_asked_for_or_not() -> None:
    """An agent that never asks is not better off."""
    policy = PermissionPolicy(rules=[Rule(action="reject", tool="add")], default="allow")
    for more in ({}, {"ask": ASK}):
        result = await run(agent(tools=[add], permission=policy), task(("add", {"a": 1, "b": 1}), **more))
        assert [one.status for one in result.host_tool_calls] == ([] if more else ["rejected"])
        assert [(one.action, one.rule) for one in result.permissions] == [("reject", "rule 1: reject tool add")]


async def test_a_rule_that_says_to_ask_asks_a_person_once_at_the_call() -> None:
    """What the agent asks for the same call is not asked twice."""
    asked: list[tuple[Any, Any]] = []

    async def person(request: Any) -> Decision:
        asked.append((request.tool, request.arguments))
        return Decision.allow() if len(asked) == 1 else Decision.reject("enough")

    policy = PermissionPolicy(rules=[Rule(action="ask", tool="add")])
    calls = [("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2})]
    result = await run(agent(tools=[add], permission=policy, approver=person), task(*calls, ask=ASK))
    assert asked == [("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2})]
    assert [one.status for one in result.host_tool_calls] == ["completed", "rejected"]
    assert result.host_tool_calls[1].error == "the call was not allowed: enough"


async def test_each_call_is_one_step_of_the_budget_announced_or_not() -> None:
    """The call that is one too many does not run."""
    ran: list[int] = []

    def count(number: int) -> None:
        """Counts."""
        ran.append(number)

    calls = [("count", {"number": number}) for number in range(4)]
    result = await run(agent(tools=[count], budget=Budget(max_steps=2)), task(*calls))
    assert (result.reason, ran) == ("budget_exceeded", [0, 1])
    assert [one.status for one in result.host_tool_calls] == ["completed", "completed", "rejected"]
    ran.clear()
    announced = {"toolCallId": "c-1", "title": "count", "rawInput": {"number": 0}}
    once = await run(agent(tools=[count], budget=Budget(max_steps=1)), task(calls[0], announce=announced))
    assert (once.reason, ran) == ("end_turn", [0])
    assert once.budget is not None
    assert once.budget.spent.steps == 1


async def test_a_call_that_is_announced_when_it_is_over_is_no_further_step() -> None:
    """One agent announces late, and its arguments later still. What has other arguments or is ours no more counts."""
    late = [
        {"sessionUpdate": "tool_call", "toolCallId": "c-1", "title": "host_tools/add", "rawInput": {}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c-1", "rawInput": {"a": 1, "b": 1}},
    ]
    spec = agent(tools=[add], budget=Budget(max_steps=1))
    result = await run(spec, task(("add", {"a": 1, "b": 1}), afterwards=late))
    assert (result.reason, [one.tool_call_id for one in result.host_tool_calls]) == ("end_turn", ["c-1"])
    other = {"sessionUpdate": "tool_call", "toolCallId": "c-2", "title": "host_tools/add", "rawInput": {"a": 2}}
    for more in ([*late, other | {"rawInput": {}}], [other]):
        prompt = task(("add", {"a": 1, "b": 1}), afterwards=more)
        counted = await run(agent(tools=[add], budget=Budget(max_steps=9)), prompt)
        assert counted.budget is not None
        assert counted.budget.spent.steps == 2


# ---- secrets, faults


@anyway
async def test_the_secret_of_a_run_is_shown_nowhere(way: list[str], tmp_path: Path) -> None:
    """An agent that says it aloud, as answer, argument and on stderr, does not get it into what is shown."""
    seen = tmp_path / "servers.json"

    def reveal() -> str:
        """Raises with what the agent was given."""
        (server,) = json.loads(seen.read_text())
        raise ValueError(json.dumps(server))

    result = await run(agent(*way, tools=[reveal]), task(("reveal", {}), file=str(seen)))
    (server,) = json.loads(seen.read_text())
    pairs = server.get("env") or server["headers"]
    secret = pairs[0]["value"].removeprefix("Bearer ")
    assert len(secret) > 40
    assert secret not in repr(result.host_tool_calls)
    assert secret not in result.text


# ---- the `complete` tool


class Verdict(BaseModel):
    """A value."""

    approved: bool
    reasons: list[str]


@anyway
async def test_any_agent_completes_with_a_typed_value_by_calling_complete(way: list[str]) -> None:
    """The first call that fits counts; one that does not is answered with its faults. The turn goes on to its end."""
    right = {"approved": True, "reasons": ["small"]}
    calls = [("complete", {"approved": "perhaps"}), ("complete", right), ("complete", right | {"approved": False})]
    result = await run(agent(*way, tools=[]), task(*calls), result_type=Verdict)
    assert result.structured == Verdict(approved=True, reasons=["small"])
    assert (result.reason, result.host_tools) == ("end_turn", "listed")
    assert [one.status for one in result.host_tool_calls] == ["failed", "completed", "completed"]
    assert "$.reasons" in (result.host_tool_calls[0].error or "")


async def test_a_value_that_is_no_object_is_wrapped_for_the_tool() -> None:
    """Every model API wants an object of arguments."""
    result = await run(agent(tools=[add]), task(("complete", {"value": [1, 2]})), result_type=list[int])
    assert result.structured == [1, 2]
