"""What ends a turn, and what an end means: only `end_turn` is a success, and an empty one shows."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import REASONS, Limits, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted

SOME: list[dict[str, Any]] = [{"chunk": "as far as it goes"}]


async def play(folder: Path, scenario: dict[str, Any], **limits: Any) -> RunResult:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK | limits))
    with anyio.fail_after(20):
        return await run_subagent(child.spec, "go")


WORDS = {
    "end_turn": ("completed", "end_turn"),
    "max_tokens": ("error", "max_tokens"),
    "max_turn_requests": ("error", "max_turn_requests"),
    "refusal": ("error", "refusal"),
    "cancelled": ("aborted", "cancelled_by_agent"),
    "End_Turn": ("error", "unknown_stop_reason"),
    "end_turn ": ("error", "unknown_stop_reason"),
    "error": ("error", "unknown_stop_reason"),
    "": ("error", "unknown_stop_reason"),
}


@pytest.mark.row("STOP-1")
@pytest.mark.parametrize("word", WORDS)
async def test_each_stop_reason_has_its_own_end(word: str, tmp_path: Path) -> None:
    """The text is kept, the word too, and only one of them is a success."""
    result = await play(tmp_path, {"prompt": [*SOME, {"stop": word}]})
    assert (result.status, result.reason, result.stop_reason) == (*WORDS[word], word)
    assert result.text == "as far as it goes"
    assert (result.failure is None) == (word == "end_turn")
    assert (REASONS[result.reason].exit_code == 0) == (word == "end_turn")


ODD_WORDS: list[Any] = [None, True, ["end_turn"], {"reason": "end_turn"}]


@pytest.mark.row("STOP-1", "SCHEMA-12")
@pytest.mark.parametrize("word", ODD_WORDS, ids=repr)
async def test_a_stop_reason_that_is_no_text_is_no_success(word: Any, tmp_path: Path) -> None:
    """Malformed, null, a list that can be no key of a table."""
    result = await play(tmp_path, {"prompt": [*SOME, {"stop": word}]})
    assert (result.status, result.reason, result.stop_reason) == ("error", "unknown_stop_reason", None)
    assert result.text == "as far as it goes"


EMPTY: dict[str, list[dict[str, Any]]] = {
    "nothing": [],
    "tool calls": [{"tool_call": {"toolCallId": "t", "title": "T", "kind": "read", "status": "completed"}}],
    "thoughts": [{"thought": "hm"}],
    "anything else": [
        {"plan": ["a", "b"]},
        {"usage": {"used": 1, "size": 2}},
        {"chunk": {"text": "x", "session": "other"}},
    ],
}


@pytest.mark.row("STOP-2")
@pytest.mark.parametrize("name", EMPTY)
async def test_a_turn_without_any_answer_completes_and_is_flagged(name: str, tmp_path: Path) -> None:
    """Visible, not guessed about."""
    result = await play(tmp_path, {"prompt": EMPTY[name]})
    assert (result.status, result.reason, result.text) == ("completed", "end_turn", "")
    assert result.flags.empty
    assert result.failure is None


@pytest.mark.row("STOP-2")
@pytest.mark.parametrize("word", ["refusal", "max_tokens"])
async def test_a_turn_that_failed_is_not_called_empty(word: str, tmp_path: Path) -> None:
    """The flag is about successes."""
    result = await play(tmp_path, {"prompt": [{"stop": word}]})
    assert (result.reason, result.flags.empty) == (word, False)


@pytest.mark.row("STOP-2")
@pytest.mark.parametrize("text", ["\n", "0"])
async def test_any_text_at_all_is_an_answer(text: str, tmp_path: Path) -> None:
    """What it is worth is for the caller to say."""
    result = await play(tmp_path, {"prompt": [{"chunk": text}]})
    assert (result.text, result.flags.empty) == (text, False)


@pytest.mark.row("STOP-4")
async def test_the_answer_to_the_prompt_ends_the_turn_without_any_notice(tmp_path: Path) -> None:
    """At once: nothing private is waited for."""
    result = await play(tmp_path, {"prompt": [*SOME, {"stop": "end_turn"}, {"hang": True}]}, idle_timeout_seconds=10.0)
    assert (result.reason, result.text) == ("end_turn", "as far as it goes")
    assert result.timings.total is not None
    assert result.timings.total < 10


NOTICES: list[dict[str, Any]] = [
    {"notify": {"method": "_vendor/turn_end", "params": {"sessionId": "s-1", "stopReason": "end_turn"}}},
    {"notify": {"method": "session/end", "params": {"sessionId": "s-1"}}},
    {"update": {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}},
    {"update": {"sessionUpdate": "session_info_update", "title": "done"}},
    {"complete": {"done": True}},
]


@pytest.mark.row("STOP-4")
async def test_a_notice_is_no_answer_to_the_prompt(tmp_path: Path) -> None:
    """However private or public: text after it counts, and without an answer the turn does not end well."""
    result = await play(tmp_path, {"prompt": [*NOTICES, *SOME, {"hang": True}]}, idle_timeout_seconds=0.7)
    assert (result.reason, result.text) == ("idle_timeout", "as far as it goes")


@pytest.mark.row("STOP-5", "HANG-1")
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"run_timeout_seconds": 0.9}, "run_timeout"),
        ({"idle_timeout_seconds": 0.7}, "idle_timeout"),
    ],
)
async def test_a_deadline_inside_a_tool_call_is_an_error(limits: dict[str, float], reason: str, tmp_path: Path) -> None:
    """Also where the agent answers the cancel with a success; the command line exits with 3."""
    call = {"tool_call": {"toolCallId": "t", "title": "Sleep", "kind": "execute", "status": "in_progress"}}
    scenario = {"prompt": [*SOME, call, {"hang": True}], "on_cancel": "end_turn"}
    result = await play(tmp_path, scenario, **limits)
    assert (result.status, result.reason, result.stop_reason) == ("error", reason, "end_turn")
    assert (result.text, result.tool_calls[0].status) == ("as far as it goes", "in_progress")
    assert REASONS[result.reason].exit_code == 3
    assert result.failure is not None
    assert not result.failure.retry_safe
