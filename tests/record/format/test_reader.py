"""Reading: our transcripts, wires without a header, plain frames; lenient, strict, bounded."""

import json
from pathlib import Path
from typing import Any

import pytest

from acp_client.record.format import directions
from acp_client.record.format.directions import Directions
from acp_client.record.format.lines import Frame, Header, Note, TranscriptError, encode_line
from acp_client.record.format.reader import HALF_WRITTEN, Fault, LineReader, read_file, read_lines
from tests.protocol.test_transcripts import GOLDEN, RECORDED

WIRES = sorted([*GOLDEN.glob("*.jsonl"), *RECORDED.glob("*.jsonl")])


def frame(**members: Any) -> dict[str, Any]:
    """A JSON-RPC frame."""
    return {"jsonrpc": "2.0", **members}


def lines(*values: Any) -> list[bytes]:
    """As they stand in a file."""
    return [json.dumps(value).encode() + b"\n" for value in values]


def sides(*values: Any) -> str:
    """Who sent each of these plain frames: c or a."""
    read = [line for line in read_lines(lines(*values)) if isinstance(line, Frame)]
    assert len(read) == len(values)
    return "".join(one.direction[0] for one in read)


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.stem)
def test_the_wires_of_real_agents_are_read_without_a_fault(wire: Path) -> None:
    """Those that were recorded without a header, and the golden ones with what tests expect of them."""
    faults: list[Fault] = []
    read = list(read_file(wire, on_fault=faults.append))
    assert faults == []
    assert sum(isinstance(line, Frame) for line in read) > 10
    assert [line.number for line in read] == sorted(line.number for line in read)
    assert list(read_file(wire, strict=True)) == read


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire.stem != "odd_frames"], ids=lambda wire: wire.stem)
def test_who_sent_a_plain_frame_is_found_out(wire: Path) -> None:
    """The same frames, without their directions; one side's made-up method is the other's in one of them."""
    known = [line for line in read_file(wire) if isinstance(line, Frame) and line.message is not None]
    guessed = list(read_lines(json.dumps(line.message) for line in known))
    assert [(one.direction, one.message) for one in guessed if isinstance(one, Frame)] == [
        (one.direction, one.message) for one in known
    ]


def test_both_sides_may_count_their_ids_from_one() -> None:
    """An answer is known by what only it has; else the later request is answered first."""
    prompt = frame(id=1, method="session/prompt", params={})
    ask = frame(id=1, method="session/request_permission", params={})
    assert sides(prompt, ask, frame(id=1, result={"outcome": {}}), frame(id=1, result={"stopReason": "end_turn"})) == (
        "caca"
    )
    assert sides(prompt, ask, frame(id=1, result={"stopReason": "x"}), frame(id=1, result={"outcome": {}})) == "caac"
    assert sides(prompt, ask, frame(id=1, error={"code": 1}), frame(id=1, error={"code": 1})) == "caca"
    assert sides(ask, frame(method="$/cancel_request", params={"requestId": 1}), frame(id=1, result=None)) == "aac"
    assert sides(prompt, frame(method="_vendor/x"), frame(id=1, result={}), frame(method="_vendor/x")) == "caac"


def test_an_answer_of_nobody_is_passed_over_and_told() -> None:
    """Nothing tells who sent it."""
    faults: list[Fault] = []
    assert (
        list(read_lines(lines(frame(id=9, result={}), frame(method="$/cancel_request")), on_fault=faults.append)) == []
    )
    assert [fault.line for fault in faults] == [1, 2]
    with pytest.raises(TranscriptError, match=r"wire, line 1: nothing tells who sent this answer.*; write it as"):
        list(read_lines(lines(frame(id=9, result={})), name="wire", strict=True))


def test_open_requests_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without answers costs no memory."""
    monkeypatch.setattr(directions, "MAX_OPEN", 2)
    known = Directions()
    for number in range(5):
        known.of(frame(id=number, method="session/prompt"))
    assert known.of(frame(id=0, result={})) is None
    assert known.of(frame(id=4, result={})) == "a>c"


def test_a_half_written_last_line_is_read_past(tmp_path: Path) -> None:
    """As a killed parent leaves it; never an error, also where errors are raised."""
    file = tmp_path / "run.jsonl"
    whole = encode_line(Header(run_id="r")) + encode_line(
        Frame(direction="c>a", message=frame(id=1, method="x"), t=0.1)
    )
    file.write_bytes(whole + b'{"t":0.2,"dir":"a>c","msg":{"jsonr')
    faults: list[Fault] = []
    assert [type(line) for line in read_file(file, strict=True, on_fault=faults.append)] == [Header, Frame]
    assert [(fault.line, fault.rule) for fault in faults] == [(3, HALF_WRITTEN)]
    file.write_bytes(whole + encode_line(Note(kind="end"))[:-1])
    assert len(list(read_file(file))) == 3, "a whole object without its newline is one"


def test_lines_that_cannot_be_used_are_told_or_raised(tmp_path: Path) -> None:
    """With the line, the rule and the correction."""
    file = tmp_path / "odd.jsonl"
    file.write_bytes(b"\n" + b"no json\n" + b'{"x": 1}\n' + b'{"dir": "expect"}\n' + encode_line(Header(run_id="r")))
    faults: list[Fault] = []
    assert [line.number for line in read_file(file, on_fault=faults.append)] == [5]
    assert [fault.line for fault in faults] == [2, 3]
    assert list(read_file(file)) == list(read_lines(file.read_text().splitlines()))
    with pytest.raises(TranscriptError, match="line 2: a line must be one JSON object"):
        list(read_file(file, strict=True))


def test_a_later_version_is_read_as_far_as_it_goes() -> None:
    """What is unknown is passed over; who wants to be sure is strict."""
    later = Header(run_id="r", format_version=2)
    assert list(read_lines([encode_line(later)])) == [later]
    with pytest.raises(TranscriptError, match="of version 2, and this reader knows 1; read it with the release"):
        list(read_lines([encode_line(later)], strict=True))


def test_a_line_that_is_too_long_costs_no_memory(tmp_path: Path) -> None:
    """It is passed over in pieces, and the next one is read."""
    file = tmp_path / "long.jsonl"
    file.write_bytes(b'{"a": "' + b"x" * 500 + b'"}\n' + encode_line(Note(kind="end")) + b"y" * 500)
    faults: list[Fault] = []
    read = list(read_file(file, max_line_bytes=100, on_fault=faults.append))
    assert [(type(line), line.number) for line in read] == [(Note, 2)]
    assert [fault.line for fault in faults] == [1, 3]


def test_a_file_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    """By its name, with what to do."""
    with pytest.raises(TranscriptError, match=r"none.jsonl: the file cannot be read \(No such file") as caught:
        list(read_file(tmp_path / "none.jsonl"))
    assert caught.value.line == 0


def test_a_growing_file_can_be_followed() -> None:
    """Line by line, by whoever watches it."""
    reader = LineReader()
    assert reader.feed(encode_line(Header(run_id="r"))) == [Header(run_id="r")]
    assert reader.feed(" \n") == []
