"""Sizes: large frames pass in both directions, what is over a limit is dropped, cut or the end, in bounded memory."""

import json
import resource
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Limits, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted

MEGABYTE = 1024 * 1024
SIZES = {"200 KB": 200_000, "5 MB": 5_000_000, "60 MB": 60_000_000}


async def play(folder: Path, scenario: dict[str, Any], prompt: Any = "go", **limits: Any) -> tuple[RunResult, Scripted]:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK | limits))
    with anyio.fail_after(60):
        return await run_subagent(child.spec, prompt), child


def padded(frame: dict[str, Any], size: int) -> dict[str, Any]:
    """The frame, made so many bytes long (its newline not counted)."""
    short = {**frame, "_meta": {"pad": ""}}
    return {**frame, "_meta": {"pad": "x" * (size - len(json.dumps(short, separators=(",", ":"))))}}


def update(text: str) -> dict[str, Any]:
    """The frame of a chunk."""
    fields = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": fields}}


# ---------------------------------------------------------------- large and good


@pytest.mark.row("LIMIT-1")
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
async def test_a_chunk_of_any_size_on_one_line_is_whole(size: int, tmp_path: Path) -> None:
    """And the frames after it are read."""
    steps = [{"chunk": {"text": "0123456789", "size": size}}, {"chunk": "end"}]
    result, _ = await play(tmp_path, {"prompt": steps})
    assert (result.reason, len(result.text), result.flags.truncated) == ("end_turn", size + 3, False)
    assert result.text == "0123456789" * (size // 10) + "end"


@pytest.mark.row("LIMIT-1", "STDERR-2")
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
async def test_a_prompt_of_any_size_arrives_whole(size: int, tmp_path: Path) -> None:
    """One line towards the child as well."""
    prompt = "0123456789" * (size // 10)
    result, child = await play(tmp_path, {"prompt": [{"chunk": "got it"}]}, prompt)
    assert (result.reason, result.text) == ("end_turn", "got it")
    line = child.record.read_bytes().splitlines()[-1]
    assert json.loads(line)["params"]["prompt"] == [{"type": "text", "text": prompt}]


@pytest.mark.row("LIMIT-1")
async def test_large_things_of_every_kind_pass_in_one_turn(tmp_path: Path) -> None:
    """A tool call's output, a question, an answer with much beside it, characters of several bytes."""
    big = "漢" * 400_000
    steps: list[dict[str, Any]] = [
        {"tool_call": {"toolCallId": "t", "title": "T", "rawOutput": big}},
        {"permission": {"tool_call": {"toolCallId": "t", "rawInput": big}}},
        {"request": {"method": "_vendor/x", "params": {"pad": big}}},
        {"chunk": big},
        {"respond": {"stopReason": "end_turn", "_meta": {"pad": big}}},
    ]
    result, child = await play(tmp_path, {"prompt": steps})
    assert (result.reason, result.text) == ("end_turn", big)
    assert result.tool_calls[0].raw["rawOutput"] == big
    assert child.methods()[3:] == ["answer", "answer"]


# ---------------------------------------------------------------- the limit itself

LIMIT = 20_000


@pytest.mark.row("LIMIT-1", "LIMIT-3")
async def test_a_frame_of_exactly_the_limit_passes_and_one_byte_more_does_not(tmp_path: Path) -> None:
    """Bytes, without the newline."""
    frames = [padded(update("fits "), LIMIT), padded(update("lost"), LIMIT + 1), update("end")]
    result, _ = await play(tmp_path, {"prompt": [{"raw": {"frame": one}} for one in frames]}, max_frame_bytes=LIMIT)
    assert (result.reason, result.text, result.flags.truncated) == ("end_turn", "fits end", True)
    assert result.diagnostics.dropped_frames == 1


@pytest.mark.row("LIMIT-3")
@pytest.mark.parametrize("size", [LIMIT + 1, 3_000_000])
async def test_an_update_over_the_limit_is_dropped_and_the_run_goes_on(size: int, tmp_path: Path) -> None:
    """Flagged, and counted."""
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T", "rawOutput": "x" * size}
    steps = [{"chunk": "a"}, {"chunk": {"text": "x", "size": size}}, {"update": call}, {"chunk": "b"}]
    result, _ = await play(tmp_path, {"prompt": steps}, max_frame_bytes=LIMIT)
    assert (result.reason, result.text, result.flags.truncated) == ("end_turn", "ab", True)
    assert result.diagnostics.dropped_frames == 2


BIG = "x" * 50_000
FATAL: dict[str, dict[str, Any]] = {
    "an answer": {"respond": {"stopReason": "end_turn", "_meta": {"pad": BIG}}},
    "an error": {"error": {"data": BIG}},
    "a question": {"permission": {"tool_call": {"toolCallId": "t", "rawInput": BIG}}},
    "a request": {"request": {"method": "_vendor/x", "params": {"pad": BIG}}},
    "noise": {"noise": BIG},
    "an update whose method comes last": {
        "send": {"params": {"sessionId": "s-1", "pad": BIG}, "method": "session/update", "jsonrpc": "2.0"}
    },
    "an update that is a request": {
        "send": {"jsonrpc": "2.0", "id": 5, "method": "session/update", "params": {"pad": BIG}}
    },
}


@pytest.mark.row("LIMIT-3")
@pytest.mark.parametrize("name", FATAL)
async def test_a_frame_over_the_limit_that_may_be_waited_for_ends_the_run_at_once(name: str, tmp_path: Path) -> None:
    """No silent hang on an answer that was lost."""
    steps = [{"chunk": "partial"}, FATAL[name], {"no_answer": True}, {"hang": True}]
    result, _ = await play(tmp_path, {"prompt": steps}, max_frame_bytes=LIMIT, idle_timeout_seconds=20.0)
    assert (result.status, result.reason, result.text) == ("error", "limit_exceeded", "partial")
    assert result.failure is not None
    assert f"max_frame_bytes = {LIMIT}" in result.failure.message
    assert not result.failure.retry_safe


@pytest.mark.row("LIMIT-3")
@pytest.mark.parametrize("hook", ["initialize", "new_session"])
async def test_an_answer_of_the_handshake_over_the_limit_ends_the_run(hook: str, tmp_path: Path) -> None:
    """Before anything was sent that may not be sent again."""
    result, _ = await play(tmp_path, {hook: {"add": {"_meta": {"pad": BIG}}}}, max_frame_bytes=LIMIT)
    assert result.reason == "limit_exceeded"
    assert result.failure is not None
    assert result.failure.retry_safe


@pytest.mark.row("LIMIT-3")
@pytest.mark.parametrize("where", ["start", "prompt"])
async def test_a_line_without_end_is_noticed_at_the_limit_and_costs_no_memory(where: str, tmp_path: Path) -> None:
    """Not at its newline, which never comes; nor is the rest of it kept."""
    endless = {"flood": {"forever": True, "line": True}}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result, _ = await play(tmp_path, {where: [endless]}, max_frame_bytes=4 * MEGABYTE, eof_grace_seconds=0.5)
    assert (result.status, result.reason) == ("error", "limit_exceeded")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * (1 if sys.platform == "darwin" else 1024)
    assert grown < 40 * MEGABYTE


@pytest.mark.row("LIMIT-3", "HANG-1")
async def test_an_update_without_end_is_ended_by_the_clock(tmp_path: Path) -> None:
    """It may be lost, so it is skipped; the run cannot last for ever all the same."""
    head = json.dumps(update("x"))[:-5]
    steps = [{"chunk": "a"}, {"raw": head}, {"flood": {"forever": True, "line": True}}]
    limits = {"max_frame_bytes": 100_000, "run_timeout_seconds": 1.2, "cancel_grace_seconds": 0.3}
    result, _ = await play(tmp_path, {"prompt": steps}, **limits, eof_grace_seconds=0.3)
    assert (result.reason, result.text, result.flags.truncated) == ("run_timeout", "a", True)


@pytest.mark.row("LIMIT-3")
async def test_text_over_its_limit_is_cut_at_a_character_and_flagged(tmp_path: Path) -> None:
    """The run goes on to its end."""
    steps = [
        {"chunk": "é" * 700},
        {"chunk": "é" * 700},
        {"chunk": "more"},
        {"tool_call": {"toolCallId": "t", "title": "T"}},
    ]
    result, _ = await play(tmp_path, {"prompt": steps}, max_output_bytes=1001)
    assert (result.reason, result.text, result.flags.truncated) == ("end_turn", "é" * 500, True)


@pytest.mark.row("LIMIT-3")
async def test_any_number_of_small_chunks_is_one_text(tmp_path: Path) -> None:
    """Counted to the last."""
    steps = [{"repeat": {"times": 20_000, "steps": [{"chunk": "${n},"}]}}]
    result, _ = await play(tmp_path, {"prompt": steps})
    assert (result.reason, result.text) == ("end_turn", "".join(f"{number}," for number in range(20_000)))
