"""What is on stdout beside frames: skipped, counted, shown; never answered, and never the end of a run by itself."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Limits, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted

PLAIN = ["initialize", "session/new", "session/prompt"]


async def play(folder: Path, scenario: dict[str, Any], **limits: Any) -> tuple[RunResult, Scripted]:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK | limits))
    with anyio.fail_after(20):
        return await run_subagent(child.spec, "go"), child


def text(word: str) -> dict[str, Any]:
    """The frame of a chunk."""
    content = {"type": "text", "text": word}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": update}}


# ---------------------------------------------------------------- talk

BANNERS = [
    "Loaded cached credentials.",
    "npm warn deprecated inflight@1.0.6: this module leaks memory",
    "\u001b[32m✔\u001b[0m ready \u001b]0;title\u0007",
    "(node:17) ExperimentalWarning: SQLite is an experimental feature",
    "{not json}",
    "[INFO] listening",
    "Content-Length: 52",
]


@pytest.mark.row("NOISE-1")
async def test_banners_and_blank_lines_anywhere_are_skipped_counted_and_shown(tmp_path: Path) -> None:
    """Before the first frame, between frames, after the answer."""
    noise = [step for line in BANNERS for step in ({"noise": line}, {"raw": "\n"}, {"raw": "  \n"})]
    scenario = {
        "start": noise,
        "initialize": noise,
        "new_session": {"before": noise, "after": noise},
        "prompt": [*noise, {"chunk": "a"}, *noise, {"chunk": "b"}, *noise, {"stop": "end_turn"}, *noise],
    }
    result, child = await play(tmp_path, scenario)
    assert (result.reason, result.text) == ("end_turn", "ab")
    seen = result.diagnostics.stdout_noise
    assert seen.count == 8 * len(BANNERS)
    assert seen.first_lines[:2] == tuple(BANNERS[:2])
    assert seen.first_lines[2] == "\\x1b[32m✔\\x1b[0m ready \\x1b]0;title\\x07"
    assert len(seen.first_lines) < seen.count
    assert child.methods() == PLAIN


@pytest.mark.row("NOISE-1", "LIMIT-3")
async def test_any_amount_of_noise_is_counted_in_bounded_memory(tmp_path: Path) -> None:
    """Many lines, and one line that is very long."""
    steps = [{"flood": {"bytes": 400_000}}, {"raw": {"text": "é" * 300_000, "end": "\n"}}, {"chunk": "a"}]
    result, _ = await play(tmp_path, {"initialize": steps[:2], "prompt": steps})
    assert (result.reason, result.text) == ("end_turn", "a")
    assert result.diagnostics.stdout_noise.count == 2 * (400_000 // 80 + 1)
    assert sum(map(len, result.diagnostics.stdout_noise.first_lines)) < 20_000


LOGS = ['{"level":"info","nested":{"b":[1]}}', "{}", '{"a": 1} and more', "{'a': 1}"]


@pytest.mark.row("NOISE-1", "NOISE-5")
@pytest.mark.parametrize("line", LOGS)
async def test_a_first_line_of_a_json_log_is_noise_and_no_torn_frame(line: str, tmp_path: Path) -> None:
    """It closes: only one that does not is a frame in several lines."""
    result, _ = await play(tmp_path, {"start": [{"noise": line}], "prompt": [{"chunk": "a"}]})
    assert (result.reason, result.text) == ("end_turn", "a")
    assert result.diagnostics.stdout_noise.first_lines == (line,)


@pytest.mark.row("NOISE-1")
async def test_a_lone_brace_after_a_frame_is_noise(tmp_path: Path) -> None:
    """Only the first line of all tells a pretty-printing agent."""
    noise = [{"noise": "{"}, {"noise": '  "key": 1'}, {"noise": "}"}]
    result, _ = await play(tmp_path, {"new_session": noise, "prompt": [{"chunk": "a"}]})
    assert (result.reason, result.text, result.diagnostics.stdout_noise.count) == ("end_turn", "a", 3)


PRETTY = ["{", '{"jsonrpc": "2.0",', '  {"jsonrpc": "2.0", "id": 1, "result": {', "\ufeff{"]


@pytest.mark.row("NOISE-5")
@pytest.mark.parametrize("line", PRETTY)
async def test_a_first_line_that_opens_an_object_ends_the_run_at_once(line: str, tmp_path: Path) -> None:
    """It will never become one: better said than waited for."""
    result, _ = await play(tmp_path, {"start": [{"noise": line}, {"hang": True}]}, startup_timeout_seconds=30.0)
    assert (result.status, result.reason) == ("error", "protocol_error")
    assert result.failure is not None
    assert "one line" in result.failure.message


@pytest.mark.row("NOISE-1", "HANG-4")
async def test_talk_alone_is_a_startup_timeout_that_shows_it(tmp_path: Path) -> None:
    """An agent that started its interactive face."""
    noise = [{"noise": line} for line in ("Welcome!", "1) login", "2) quit")]
    scenario = {"start": [*noise, {"raw": "> "}], "initialize": [{"hang": True}]}
    result, _ = await play(tmp_path, scenario, startup_timeout_seconds=0.7)
    assert result.reason == "startup_timeout"
    assert result.failure is not None
    assert "did not speak ACP; its stdout says: Welcome! | 1) login | 2) quit" in result.failure.message


@pytest.mark.row("NOISE-1", "HANG-1")
async def test_a_talkative_agent_that_falls_silent_is_not_said_to_speak_no_acp(tmp_path: Path) -> None:
    """It does; the noise is shown for what it is."""
    scenario = {"start": [{"noise": "a banner"}], "prompt": [{"chunk": "a"}, {"hang": True}]}
    result, _ = await play(tmp_path, scenario, idle_timeout_seconds=0.7)
    assert (result.reason, result.text) == ("idle_timeout", "a")
    assert result.failure is not None
    assert "did not speak ACP" not in result.failure.message
    assert "a banner" in result.failure.message


# ---------------------------------------------------------------- glued lines

GLUED: list[Any] = [
    {"raw": {"prefix": "Loading...", "frame": text("1")}},
    {"raw": {"prefix": "{x} [1] {", "frame": text("2")}},
    {"raw": {"prefix": '{"level":"info"}', "frame": text("3")}},
    {"raw": {"prefix": "\r 10%\r 50%\r100% ", "frame": text("4")}},
    {"raw": {"prefix": "\u001b[?25h", "frame": text("5")}},
    {"raw": {"frame": text("6"), "end": " done.\n"}},
    {"raw": {"frame": text("7"), "end": ""}},
    {"raw": {"frame": text("8")}},
    {"raw": {"frame": text("9"), "end": "-- "}},
    {"raw": {"frame": text("A"), "end": "}\n"}},
    {"raw": {"frame": text("lost"), "cut": 60}},
    {"raw": {"frame": text("B")}},
]


@pytest.mark.row("NOISE-3")
async def test_frames_that_are_glued_to_something_are_found(tmp_path: Path) -> None:
    """To words, braces, other JSON, progress bars, escapes, torn frames and each other: all, in order."""
    result, _ = await play(tmp_path, {"prompt": GLUED})
    assert (result.reason, result.text) == ("end_turn", "123456789AB")


@pytest.mark.row("NOISE-3")
async def test_answers_are_found_in_glued_lines_too(tmp_path: Path) -> None:
    """The first one after a text without newline, the last one behind a chunk."""
    stop = {"jsonrpc": "2.0", "id": "${id}", "result": {"stopReason": "end_turn"}}
    scenario = {
        "start": [{"raw": "Loading..."}],
        "new_session": [{"raw": "still loading "}],
        "prompt": [
            {"raw": {"frame": text("a"), "end": ""}},
            {"raw": {"frame": stop, "end": "bye\n"}},
            {"no_answer": True},
        ],
    }
    result, child = await play(tmp_path, scenario)
    assert (result.reason, result.text) == ("end_turn", "a")
    assert child.methods() == PLAIN


# ---------------------------------------------------------------- bad lines

BAD = [
    "not json",
    "5",
    "null",
    "[]",
    '"str"',
    "{}",
    "true",
    "-",
    "NaN",
    "Infinity",
    "1e999",
    "9" * 5000,
    "[" * 5000,
    '{"a":' * 3000,
    json.dumps([text("no answer")]),
    '{"jsonrpc":"2.0"}',
    '{"id":3}',
    '{"result":{"stopReason":"refusal"}}',
    '{"error":{}}',
    '{"jsonrpc":"2.0","method":7}',
    '{"jsonrpc":"2.0","method":null,"id":1}',
    '{"jsonrpc":"2.0","method":"session/update","params":[1]}',
    '{"jsonrpc":"2.0","method":"session/update","params":"x"}',
    '{"jsonrpc":"2.0","method":"session/request_permission","id":{},"params":{}}',
    '{"jsonrpc":"2.0","id":"x","params":{}}',
]


@pytest.mark.row("NOISE-5")
async def test_the_reader_survives_every_bad_line(tmp_path: Path) -> None:
    """A good frame after each is read; nothing is answered."""
    steps = [step for bad in BAD for step in ({"noise": bad}, {"chunk": "."})]
    scenario = {"start": [{"noise": "hi"}, *[{"noise": bad} for bad in BAD]], "prompt": steps}
    result, child = await play(tmp_path, scenario)
    assert (result.reason, result.text) == ("end_turn", "." * len(BAD))
    assert child.methods() == PLAIN


# ---------------------------------------------------------------- no answer to garbage

GARBAGE: list[Any] = [
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}},
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid Request", "data": {"x": 1}}},
    {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}},
    {"jsonrpc": "2.0", "id": None, "result": {}},
    {"jsonrpc": "2.0", "id": "none of ours", "error": {"code": 1, "message": "x"}},
    {"jsonrpc": "2.0", "id": 4711, "result": None},
    {"jsonrpc": "2.0", "id": -1, "error": "no object"},
]


@pytest.mark.row("NOISE-6", "SCHEMA-8")
async def test_a_response_is_never_answered(tmp_path: Path) -> None:
    """Whatever it answers: two sides that did would never stop."""
    steps = [{"raw": {"frame": frame}} for frame in GARBAGE] * 20
    scenario = {"initialize": steps, "new_session": steps, "prompt": [*steps, {"chunk": "a"}]}
    result, child = await play(tmp_path, scenario)
    assert (result.reason, result.text) == ("end_turn", "a")
    assert child.methods() == PLAIN
    assert result.diagnostics.dropped_frames + result.diagnostics.stdout_noise.count == 3 * len(steps)
