import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agent.scripted.child import Child, text_of, wait_for

Play = Callable[..., Child]


def updates(frames: list[Any]) -> list[Any]:
    """The updates among these frames."""
    return [one["params"]["update"] for one in frames if one.get("method") == "session/update"]


def result(frames: list[Any]) -> Any:
    """The result of the last of these frames."""
    """The updates among these frames."""
    return frames[-1]["result"]


def test_a_turn_without_an_answer_of_its_own_ends_with_end_turn(play: Play) -> None:
    """Text goes out in order; the answer that no step gives is given at the end."""
    child = play(prompt=[{"chunk": "Hello "}, {"chunk": "${prompt}"}])
    child.open()
    frames = child.turn("World")
    assert text_of(frames) == "Hello World"
    assert result(frames) == {"stopReason": "end_turn"}
    assert child.end() == 0


def test_each_kind_of_update_has_its_own_word(play: Play) -> None:
    """Each word writes the update of its kind with its fields as they are."""
    call = {"toolCallId": "t", "title": "T"}
    child = play(
        prompt=[
            {"thought": "hm"},
            {"user": "you said"},
            {"chunk": {"text": "ab", "size": 5, "message_id": "m"}},
            {"chunk": {"content": {"type": "hologram"}}},
            {"tool_call": call},
            {"tool_update": {"toolCallId": "t", "status": "completed"}},
            {"plan": ["one", {"content": "two", "priority": "high", "status": "completed"}]},
            {"usage": {"used": 1, "size": 2}},
            {"update": {"sessionUpdate": "totally_new"}},
        ]
    )
    child.open()
    text = {"type": "text", "text": "ababa"}
    assert updates(child.turn()) == [
        {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}},
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "you said"}},
        {"sessionUpdate": "agent_message_chunk", "content": text, "messageId": "m"},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram"}},
        {"sessionUpdate": "tool_call", **call},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"},
        {
            "sessionUpdate": "plan",
            "entries": [
                {"content": "one", "priority": "medium", "status": "pending"},
                {"content": "two", "priority": "high", "status": "completed"},
            ],
        },
        {"sessionUpdate": "usage_update", "used": 1, "size": 2},
        {"sessionUpdate": "totally_new"},
    ]


def test_an_update_can_name_another_session(play: Play) -> None:
    """A chunk goes to the session that it names."""
    child = play(prompt=[{"chunk": {"text": "x", "session": "other"}}])
    child.open()
    assert child.turn()[0]["params"]["sessionId"] == "other"


def test_a_structured_completion_is_a_notification_of_ours(play: Play) -> None:
    """`complete` and `notify` write notifications."""
    child = play(prompt=[{"complete": {"total": 42}}, {"notify": {"method": "_x/y"}}])
    child.open()
    complete, notification, _ = child.turn()
    assert complete["method"] == "_acp_subagents/complete"
    assert complete["params"] == {"sessionId": "s-1", "result": {"total": 42}}
    assert notification == {"jsonrpc": "2.0", "method": "_x/y", "params": {}}


def test_an_answer_can_be_any_result_or_error(play: Play) -> None:
    """Every word that answers writes what it was given."""
    child = play(
        prompts=[
            [{"respond": None}],
            [{"stop": 5}],
            [{"error": {"code": 7, "message": "m", "data": None}}],
            [{"error": {}}],
            [{"send": {"jsonrpc": "2.0", "id": "${id}", "result": "own"}}],
            ["no_answer", {"send": [1]}],
        ]
    )
    child.open()
    assert child.turn()[-1]["result"] is None
    assert child.turn()[-1]["result"] == {"stopReason": 5}
    assert child.turn()[-1]["error"] == {"code": 7, "message": "m", "data": None}
    assert child.turn()[-1]["error"] == {"code": -32603, "message": "Internal error"}
    assert child.turn()[-1]["result"] == "own"
    child.prompt()
    assert child.frame() == [1]
    child.close_stdin()
    assert child.rest() == []  # no answer, not even at the end


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("string", "7"),
        ("float", 7.0),
        ("bool", True),
        ("null", None),
        ("list", [7]),
        ("other", 999_999),
    ],
)
def test_an_answer_can_carry_an_id_of_the_wrong_type(play: Play, kind: str, expected: Any) -> None:
    """`id_as` changes the type of the id."""
    child = play(prompt=[{"answer": {"result": {}, "id_as": kind}}])
    child.open()
    child.send(
        {
            "jsonrpc": "2.0",
            "id": 7,
            "method": "session/prompt",
            "params": {"sessionId": "s-1", "prompt": []},
        }
    )
    found = child.frame()["id"]
    assert found == expected
    assert type(found) is type(expected)


def test_an_answer_can_come_twice_and_updates_after_it(play: Play) -> None:
    """Steps go on after the answer."""
    child = play(prompt=[{"answer": {"error": {"code": 1}, "times": 2}}, {"chunk": "late"}])
    child.open()
    child.prompt()
    first, second, late = child.frame(), child.frame(), child.frame()
    assert first == second
    assert text_of([late]) == "late"


def test_prompts_are_played_in_turn_and_the_last_one_stays(play: Play) -> None:
    """Each prompt has its own steps."""
    child = play(prompts=[[{"chunk": "one"}], [{"chunk": "two"}]])
    child.open()
    assert [text_of(child.turn()) for _ in range(3)] == ["one", "two", "two"]


def test_repeat_counts_and_an_inner_one_leaves_the_outer_count_alone(play: Play) -> None:
    """${n} is the count of the innermost repeat."""
    inner = {"repeat": {"times": 2, "steps": [{"chunk": "${n}"}]}}
    child = play(prompt=[{"repeat": {"times": 2, "steps": [{"chunk": "${n}:"}, inner]}}])
    child.open()
    assert text_of(child.turn()) == "0:011:01"


def test_when_branches_on_a_value(play: Play) -> None:
    """Values are compared once placeholders are filled in; a branch may be missing."""
    when = {"value": "${prompt}", "is": "a", "then": [{"chunk": "yes"}], "else": [{"chunk": "no"}]}
    child = play(prompt=[{"when": when}, {"when": {"value": 1, "is": 2}}])
    child.open()
    assert text_of(child.turn("a")) == "yes"
    assert text_of(child.turn("b")) == "no"


def test_a_placeholder_alone_keeps_its_type_and_a_dollar_escapes_it(play: Play) -> None:
    """Placeholders inside texts are texts, alone they are values."""
    frame = {"id": "${id}", "is": "id ${id}", "literal": "$${id}", "none": "${params.a.b}"}
    env = {"MY_WORD": "w"}
    child = play(prompt=[{"send": {**frame, "env": "${MY_WORD}"}}], env=env)
    child.open()
    prompt = child.prompt()
    assert child.frame() == {
        "id": prompt,
        "is": f"id {prompt}",
        "literal": "${id}",
        "none": None,
        "env": "w",
    }


def test_together_leaves_in_one_write(play: Play) -> None:
    """Two frames arrive in one read."""
    child = play(prompt=[{"together": [{"chunk": "a"}, {"stop": "end_turn"}]}])
    child.open()
    child.prompt()
    assert child.read_some().count(b"\n") == 2


def test_a_step_waits_for_a_marker_and_touches_one(play: Play, tmp_path: Path) -> None:
    """Files order a race between the agent and a test."""
    child = play(prompt=[{"touch": "here"}, {"wait_for": "there"}, {"chunk": "seen"}])
    child.open()
    prompt = child.prompt()
    wait_for(tmp_path / "here")
    (tmp_path / "there").touch()
    assert text_of(child.until(prompt)) == "seen"


def test_what_was_received_is_recorded_verbatim(play: Play, tmp_path: Path) -> None:
    """The record has every line, also those that are no frames."""
    child = play(record="${RECORD}", env={"RECORD": str(tmp_path / "received.jsonl")})
    child.send_bytes(b'{"a": 1}\r\n\n')
    child.send_bytes(b"torn")
    assert child.end() == 0
    assert (tmp_path / "received.jsonl").read_bytes() == b'{"a": 1}\r\n\ntorn\n'


def test_a_step_can_write_a_file(play: Play, tmp_path: Path) -> None:
    """Placeholders work in what is written."""
    child = play(prompt=[{"write": {"path": "out.json", "text": '{"id": ${id}}'}}])
    child.open()
    prompt = child.prompt()
    child.until(prompt)
    assert json.loads((tmp_path / "out.json").read_text()) == {"id": prompt}
