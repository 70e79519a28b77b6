"""Order on the wire: what comes before a session, in one write with the answer, after it, or for somebody else."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Decision, Limits, PermissionRequest, Run, Runner, RunResult, run_subagent
from acp_client.session.events import OtherUpdate, TextChunk
from tests.support.scenarios import QUICK, Scripted


def child_of(folder: Path, scenario: dict[str, Any], **limits: Any) -> Scripted:
    """A child with short graces."""
    return Scripted(folder, scenario, limits=Limits(**QUICK | limits))


async def play(folder: Path, scenario: dict[str, Any], **limits: Any) -> RunResult:
    """One run of a scenario."""
    with anyio.fail_after(20):
        return await run_subagent(child_of(folder, scenario, **limits).spec, "go")


def update(fields: dict[str, Any], session: Any = "s-1") -> dict[str, Any]:
    """An update for a session that may not exist (yet)."""
    params = {"sessionId": session, "update": fields}
    return {"send": {"jsonrpc": "2.0", "method": "session/update", "params": params}}


def text(word: str, session: Any = "s-1") -> dict[str, Any]:
    """A chunk for such a session."""
    return update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": word}}, session)


# ---------------------------------------------------------------- after the answer


@pytest.mark.row("ORDER-1")
async def test_a_chunk_after_the_answer_is_appended_and_counted(tmp_path: Path) -> None:
    """63 ms later, well within the usual grace."""
    steps = [{"chunk": "head "}, {"stop": "end_turn"}, {"delay": 0.063}, {"chunk": "tail"}]
    result = await play(tmp_path, {"prompt": steps}, late_update_grace_seconds=0.5)
    assert (result.reason, result.text, result.flags.late_updates) == ("end_turn", "head tail", 1)


@pytest.mark.row("ORDER-1")
async def test_what_an_agent_says_at_the_end_of_its_stdin_is_appended(tmp_path: Path) -> None:
    """Read to the end, also without any grace, with tool calls and usage."""
    last = [
        text("tail"),
        update({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T", "status": "completed"}),
    ]
    last += [update({"sessionUpdate": "usage_update", "used": 3, "size": 9})]
    result = await play(tmp_path, {"prompt": [{"chunk": "head "}], "on_eof": last})
    assert (result.reason, result.text, result.flags.late_updates) == ("end_turn", "head tail", 3)
    assert (result.tool_calls[0].status, result.usage.context_used) == ("completed", 3)


@pytest.mark.row("ORDER-1", "STOP-2")
async def test_an_answer_that_came_late_as_a_whole_is_no_empty_one(tmp_path: Path) -> None:
    """The flags are those of the end; `answer` could not know."""
    child = child_of(tmp_path, {"prompt": [{"stop": "end_turn"}], "on_eof": [text("all of it")]})
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            answer, result = await run.answer(), await run.result()
    assert (answer.text, answer.flags.empty) == ("", True)
    assert (result.text, result.flags.empty) == ("all of it", False)


@pytest.mark.row("ORDER-1")
@pytest.mark.parametrize("word", ["refusal", "max_tokens"])
async def test_late_text_is_kept_after_any_word_of_the_agent(word: str, tmp_path: Path) -> None:
    """Partial text too has a tail."""
    result = await play(tmp_path, {"prompt": [{"chunk": "head "}, {"stop": word}], "on_eof": [text("tail")]})
    assert (result.reason, result.text) == (word, "head tail")


@pytest.mark.row("ORDER-1")
async def test_an_agent_that_never_stops_talking_is_stopped(tmp_path: Path) -> None:
    """The drain is bounded."""
    late = {"repeat": {"forever": True, "steps": [{"chunk": "more "}, {"delay": 0.02}]}}
    scenario = {"prompt": [{"chunk": "head "}, {"stop": "end_turn"}, late], "on_eof": "ignore"}
    result = await play(
        tmp_path, scenario, late_update_grace_seconds=0.2, eof_grace_seconds=0.3, term_grace_seconds=0.3
    )
    assert result.reason == "end_turn"
    assert result.text.startswith("head more more ")
    assert result.flags.killed is not None


# ---------------------------------------------------------------- in one write


async def both(run: Run) -> tuple[RunResult, RunResult]:
    """Answer and result."""
    return await run.answer(), await run.result()


@pytest.mark.row("ORDER-2")
async def test_chunks_in_one_write_with_the_answer_are_in_the_answer(tmp_path: Path) -> None:
    """One, many, and with a structured value among them."""
    chunks = [{"chunk": f"{number} "} for number in range(500)]
    scenario = {"prompt": [{"together": [*chunks, {"complete": {"n": 1}}, {"chunk": "end"}, {"stop": "end_turn"}]}]}
    with anyio.fail_after(20):
        async with Runner() as runner:
            answer, result = await both(await runner.start(child_of(tmp_path, scenario).spec, "go"))
    expected = "".join(f"{number} " for number in range(500)) + "end"
    assert answer.text == result.text == expected
    assert answer.structured == result.structured == {"n": 1}
    assert result.flags.late_updates == 0


@pytest.mark.row("ORDER-2")
async def test_a_question_in_one_write_with_the_answer_holds_nothing(tmp_path: Path) -> None:
    """No deadlock, though nobody waits for it."""
    ask = {"permission": {"wait": False}}
    burst = [{"chunk": "a"}, ask, {"chunk": "b"}, {"request": {"method": "_vendor/x", "wait": False}}]
    child = Scripted(tmp_path, {"prompt": [{"together": [*burst, {"stop": "end_turn"}]}]}, limits=Limits(**QUICK))
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    assert (result.reason, result.text) == ("end_turn", "ab")
    answers = {frame["id"]: frame for frame in child.received() if "method" not in frame}
    assert answers[0]["result"] == {"outcome": {"outcome": "selected", "optionId": "reject"}}
    assert answers[1]["error"]["code"] == -32601


@pytest.mark.row("ORDER-2")
async def test_nobody_is_waited_for_once_the_turn_has_its_answer(tmp_path: Path) -> None:
    """A question that a person would have to answer is cancelled, not left open."""

    async def policy(_request: PermissionRequest) -> Decision:
        await anyio.sleep_forever()
        raise AssertionError

    burst = [{"permission": {"wait": False}}, {"stop": "end_turn"}]
    child = Scripted(tmp_path, {"prompt": [{"together": burst}]}, limits=Limits(**QUICK), permission=policy)
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    assert result.reason == "end_turn"
    assert [frame["result"] for frame in child.received() if "result" in frame] == [
        {"outcome": {"outcome": "cancelled"}}
    ]


@pytest.mark.row("ORDER-2")
async def test_a_handler_that_asks_back_holds_no_frame_after_it(tmp_path: Path) -> None:
    """While the caller's policy thinks, chunks go on being folded, and its answer arrives."""
    folded = anyio.Event()

    async def policy(_request: PermissionRequest) -> Decision:
        await folded.wait()
        return Decision.allow()

    steps = [{"permission": {"wait": False, "save": "p"}}, {"chunk": "a"}, {"chunk": "b"}, {"wait_answer": "p"}]
    steps += [{"chunk": " ${p.result.outcome.optionId}"}]
    child = Scripted(tmp_path, {"prompt": steps}, limits=Limits(**QUICK), permission=policy)
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            async for event in run.events():
                if isinstance(event, TextChunk) and event.text == "b":
                    folded.set()
            result = await run.result()
    assert (result.reason, result.text) == ("end_turn", "ab allow")


@pytest.mark.row("ORDER-2", "ORDER-3")
async def test_the_whole_start_of_a_session_in_one_write(tmp_path: Path) -> None:
    """Updates, the answer that names the session, and updates again."""
    mode = {"sessionUpdate": "current_mode_update", "currentModeId": "code"}
    usage = {"sessionUpdate": "usage_update", "used": 7, "size": 9}
    answer = {"raw": {"frame": {"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s-9"}}}}
    burst = [update(mode, "s-9"), text("hi", "s-9"), answer, update(usage, "s-9"), text("a greeting", "s-9")]
    scenario = {
        "new_session": [{"together": burst}, {"respond": {"sessionId": "s-9"}}],
        "prompt": [{"chunk": "a"}],
    }
    result = await play(tmp_path, scenario)
    assert (result.reason, result.text, result.session_id) == ("end_turn", "a", "s-9")
    assert result.usage.context_used == 7


# ---------------------------------------------------------------- before the session, before the prompt

EARLY = [
    update({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "c", "description": "d"}]}),
    update({"sessionUpdate": "usage_update", "used": 11, "size": 200}),
    update({"sessionUpdate": "session_info_update", "title": "A title"}),
    update({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}),
]
GREETING = text("a greeting that is no answer")
HOOKS = {"before": {"before": [*EARLY, GREETING]}, "after": {"after": EARLY}}


@pytest.mark.row("ORDER-3")
@pytest.mark.parametrize("where", HOOKS)
async def test_updates_before_the_prompt_change_the_session_and_are_no_answer(where: str, tmp_path: Path) -> None:
    """Before the session's id is known they wait for it."""
    child = child_of(tmp_path, {"new_session": HOOKS[where], "prompt": [{"chunk": "a"}]})
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            kinds = [event.kind async for event in run.events() if isinstance(event, OtherUpdate)]
            result = await run.result()
    assert (result.reason, result.text, len(result.messages)) == ("end_turn", "a", 1)
    assert result.usage.context_used == 11
    assert kinds == ["available_commands_update", "session_info_update"]


@pytest.mark.row("ORDER-3")
async def test_early_updates_at_the_handshake_and_for_others_do_no_harm(tmp_path: Path) -> None:
    """More of them than anybody keeps."""
    flood = [{"repeat": {"times": 1500, "steps": [text("x", "other")]}}]
    result = await play(
        tmp_path, {"initialize": flood, "new_session": [*EARLY, GREETING, *flood], "prompt": [{"chunk": "a"}]}
    )
    assert (result.reason, result.text) == ("end_turn", "a")


# ---------------------------------------------------------------- other sessions


@pytest.mark.row("ORDER-4")
async def test_updates_for_another_session_are_nobodys_answer(tmp_path: Path) -> None:
    """Whatever stands in place of our id."""
    others: list[Any] = ["other", "", "S-1", "s-1 ", None, 7, ["s-1"], {"id": "s-1"}, True]
    foreign = [text("not ours", other) for other in others]
    foreign += [update({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"}, "other")]
    foreign += [update({"sessionUpdate": "usage_update", "used": 1, "size": 2}, "other")]
    foreign += [{"notify": {"method": "_acp_subagents/complete", "params": {"sessionId": "other", "result": 1}}}]
    nameless = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "not ours"}}
    foreign += [{"notify": {"method": "session/update", "params": {"update": nameless}}}]
    scenario = {
        "new_session": {"before": foreign, "after": foreign},
        "prompt": [*foreign, {"chunk": "ours"}, *foreign],
    }
    result = await play(tmp_path, scenario)
    assert (result.reason, result.text) == ("end_turn", "ours")
    assert (result.tool_calls, result.usage.context_used, result.structured) == ((), None, None)
