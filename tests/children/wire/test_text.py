"""The answer: verbatim, of the agent's own messages only, by message, with what is no text beside it."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Limits, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted


async def play(folder: Path, steps: list[dict[str, Any]]) -> RunResult:
    """One turn of these steps."""
    child = Scripted(folder, {"prompt": steps}, limits=Limits(**QUICK))
    with anyio.fail_after(20):
        return await run_subagent(child.spec, "go")


def texts(*words: str) -> list[dict[str, Any]]:
    """A chunk for each."""
    return [{"chunk": word} for word in words]


def said(message_id: str | None, text: str) -> dict[str, Any]:
    """A chunk of a message."""
    return {"chunk": {"text": text, "message_id": message_id}}


CALL: dict[str, Any] = {"tool_call": {"toolCallId": "t", "title": "Look", "kind": "read"}}
DONE: dict[str, Any] = {"tool_update": {"toolCallId": "t", "status": "completed"}}

VERBATIM = [
    ("300", "0"),
    ("|-----|", "-----|"),
    ("ha", "ha", "ha"),
    ("a", " ", "b", "  ", "\n"),
    ("\n", "\t x \n\n"),
    ("the answer", "the answer is", " 42"),
    ("é", "e\u0301"),
    ("<b>", "&amp;", "\\n", "${not}".replace("$", "$$")),
]


@pytest.mark.row("TEXT-2")
async def test_chunks_are_joined_as_they_came(tmp_path: Path) -> None:
    """No overlap is taken for a repetition, nothing is stripped, nothing put between."""
    chunks = [chunk for row in VERBATIM for chunk in row]
    result = await play(tmp_path, texts(*chunks))
    assert result.text == "".join(chunks).replace("$$", "$")
    assert len(result.messages) == 1


MESSAGES: dict[str, tuple[list[dict[str, Any]], list[tuple[str | None, str]]]] = {
    "by id, with a call between": (
        [said("m1", "Looking"), said("m1", "..."), CALL, DONE, said("m2", "Answer")],
        [("m1", "Looking..."), ("m2", "Answer")],
    ),
    "by id alone": ([said("m1", "a"), said("m2", "b"), said("m2", "c")], [("m1", "a"), ("m2", "bc")]),
    "without ids, by the call": (
        [*texts("Look", "ing..."), CALL, DONE, *texts("Ans", "wer")],
        [(None, "Looking..."), (None, "Answer")],
    ),
    "without ids, by a call that is only updated": ([*texts("a"), DONE, *texts("b")], [(None, "a"), (None, "b")]),
    "an id goes on after a call": ([said("m1", "a"), CALL, said("m1", "b")], [("m1", "ab")]),
    "a chunk without id goes on with its message": ([said("m1", "a"), said(None, "b")], [("m1", "ab")]),
    "interleaved": ([said("m1", "a"), said("m2", "b"), said("m1", "c")], [("m1", "ac"), ("m2", "b")]),
    "a plan and thoughts are no boundary": (
        [*texts("a"), {"thought": "hm"}, {"plan": ["x"]}, {"usage": {"used": 1, "size": 2}}, *texts("b")],
        [(None, "ab")],
    ),
    "a call before any text": ([CALL, DONE, *texts("a", "b")], [(None, "ab")]),
    "ids that are none": (
        [{"chunk": {"text": "a", "message_id": 7}}, {"chunk": {"text": "b", "message_id": ["m"]}}],
        [(None, "ab")],
    ),
}


@pytest.mark.row("TEXT-3")
@pytest.mark.parametrize("name", MESSAGES)
async def test_messages_are_told_apart_and_the_last_one_is_at_hand(name: str, tmp_path: Path) -> None:
    """The whole text stays in wire order."""
    steps, expected = MESSAGES[name]
    result = await play(tmp_path, steps)
    assert [(message.id, message.text) for message in result.messages] == expected
    assert result.last_message == expected[-1][1]
    chunks = [step["chunk"] for step in steps if "chunk" in step]
    assert result.text == "".join(chunk if isinstance(chunk, str) else chunk["text"] for chunk in chunks)


@pytest.mark.row("TEXT-5")
async def test_only_the_agents_messages_are_answer_text(tmp_path: Path) -> None:
    """Not the echo of the prompt, thoughts, titles of tools, nor what they put out."""
    no_answer: dict[str, Any] = {"type": "content", "content": {"type": "text", "text": "tool output"}}
    steps: list[dict[str, Any]] = [
        {"user": "${prompt}"},
        {"thought": "let me see"},
        {"chunk": "the "},
        {"thought": {"text": "m1's thought", "message_id": "m1"}},
        {"user": {"text": "echo", "message_id": "m1"}},
        {"tool_call": {"toolCallId": "t", "title": "a title", "content": [no_answer], "rawOutput": "raw"}},
        {"plan": ["a step"]},
        {"update": {"sessionUpdate": "system_message_chunk", "content": {"type": "text", "text": "system"}}},
        {"chunk": "answer"},
    ]
    result = await play(tmp_path, steps)
    assert result.text == "the answer"


@pytest.mark.row("TEXT-5", "STOP-2")
@pytest.mark.parametrize("word", ["thought", "user"])
async def test_thoughts_or_an_echo_alone_are_no_answer(word: str, tmp_path: Path) -> None:
    """The run completes and says that it is empty."""
    result = await play(tmp_path, [{word: "hm"}, {word: "so"}])
    assert (result.reason, result.text, result.messages, result.flags.empty) == ("end_turn", "", (), True)


BLOCKS: list[dict[str, Any]] = [
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a", "name": "a"},
    {"type": "resource", "resource": {"uri": "file:///b", "text": "b"}},
    {"type": "resource", "resource": {"uri": "file:///c", "blob": "aGk="}},
    {"type": "hologram", "beams": [1, 2, {"x": None}]},
    {"type": "image"},
    {"type": "resource", "resource": None},
    {"type": "resource_link", "uri": 7},
]


@pytest.mark.row("TEXT-7")
async def test_blocks_that_are_no_text_are_kept_as_they_came(tmp_path: Path) -> None:
    """Known kinds, unknown kinds, and known ones that lack what they need."""
    blocks = [{"chunk": {"content": block}} for block in BLOCKS]
    result = await play(tmp_path, [{"chunk": "a"}, *blocks, {"chunk": "b"}])
    assert (result.reason, result.text) == ("end_turn", "ab")
    (message,) = result.messages
    assert [block.to_wire() for block in message.blocks] == BLOCKS
    assert json.loads(result.model_dump_json())["messages"][0]["blocks"] == BLOCKS


@pytest.mark.row("TEXT-7", "STOP-2")
@pytest.mark.parametrize("block", [BLOCKS[0], BLOCKS[5]], ids=["image", "hologram"])
async def test_a_block_alone_is_an_answer_without_text(block: dict[str, Any], tmp_path: Path) -> None:
    """So it is not empty."""
    result = await play(tmp_path, [{"chunk": {"content": block}}])
    assert (result.reason, result.text, result.flags.empty) == ("end_turn", "", False)
    assert [block.to_wire() for block in result.messages[0].blocks] == [block]


ODD_CONTENT: list[Any] = [
    None,
    "text",
    7,
    [],
    [{"type": "text", "text": "in a list"}],
    {},
    {"text": "no type"},
    {"type": None, "text": "x"},
    {"type": 7},
    {"type": "text"},
    {"type": "text", "text": None},
    {"type": "text", "text": 7},
    {"type": "text", "text": ["x"]},
]


@pytest.mark.row("TEXT-7", "SCHEMA-1")
async def test_content_that_is_none_is_counted_and_costs_nothing_else(tmp_path: Path) -> None:
    """The chunks around it are the answer."""
    odd = [{"chunk": {"content": content}} for content in ODD_CONTENT]
    odd += [{"update": {"sessionUpdate": "agent_message_chunk"}}]
    result = await play(tmp_path, [{"chunk": "a"}, *odd, {"chunk": "b"}])
    assert (result.reason, result.text, len(result.messages)) == ("end_turn", "ab", 1)
    assert result.diagnostics.dropped_frames == len(odd)
