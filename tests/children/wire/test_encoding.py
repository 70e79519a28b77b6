"""Bytes, characters and line ends: what may come in a JSON string does not end a line, a frame or a run."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Limits, Runner, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted


async def play(folder: Path, scenario: dict[str, Any], prompt: Any = "go", **spec: Any) -> tuple[RunResult, Scripted]:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK), **spec)
    with anyio.fail_after(20):
        return await run_subagent(child.spec, prompt), child


def lines(child: Scripted) -> list[bytes]:
    """What the child received, split on nothing but LF."""
    return child.record.read_bytes().removesuffix(b"\n").split(b"\n")


def chunk_bytes(inside: str) -> dict[str, Any]:
    """A chunk whose text is made of these bytes (hexadecimal), whatever they are."""
    text = b'","method":"session/update","params":{"sessionId":"s-1","update":'
    head = b'{"jsonrpc":"2.0' + text + b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'
    return {"raw": {"hex": head.hex() + inside + b'"}}}}\n'.hex()}}


SEPARATORS = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei\rj\nk\tl\x00m\x7fn\u00a0o\ufeffp"


@pytest.mark.row("ENC-1")
async def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    """Not what str.splitlines or bytes.splitlines split on: in either direction, all of it is text."""
    steps = [{"chunk": SEPARATORS}, {"chunk": "|"}, {"chunk": "${prompt}"}]
    result, child = await play(tmp_path, {"prompt": steps}, SEPARATORS)
    assert result.reason == "end_turn"
    assert result.text == f"{SEPARATORS}|{SEPARATORS}"
    assert result.diagnostics.stdout_noise.count == 0
    assert [json.loads(line)["method"] for line in lines(child)] == ["initialize", "session/new", "session/prompt"]


@pytest.mark.row("ENC-1")
async def test_a_control_character_that_is_not_escaped_is_text_all_the_same(tmp_path: Path) -> None:
    """Illegal in JSON, and written by agents that build it by hand."""
    raw = [chunk_bytes(byte) for byte in ("0b", "0c", "09", "0d", "1b", "00", "e280a8", "c285")]
    result, _ = await play(tmp_path, {"prompt": raw})
    assert (result.reason, result.text) == ("end_turn", "\x0b\x0c\t\r\x1b\x00\u2028\u0085")
    assert result.diagnostics.stdout_noise.count == 0


MANY_BYTES = "é→漢🎉👩\u200d💻 ñ\u0301"


@pytest.mark.row("ENC-2")
async def test_a_character_cut_by_a_read_is_whole_in_the_text(tmp_path: Path) -> None:
    """One write for each byte, of every frame."""
    scenario = {"wire": {"bytewise": True}, "prompt": [{"chunk": MANY_BYTES}, {"chunk": "${prompt}"}]}
    result, _ = await play(tmp_path, scenario, MANY_BYTES)
    assert (result.reason, result.text) == ("end_turn", MANY_BYTES * 2)


@pytest.mark.row("ENC-2")
async def test_a_pause_inside_a_character_changes_nothing(tmp_path: Path) -> None:
    """Each half of it is read by itself."""
    whole = chunk_bytes(MANY_BYTES.encode().hex())["raw"]["hex"]
    at = whole.index("f09f8e89") + 4
    gate = tmp_path / "gate"
    steps = [{"raw": {"hex": whole[:at]}}, {"wait_for": str(gate)}, {"raw": {"hex": whole[at:]}}]
    child = Scripted(tmp_path, {"prompt": [{"chunk": "first "}, *steps]}, limits=Limits(**QUICK))
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            async for event in run.events():
                if event.type == "text":
                    gate.touch()
            result = await run.result()
    assert result.text == "first " + MANY_BYTES


@pytest.mark.row("ENC-2")
async def test_stderr_keeps_a_character_that_was_cut(tmp_path: Path) -> None:
    """Three bytes a character, in a length that no read can end between two of."""
    result, _ = await play(tmp_path, {"prompt": [{"stderr": "x" + "漢" * 50_000}]})
    assert "\ufffd" not in result.diagnostics.stderr_tail
    assert result.diagnostics.stderr_tail.endswith("漢\n")


INVALID = {
    "a stray byte": ("ff", "\ufffd"),
    "a cut character": ("e282", "\ufffd"),
    "an overlong slash": ("c0af", "\ufffd\ufffd"),
    "a surrogate": ("eda080", "\ufffd\ufffd\ufffd"),
    "Latin-1": ("636166e9", "caf\ufffd"),
}


@pytest.mark.row("ENC-3")
async def test_bytes_that_are_no_utf_8_cost_a_character_and_not_the_frame(tmp_path: Path) -> None:
    """Inside a string of a good frame."""
    steps = [chunk_bytes(inside) for inside, _ in INVALID.values()]
    result, _ = await play(tmp_path, {"prompt": [*steps, {"chunk": "!"}]})
    assert (result.reason, result.text) == ("end_turn", "".join(shown for _, shown in INVALID.values()) + "!")


@pytest.mark.row("ENC-3", "NOISE-5")
async def test_a_line_that_is_no_utf_8_is_noise_and_the_next_frame_is_read(tmp_path: Path) -> None:
    """At any time: before the first frame, and in UTF-16."""
    odd = ["fffe0a", "80818283 0a", "fffe7b007d000a", "000102030a", "efbbbf0a"]
    steps = [{"raw": {"hex": one}} for one in odd]
    result, _ = await play(tmp_path, {"start": steps, "prompt": [*steps, {"chunk": "a"}, *steps, {"chunk": "b"}]})
    assert (result.reason, result.text) == ("end_turn", "ab")
    assert result.diagnostics.stdout_noise.count >= 4 * 3
    result.model_dump_json()


@pytest.mark.row("ENC-3")
async def test_a_byte_order_mark_does_not_hide_a_frame(tmp_path: Path) -> None:
    """As some consoles write it before the first one."""
    result, _ = await play(tmp_path, {"start": [{"raw": {"hex": "efbbbf"}}], "prompt": [{"chunk": "a"}]})
    assert (result.reason, result.text) == ("end_turn", "a")


LONE = "a\ud800b\udfffc\udc80"


@pytest.mark.row("ENC-4")
async def test_a_lone_surrogate_becomes_a_replacement_character_everywhere(tmp_path: Path) -> None:
    """In text, halves of two chunks, titles, the plan, usage, the agent's name and stderr."""
    scenario: dict[str, Any] = {
        "agent_info": {"name": LONE, "version": "1"},
        "prompt": [
            {"chunk": LONE},
            {"chunk": "\ud83d"},
            {"chunk": "\ude00"},
            {"tool_call": {"toolCallId": LONE, "title": LONE, "rawInput": {LONE: [LONE]}}},
            {"plan": [LONE]},
            {"usage": {"used": 1, "size": 2, "cost": {"amount": 1.0, "currency": LONE}}},
            {"thought": LONE},
            {"update": {"sessionUpdate": LONE}},
            {"stderr": LONE},
            {"noise": LONE},
        ],
    }
    result, _ = await play(tmp_path, scenario)
    assert result.tool_calls[0].title == "a\ufffdb\ufffdc\ufffd"
    json.loads(result.model_dump_json())
    repr(result).encode()


@pytest.mark.row("ENC-4")
async def test_the_answer_after_a_lone_surrogate_is_whole(tmp_path: Path) -> None:
    """A pair is one character, halves are two replacements."""
    steps = [{"chunk": LONE}, {"chunk": "\ud83d\ude00"}, {"chunk": "\ud83d"}, {"chunk": "\ude00"}]
    result, _ = await play(tmp_path, {"prompt": steps})
    assert (result.reason, result.text) == ("end_turn", "a\ufffdb\ufffdc\ufffd😀\ufffd\ufffd")


@pytest.mark.row("ENC-4")
async def test_a_lone_surrogate_in_an_error_is_readable(tmp_path: Path) -> None:
    """Message and data."""
    error = {"code": -1, "message": LONE, "data": {LONE: [LONE]}}
    result, _ = await play(tmp_path, {"prompt": [{"error": error}]})
    assert result.failure is not None
    assert result.failure.rpc_message == "a\ufffdb\ufffdc\ufffd"
    json.loads(result.model_dump_json())


PROMPTS: list[Any] = [
    LONE,
    [{"type": "text", "text": LONE, "_meta": {LONE: LONE}}],
    [{"type": "resource_link", "uri": "file:///x\udcff", "name": LONE}],
]


@pytest.mark.row("ENC-4")
@pytest.mark.parametrize("prompt", PROMPTS, ids=["text", "block", "link"])
async def test_a_prompt_with_a_lone_surrogate_arrives_as_utf_8(prompt: Any, tmp_path: Path) -> None:
    """As file names and argv bring them."""
    result, child = await play(tmp_path, {"prompt": [{"chunk": "ok"}]}, prompt)
    assert (result.reason, result.text) == ("end_turn", "ok")
    assert "a\ufffdb\ufffdc\ufffd" in lines(child)[2].decode()


@pytest.mark.row("ENC-6")
async def test_crlf_ends_a_line_too_and_ours_end_with_lf(tmp_path: Path) -> None:
    """For every frame, blank line and noise of the agent."""
    steps = [{"raw": "\r\n"}, {"raw": "npm notice\r\n"}, {"chunk": "text\r\n"}, {"raw": "\r\r\n"}]
    result, child = await play(tmp_path, {"wire": {"line_end": "\r\n"}, "prompt": steps})
    assert (result.reason, result.text) == ("end_turn", "text\r\n")
    assert result.diagnostics.stdout_noise.first_lines == ("npm notice",)
    received = child.record.read_bytes()
    assert received.endswith(b"}\n")
    assert b"\r" not in received


LAST_FRAME = {"jsonrpc": "2.0", "id": "${id}", "result": {"stopReason": "end_turn"}}
LAST_CHUNK = {
    "jsonrpc": "2.0",
    "method": "session/update",
    "params": {
        "sessionId": "s-1",
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "tail"}},
    },
}


@pytest.mark.row("ENC-7")
@pytest.mark.parametrize("end", [{"exit": 0}, {"close": "stdout"}], ids=["exit", "close"])
async def test_a_last_answer_without_newline_counts(end: dict[str, Any], tmp_path: Path) -> None:
    """It is all there."""
    steps = [{"chunk": "text"}, {"raw": {"frame": LAST_FRAME, "end": ""}}, {"no_answer": True}, end]
    result, _ = await play(tmp_path, {"prompt": steps})
    assert (result.reason, result.text) == ("end_turn", "text")
    assert result.diagnostics.stdout_noise.count == 0


@pytest.mark.row("ENC-7")
async def test_a_last_chunk_without_newline_is_text(tmp_path: Path) -> None:
    """Though the run fails for want of an answer."""
    steps = [{"chunk": "text "}, {"raw": {"frame": LAST_CHUNK, "end": ""}}, {"exit": 0}]
    result, _ = await play(tmp_path, {"prompt": steps})
    assert (result.reason, result.text) == ("agent_exited", "text tail")


@pytest.mark.row("ENC-7", "DEATH-1")
@pytest.mark.parametrize("cut", [1, 9, 30, 57])
async def test_a_torn_last_line_is_noise(cut: int, tmp_path: Path) -> None:
    """No answer can be made of it, and it does not look like another fault."""
    steps = [{"chunk": "text"}, {"raw": {"frame": LAST_FRAME, "cut": cut}}, {"exit": 0}]
    result, _ = await play(tmp_path, {"prompt": steps})
    assert (result.reason, result.text) == ("agent_exited", "text")
    assert result.diagnostics.stdout_noise.count == 1


@pytest.mark.row("ENC-7")
async def test_a_torn_first_line_is_an_exit_and_no_pretty_printing(tmp_path: Path) -> None:
    """The process died while it wrote."""
    result, _ = await play(tmp_path, {"start": [{"raw": '{"jsonrpc":"2.0",'}, {"exit": 3}]})
    assert result.reason == "agent_exited"
    assert result.failure is not None
    assert "exit code 3" in result.failure.message
