"""The public doors: start and events, answer, result, run_many, sync; and what a runner owes its caller."""

import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_client import AgentSpec, Decision, Job, Limits, PermissionRequest, Runner, run_subagent, run_subagent_sync
from acp_client.batch import AnyJob
from acp_client.protocol.models import TextContent
from tests.support.scenarios import QUICK, Scripted

HELLO: dict[str, Any] = {"prompt": [{"thought": "hm"}, {"chunk": "Hello, "}, {"chunk": "${prompt}"}]}


def hello(folder: Path, **limits: Any) -> AgentSpec:
    """A child that greets."""
    return Scripted(folder, HELLO, limits=Limits(**QUICK | limits)).spec


async def test_a_run_gives_its_answer_and_its_facts(tmp_path: Path) -> None:
    """All of the result's parts are there."""
    result = await run_subagent(hello(tmp_path), "world")
    assert (result.status, result.reason, result.stop_reason) == ("completed", "end_turn", "end_turn")
    assert result.text == result.last_message == "Hello, world"
    assert [message.text for message in result.messages] == ["Hello, world"]
    assert result.failure is None
    assert result.diagnostics.exit_code == 0
    assert result.session_id == "s-1"
    assert result.agent_info == {"name": "scripted", "version": "0"}
    assert result.timings.total is not None
    assert not result.flags.empty


def test_the_sync_door_needs_no_loop(tmp_path: Path) -> None:
    """For programs without asyncio."""
    assert run_subagent_sync(hello(tmp_path), "you").text == "Hello, you"
    with pytest.raises(TypeError, match="prompt must be") as caught:
        run_subagent_sync(hello(tmp_path), 3)  # type: ignore[arg-type]  # the mistake under test
    assert caught.value.__context__ is None  # a traceback begins with the mistake


async def test_the_sync_door_refuses_to_run_inside_a_loop(tmp_path: Path) -> None:
    """Blocking a loop is the caller's mistake, and it says so."""
    with pytest.raises(RuntimeError):
        run_subagent_sync(hello(tmp_path), "you")


async def test_events_come_live_and_end_with_the_run(tmp_path: Path) -> None:
    """Typed, in order, the first reader missing nothing."""
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(hello(tmp_path), "world")
            events = [event async for event in run.events() if event.type != "stderr"]
    assert [event.type for event in events] == [
        "run_started",
        "session_started",
        "thought",
        "text",
        "text",
        "run_ended",
    ]


async def test_an_answer_comes_before_the_child_is_gone(tmp_path: Path) -> None:
    """`answer` does not wait for a child that lingers; `result` does."""
    gate = tmp_path / "gate"
    scenario = {**HELLO, "on_eof": [{"wait_for": str(gate)}]}
    child = Scripted(tmp_path, scenario, limits=Limits(**QUICK | {"eof_grace_seconds": 15.0}))
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(child.spec, "world")
            answer = await run.answer()
            assert answer.text == "Hello, world"
            assert answer.diagnostics.exit_code is None
            gate.touch()
            result = await run.result()
    assert result.diagnostics.exit_code == 0
    assert result.flags.killed is None
    assert (await run.result()) is result


async def test_many_runs_come_as_they_finish(tmp_path: Path) -> None:
    """The slow one is last though it was first; each result comes with its own job."""
    gate = tmp_path / "gate"
    folders = [tmp_path / name for name in ("slow", "quick")]
    for folder in folders:
        folder.mkdir()
    slow = Scripted(folders[0], {"prompt": [{"wait_for": str(gate)}, {"chunk": "slow"}]}, limits=Limits(**QUICK))
    quick = Scripted(folders[1], {"prompt": [{"chunk": "quick"}]}, limits=Limits(**QUICK))
    jobs: list[AnyJob] = [Job(slow.spec, "a"), (quick.spec, "b")]
    seen = []
    with anyio.fail_after(30):
        async with Runner() as runner:
            async for job, result in runner.run_many(jobs):
                seen.append((jobs.index(job), result.text))
                gate.touch()
    assert seen == [(1, "quick"), (0, "slow")]


async def test_no_more_children_than_allowed_run_at_once(tmp_path: Path) -> None:
    """With one place the second child starts after the first has gone."""
    marks = tmp_path / "marks"
    folders = [tmp_path / str(number) for number in range(3)]
    for folder in folders:
        folder.mkdir()
    command = (
        sys.executable,
        "-c",
        f"import os; f=open({str(marks)!r},'a'); f.write('+'); f.flush(); input(); f.write('-'); f.flush()",
    )
    spec = AgentSpec(command=command, limits=Limits(**QUICK))
    with anyio.fail_after(30):
        async with Runner(max_concurrency=1) as runner:
            results = [result async for _, result in runner.run_many([(spec, "x")] * 3)]
    assert [result.reason for result in results] == ["agent_exited"] * 3
    assert marks.read_text() == "+-+-+-"


async def test_leaving_the_iteration_cancels_the_rest(tmp_path: Path) -> None:
    """What still runs is aborted, what waits never starts."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    stuck = Scripted(tmp_path / "a", {"prompt": [{"hang": True}]}, limits=Limits(**QUICK))
    quick = Scripted(tmp_path / "b", HELLO, limits=Limits(**QUICK))
    with anyio.fail_after(30):
        async with Runner(max_concurrency=2) as runner:
            results = runner.run_many([(stuck.spec, "a"), (quick.spec, "b"), (stuck.spec, "c")])
            async for _, result in results:
                assert result.text == "Hello, b"
                break
            await results.aclose()


async def test_a_run_cancelled_while_it_waits_starts_nothing(tmp_path: Path) -> None:
    """Its child never existed."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    gate = tmp_path / "gate"
    first = Scripted(tmp_path / "a", {"prompt": [{"wait_for": str(gate)}]}, limits=Limits(**QUICK))
    second = Scripted(tmp_path / "b", HELLO, limits=Limits(**QUICK))
    with anyio.fail_after(30):
        async with Runner(max_concurrency=1) as runner:
            one = await runner.start(first.spec, "a")
            two = await runner.start(second.spec, "b")
            await two.cancel()
            await two.cancel()
            assert (await two.result()).reason == "cancelled"
            gate.touch()
            assert (await one.result()).reason == "end_turn"
    assert not second.record.exists()


async def test_an_exception_in_the_block_ends_the_runs_and_leaves_bare(tmp_path: Path) -> None:
    """The caller's own error, no ExceptionGroup, and no child left."""
    child = Scripted(tmp_path, {"prompt": [{"chunk": "x"}, {"hang": True}]}, limits=Limits(**QUICK))
    run = None
    with anyio.fail_after(30), pytest.raises(LookupError, match="mine"):  # noqa: PT012  # the block is what is tested
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            async for event in run.events():
                if event.type == "text":
                    raise LookupError("mine")
    assert run is not None
    assert (await run.result()).reason == "cancelled"


async def test_a_cancelled_caller_leaves_no_child(tmp_path: Path) -> None:
    """The cancellation goes on after the child is gone, which got its polite cancel."""
    ready = tmp_path / "ready"
    child = Scripted(tmp_path, {"prompt": [{"touch": str(ready)}, {"hang": True}]}, limits=Limits(**QUICK))

    async def cancel_when_ready(scope: anyio.CancelScope) -> None:
        while not ready.exists():
            await anyio.lowlevel.checkpoint()
        scope.cancel()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope() as scope:
                tasks.start_soon(cancel_when_ready, scope)
                await run_subagent(child.spec, "go")
    assert scope.cancelled_caught
    assert child.methods()[-1] == "session/cancel"


async def test_a_policy_of_the_callers_decides(tmp_path: Path) -> None:
    """It sees what is asked; its decision is recorded and sent."""
    scenario = {
        "prompt": [
            {
                "permission": {
                    "tool_call": {"toolCallId": "c1", "title": "rm -r build", "kind": "delete"},
                    "options": [
                        {"optionId": "a", "name": "Always", "kind": "allow_always"},
                        {"optionId": "o", "name": "Once", "kind": "allow_once"},
                        {"optionId": "n", "name": "No", "kind": "reject_once"},
                    ],
                    "on": {"allowed": [{"chunk": "done"}], "rejected": [{"chunk": "not done"}]},
                }
            }
        ]
    }
    seen: list[PermissionRequest] = []

    async def decide(request: PermissionRequest) -> Decision:
        seen.append(request)
        return Decision.allow("it is only a build folder")

    child = Scripted(tmp_path, scenario, limits=Limits(**QUICK), permission=decide)
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    assert result.text == "done"
    assert (seen[0].title, seen[0].kind, seen[0].tool_call_id) == ("rm -r build", "delete", "c1")
    (record,) = result.permissions
    assert (record.action, record.option_id, record.wider) == ("allow", "o", False)
    assert record.why == "it is only a build folder"


async def test_settings_are_made_by_id_or_category_before_the_prompt(tmp_path: Path) -> None:
    """Mode, model and options; what is current already is not sent."""
    select = {
        "type": "select",
        "id": "m",
        "name": "Model",
        "category": "model",
        "currentValue": "small",
        "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
    }
    flag = {"type": "boolean", "id": "web", "name": "Web", "currentValue": True}
    scenario = {
        **HELLO,
        "modes": {
            "currentModeId": "code",
            "availableModes": [{"id": "code", "name": "Code"}, {"id": "ask", "name": "Ask"}],
        },
        "config_options": [select, flag],
    }
    child = Scripted(
        tmp_path,
        scenario,
        limits=Limits(**QUICK),
        mode="Ask",
        model="large",
        config_options={"web": True},
    )
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    assert result.reason == "end_turn"
    sent = [(frame["method"], frame["params"]) for frame in child.received() if "method" in frame]
    assert [method for method, _ in sent] == [
        "initialize",
        "session/new",
        "session/set_mode",
        "session/set_config_option",
        "session/prompt",
    ]
    assert sent[2][1] == {"sessionId": "s-1", "modeId": "ask"}
    assert sent[3][1] == {"sessionId": "s-1", "configId": "m", "value": "large"}


async def test_blocks_are_taken_as_models_or_dicts(tmp_path: Path) -> None:
    """And arrive as they were given."""
    child = Scripted(tmp_path, HELLO, limits=Limits(**QUICK))
    link = {"type": "resource_link", "uri": "file:///a.csv", "name": "a.csv", "size": 3}
    with anyio.fail_after(20):
        await run_subagent(child.spec, [TextContent(text="look at"), link])
    assert child.received()[-1]["params"]["prompt"] == [{"type": "text", "text": "look at"}, link]


@pytest.mark.parametrize(
    ("prompt", "error"),
    [
        (7, TypeError),
        (b"bytes", TypeError),
        ([], ValueError),
        ([7], TypeError),
        ([{"type": "text"}], ValueError),
        ([{"text": "no type"}], ValueError),
        ({"type": "text", "text": "no list"}, TypeError),
    ],
)
async def test_a_wrong_prompt_raises_before_anything_starts(
    tmp_path: Path, prompt: Any, error: type[Exception]
) -> None:
    """Only wrong arguments raise."""
    with pytest.raises(error, match="prompt"):
        await run_subagent(hello(tmp_path), prompt)


async def test_a_closed_runner_starts_nothing(tmp_path: Path) -> None:
    """And says how to use it."""
    runner = Runner()
    with pytest.raises(RuntimeError, match="this Runner is not open yet; start runs inside `async with"):
        await runner.start(hello(tmp_path), "x")
    async with runner:
        assert repr(runner) == "<Runner open, 0 runs, at most 32 at once>"
        with pytest.raises(RuntimeError, match="in use"):
            await runner.__aenter__()
        with pytest.raises(TypeError, match="AgentSpec"):
            await runner.start(("python", "-c", ""), "x")  # type: ignore[arg-type]  # the mistake under test
        with pytest.raises(TypeError, match="job"):
            _ = [pair async for pair in runner.run_many([5])]  # type: ignore[list-item]  # the mistake under test
    with pytest.raises(RuntimeError, match="this Runner is closed; start runs inside `async with"):
        runner.run_many([(hello(tmp_path), "x")])


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "4"])
def test_a_wrong_concurrency_is_refused(value: Any) -> None:
    """An integer of at least one."""
    with pytest.raises(ValueError, match="max_concurrency"):
        Runner(max_concurrency=value)
