"""Files of any recorder become steps: whose they are, which wait for which, and how the agent went."""

import json
from pathlib import Path
from typing import Any

import pytest

from acp_agent.replay.departure import Departure, departure_of
from acp_agent.replay.recording import load
from acp_agent.replay.steps import Err, Say
from acp_client.record.format.lines import Note, TranscriptError
from tests.agent.replay.playing import Played, answer, lines_of, opening, prompt, recording, tell, turn

HEADER = {"acp_transcript": 1, "run_id": "r", "cwd": "/w"}


def test_plain_frames_are_a_recording(tmp_path: Path) -> None:
    """No direction, no time: who sent what follows from the methods."""
    file = tmp_path / "plain.ndjson"
    frames = [row[1] for row in [*opening(), *turn()]]
    file.write_text("".join(f"{json.dumps(frame)}\n" for frame in frames))
    read = load(str(file))
    assert [hear.method for hear in read.hears] == ["initialize", "session/new", "session/prompt"]
    assert len(read.lanes) == 2
    assert not read.departure.exits_early


def test_a_half_written_line_and_odd_ones_are_read_past(tmp_path: Path) -> None:
    """The record of a parent that was killed ends anywhere."""
    file = tmp_path / "torn.jsonl"
    file.write_bytes(b"".join(lines_of([HEADER, *opening(), {"dir": "later"}])) + b'{"t": 1.0, "dir": "a>c", "ms')
    assert len(load(str(file)).hears) == 2


@pytest.mark.parametrize("content", [None, b"", b"no json\n", b'{"x": 1}\n'])
def test_what_is_no_recording_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """With the file, the rule and what to give in its place."""
    file = tmp_path / "none.jsonl"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(TranscriptError, match=r"none.jsonl: .*; give a "):
        load(str(file))


def test_bytes_that_are_no_text_are_what_they_were(tmp_path: Path) -> None:
    """Recorders write them in hexadecimal digits; what is none of those is read past."""
    file = tmp_path / "hex.jsonl"
    odd = [{"dir": "a>c", "hex": value} for value in ("fffe7b", "xx", 5)]
    file.write_bytes(b"".join(lines_of([*opening(), *odd])))
    (said,) = [step for lane in load(str(file)).lanes for step in lane.steps if isinstance(step, Say) and step.raw]
    assert (said.raw or "").encode("utf-8", "surrogateescape") == b"\xff\xfe{"


def test_pieces_of_stderr_are_whole_lines_in_foreign_files_only() -> None:
    """Ours have them as they came."""
    pieces = [("err", "half"), ("err", "whole\n")]
    for rows, expected in ((pieces, ["half\n", "whole\n"]), ([HEADER, *pieces], ["half", "whole\n"])):
        steps = recording(rows).lanes[0].steps
        assert [step.text for step in steps if isinstance(step, Err)] == expected


def test_a_run_that_died_at_once_is_a_recording() -> None:
    """A header, and what it wrote to stderr."""
    end = {"dir": "note", "note": "end", "result": {"reason": "agent_exited", "diagnostics": {"exit_code": 3}}}
    played = Played([HEADER, ("err", "no key"), end])
    assert (played.stderr, played.player.is_over) == ("no key", True)
    assert recording([HEADER]).departure == Departure()


def test_a_client_that_offered_nothing_readable_offered_nothing() -> None:
    """Odd params of `initialize`."""
    frame = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"clientCapabilities": []}}
    assert recording([("c>a", frame)]).capabilities == {}
    assert recording([("c>a", {**frame, "params": []})]).capabilities == {}


def test_a_cancel_counts_only_within_its_own_turn() -> None:
    """Of another session's turn it is none."""
    rows = [*opening(), ("c>a", prompt(3, "s1", "go")), ("c>a", tell("session/cancel", sessionId="s2"))]
    assert [hear.optional for hear in recording(rows).hears] == [False, False, False, True]
    assert [hear.what for hear in recording([*rows, ("c>a", answer(9)), ("c>a", "x")]).hears][3:] == [
        "session/cancel",
        "an answer",
        "a line that is no frame",
    ]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"reason": "end_turn", "diagnostics": {"exit_code": 0}}, Departure(is_told=True)),
        (
            {"reason": "agent_exited", "diagnostics": {"exit_code": None, "signal": 11}, "flags": {"killed": None}},
            Departure(exits_early=True, signal=11, is_told=True),
        ),
        (
            {"reason": "run_timeout", "diagnostics": {"signal": 15}, "flags": {"killed": "term"}},
            Departure(signal=15, killed="term", is_told=True),
        ),
        ("no object", Departure(is_told=True)),
        ({"diagnostics": {"exit_code": True}, "flags": {"killed": 9}}, Departure(is_told=True)),
    ],
)
def test_how_the_agent_went_is_in_the_last_note(result: Any, expected: Departure) -> None:
    """By itself and early, at the end of stdin, or by a signal that its parent needed."""
    notes = [Note(kind="lost"), Note(kind="end", fields={"result": result})]
    assert departure_of(notes, has_open=True) == expected


def test_without_a_last_note_open_requests_tell() -> None:
    """An agent that left one unanswered is taken to have exited."""
    assert departure_of([], has_open=True).exits_early
    assert not departure_of([], has_open=False).exits_early


def test_a_record_with_frames_left_out_is_known_as_one() -> None:
    """It was over its bound, or the disk was full."""
    assert recording(opening()).is_whole
    assert "frames were left out" in Played([*opening(), {"dir": "note", "note": "lost", "frames": 3}]).stderr
