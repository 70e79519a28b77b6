"""Our cancel: the local intent wins whatever the agent does with it, and nothing of the agent is left."""

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_client import AgentSpec, Limits, Runner, RunResult
from acp_client.session.events import Event
from tests.support.kernel import marked, nothing_left
from tests.support.scenarios import QUICK, Scripted

SHORT = Limits(**QUICK | {"cancel_grace_seconds": 0.3, "eof_grace_seconds": 0.2, "term_grace_seconds": 0.3})
PATIENT = Limits(**QUICK | {"cancel_grace_seconds": 10.0, "eof_grace_seconds": 10.0, "term_grace_seconds": 10.0})


async def cancel_at(kind: str, spec: AgentSpec, text: str = "") -> RunResult:
    """The result of a run that is cancelled when the first event of a kind, with a text, comes."""

    def is_it(event: Event) -> bool:
        return event.type == kind and text in getattr(event, "text", "")

    with nothing_left(), anyio.fail_after(15):
        async with Runner() as runner:
            run = await runner.start(spec, "go")
            async for event in run.events():
                if is_it(event):
                    await run.cancel()
            return await run.result()


def check_cancelled(result: RunResult, stop_reason: str | None = None) -> None:
    """Aborted by us; the agent's own word is kept beside it."""
    assert (result.status, result.reason, result.stop_reason) == ("aborted", "cancelled", stop_reason)
    assert result.failure is not None


ANSWERS: dict[str, tuple[Any, str | None]] = {
    "cancelled": ("obey", "cancelled"),
    "end_turn": ("end_turn", "end_turn"),
    "refusal": ("refusal", "refusal"),
    "an unknown word": ([{"stop": "interrupted"}], "interrupted"),
    "no stop reason": ([{"respond": {}}], None),
    "null": ([{"respond": None}], None),
    "the error for it": ([{"error": {"code": -32800, "message": "Request cancelled"}}], None),
    "another error": ([{"error": {"code": -32603, "message": "AbortError"}}], None),
    "an answer that is none": ([{"answer": {"result": {"stopReason": "end_turn"}, "id_as": "string"}}], None),
    "its exit": ([{"exit": 1}], None),
    "its death": ([{"signal": "SIGKILL"}], None),
    "a torn frame": ([{"raw": '{"jsonrpc":"2.0","id":3,"resu'}, {"exit": 0}], None),
    "a closed stdout": ([{"close": "stdout"}, {"hang": True}], None),
    "silence": ("ignore", None),
    "a flood": ([{"flood": {"forever": True}}], None),
}


@pytest.mark.row("CANCEL-1", "CANCEL-2")
@pytest.mark.odd_frames
@pytest.mark.parametrize("name", ANSWERS)
async def test_our_cancel_wins_whatever_the_agent_answers(name: str, tmp_path: Path) -> None:
    """The text that came before it is kept."""
    on_cancel, word = ANSWERS[name]
    child = Scripted(tmp_path, {"prompt": [{"chunk": "partial"}, {"hang": True}], "on_cancel": on_cancel}, limits=SHORT)
    result = await cancel_at("text", child.spec)
    check_cancelled(result, word)
    assert result.text == "partial"
    assert child.methods() == ["initialize", "session/new", "session/prompt", "session/cancel"]


@pytest.mark.row("CANCEL-1")
async def test_updates_until_the_answer_are_kept_and_those_after_it_are_not(tmp_path: Path) -> None:
    """An agent may flush what it has before it answers the cancelled prompt."""
    on_cancel = [{"chunk": " flushed"}, {"stop": "cancelled"}, {"chunk": " late"}]
    child = Scripted(tmp_path, {"prompt": [{"chunk": "partial"}, {"hang": True}], "on_cancel": on_cancel}, limits=SHORT)
    result = await cancel_at("text", child.spec)
    check_cancelled(result, "cancelled")
    assert result.text == "partial flushed"


STREAM = {"repeat": {"forever": True, "steps": [{"chunk": "."}, {"delay": 0.005}]}}
DEAF: dict[str, tuple[dict[str, Any], str | None]] = {
    "and goes at EOF": ({}, None),
    "and goes at SIGTERM": ({"ignore": ["eof"]}, "term"),
    "and goes at nothing": ({"ignore": ["eof", "SIGTERM"]}, "kill"),
    "and does not even read": ({"prompt": [{"ignore": "stdin"}, {"chunk": "on"}, STREAM]}, "term"),
}


@pytest.mark.row("CANCEL-2")
@pytest.mark.parametrize("name", DEAF)
async def test_an_agent_that_streams_on_through_a_cancel_is_ended_after_the_grace(name: str, tmp_path: Path) -> None:
    """Never a success because it happened to go on."""
    deaf, killed = DEAF[name]
    scenario = {"prompt": [{"chunk": "on"}, STREAM], "on_cancel": "ignore", **deaf}
    result = await cancel_at("text", Scripted(tmp_path, scenario, limits=SHORT).spec)
    check_cancelled(result)
    assert result.text.startswith("on.")
    assert result.flags.killed == killed


@pytest.mark.row("CANCEL-2")
async def test_the_next_run_after_a_deaf_one_is_not_held_up(tmp_path: Path) -> None:
    """Its place is free when its process is gone, and the answer to a later prompt is that prompt's."""
    deaf = Scripted(
        tmp_path, {"prompt": [{"chunk": "on"}, STREAM], "on_cancel": "ignore", "ignore": ["eof"]}, limits=SHORT
    )
    (tmp_path / "next").mkdir()
    other = Scripted(tmp_path / "next", {"prompt": [{"chunk": "${prompt}"}]}, limits=SHORT)
    with nothing_left(), anyio.fail_after(15):
        async with Runner(max_concurrency=1) as runner:
            first = await runner.start(deaf.spec, "go")
            second = await runner.start(other.spec, "later")
            async for event in first.events():
                if event.type == "text":
                    await first.cancel()
            check_cancelled(await first.result())
            assert (await second.result()).text == "later"


TOOLS: dict[str, dict[str, Any]] = {
    "in its group": {},
    "holding its pipes": {"inherit": ["stdin", "stdout", "stderr"]},
    "deaf to SIGTERM": {"ignore_term": True},
    "in a session of its own": {"session": True, "ignore_term": True, "inherit": ["stdout"]},
}


@pytest.mark.row("CANCEL-3")
@pytest.mark.parametrize("tool", TOOLS)
async def test_a_wedged_tool_that_blocks_the_cancel_is_killed_with_the_agent(tool: str, tmp_path: Path) -> None:
    """The agent is stuck in the tool and answers nothing; both end."""
    steps = [{"spawn": {"leave": True, **TOOLS[tool]}}, {"chunk": "in the tool"}, {"ignore": "stdin"}, {"hang": True}]
    result = await cancel_at("text", Scripted(tmp_path, {"prompt": steps}, limits=SHORT).spec)
    check_cancelled(result)
    assert result.flags.killed == ("kill" if "ignore_term" in TOOLS[tool] else "term")


BEFORE: dict[str, dict[str, Any]] = {
    "before it reads": {"start": [{"stderr": "here"}, {"hang": True}]},
    "in initialize": {"initialize": [{"stderr": "here"}, {"hang": True}]},
    "in authenticate": {
        "auth": {"methods": [{"id": "key", "name": "K"}]},
        "authenticate": [{"stderr": "here"}, {"hang": True}],
    },
    "in session/new": {"new_session": [{"stderr": "here"}, {"hang": True}]},
}


@pytest.mark.row("CANCEL-6")
@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("deaf", [False, True])
async def test_a_cancel_before_the_session_ends_the_child_without_a_cancel_frame(
    name: str, tmp_path: Path, *, deaf: bool
) -> None:
    """There is no session to name; the child is ended at once, and no grace for EOF passes."""
    scenario = BEFORE[name] | {"ignore": ["eof", "SIGTERM"] if deaf else ["eof"]}  # else EOF may come before SIGTERM
    limits = PATIENT.model_copy(update={"term_grace_seconds": 0.3}) if deaf else PATIENT
    child = Scripted(tmp_path, scenario, limits=limits, auth_method="key" if "auth" in scenario else None)
    result = await cancel_at("stderr", child.spec, "here")
    check_cancelled(result)
    assert result.session_id is None
    assert "session/cancel" not in child.methods()
    assert result.failure is not None
    assert result.failure.retry_safe
    assert result.flags.killed == ("kill" if deaf else "term")


@pytest.mark.row("CANCEL-6")
@pytest.mark.parametrize("turns", range(4))
async def test_a_cancel_right_after_the_start_ends_as_cancelled(turns: int, tmp_path: Path) -> None:
    """Also before there is a process: then none is started, or it is ended before it is spoken to."""
    child = Scripted(tmp_path, {"prompt": [{"chunk": "never"}]}, limits=PATIENT)
    with nothing_left(), anyio.fail_after(15):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            await run.cancel()
            result = await run.result()
    check_cancelled(result)
    assert result.text == ""
    assert "session/prompt" not in child.methods()


@pytest.mark.row("CANCEL-6")
async def test_a_cancel_between_session_and_prompt_sends_no_cancel_to_the_idle_session(tmp_path: Path) -> None:
    """It would poison the session of some agents; EOF is enough."""
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
    scenario = {"modes": modes, "set_mode": [{"stderr": "here"}, {"hang": True}]}
    child = Scripted(tmp_path, scenario, mode="code", limits=PATIENT)
    result = await cancel_at("stderr", child.spec, "here")
    check_cancelled(result)
    assert (result.session_id, result.flags.killed) == ("s-1", None)
    assert child.methods() == ["initialize", "session/new", "session/set_mode"]


@pytest.mark.row("CANCEL-6")
async def test_a_run_cancelled_while_it_waits_for_its_place_starts_no_process(tmp_path: Path) -> None:
    """No place, no process; and no place is lost."""
    slow = Scripted(tmp_path, {"prompt": [{"chunk": "up"}, {"wait_for": str(tmp_path / "go")}]}, limits=PATIENT)
    with nothing_left(), anyio.fail_after(15):
        async with Runner(max_concurrency=1) as runner:
            first = await runner.start(slow.spec, "go")
            waiting = [await runner.start(AgentSpec(command=("touch", str(tmp_path / "bad"))), "go") for _ in range(3)]
            async for event in first.events():
                if event.type == "text":
                    for run in waiting:
                        await run.cancel()
                        check_cancelled(await run.result())
                        assert marked(run.id) == {}
                    (tmp_path / "go").touch()
            assert (await first.result()).reason == "end_turn"
    assert not (tmp_path / "bad").exists()


@pytest.mark.row("CANCEL-1")
async def test_cancels_from_many_tasks_are_one(tmp_path: Path) -> None:
    """Idempotent, from any task, before and after the end: one frame, one result."""
    child = Scripted(tmp_path, {"prompt": [{"chunk": "up"}, {"hang": True}]}, limits=PATIENT)
    with nothing_left(), anyio.fail_after(15):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            async for event in run.events():
                if event.type == "text":
                    async with anyio.create_task_group() as tasks:
                        for _ in range(5):
                            tasks.start_soon(run.cancel)
            results = [await run.result(), await run.result()]
            await run.cancel()
    check_cancelled(results[0], "cancelled")
    assert results[0] is results[1]
    assert child.methods().count("session/cancel") == 1
