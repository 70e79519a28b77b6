"""The validator: a good transcript has no finding; a bad one is told line by line, with what to do."""

from pathlib import Path
from typing import Any

import pytest

from acp_client.record.format import check
from acp_client.record.format.check import Finding, check_file, check_lines
from acp_client.record.format.lines import Frame, Header, Line, Note, Stderr, TranscriptError, encode_line
from tests.record.format.test_reader import WIRES, frame

ASK = Frame(direction="c>a", message=frame(id=1, method="initialize"), t=0.1)
ANSWER = Frame(direction="a>c", message=frame(id=1, result={}), t=0.2)
END = Note(kind="end", fields={"result": {"status": "completed"}}, t=0.3)
GOOD: list[Line] = [Header(run_id="r"), ASK, Stderr(text="x", t=0.05), ANSWER, END]


def findings(*given: Line) -> list[Finding]:
    """Of a transcript of these lines."""
    return list(check_lines(map(encode_line, given)))


def rules(*given: Line, harmless: bool = False) -> list[tuple[int, str]]:
    """Line and rule of each finding that is harmless, or is not."""
    return [(one.line, one.rule) for one in findings(*given) if one.harmless == harmless]


def test_a_good_transcript_has_no_finding() -> None:
    """Stderr may be late: what it says is held until it is whole."""
    assert findings(*GOOD) == []


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire.stem != "odd_frames"], ids=lambda wire: wire.stem)
def test_recorded_wires_are_good_without_a_header(wire: Path) -> None:
    """No end is asked of them."""
    assert check_file(wire) == []


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([ASK, *GOOD], (2, "a header is not the first line")),
        ([*GOOD, Header(run_id="s")], (6, "a header is not the first line")),
        ([Header(run_id=""), *GOOD[1:]], (1, "the header has no run_id")),
        ([Header(run_id="r", format_version=0), *GOOD[1:]], (1, '"acp_transcript" must be a whole number from 1')),
        ([*GOOD, ASK], (6, "a line comes after the end")),
        ([*GOOD[:4], Note(kind="end", t=0.3)], (5, 'the end has no "result"')),
        ([GOOD[0], Frame(direction="c>a", raw="x")], (2, '"t" must be a number of seconds since the start')),
        ([GOOD[0], Frame(direction="c>a", raw="x", t=-1.0)], (2, '"t" is -1; it must not be negative')),
        ([GOOD[0], ANSWER, ASK, END], (3, '"t" goes back from 0.2 to 0.1')),
    ],
)
def test_what_breaks_a_rule_is_told_with_its_line(given: list[Line], found: tuple[int, str]) -> None:
    """And with what to do, on one line."""
    assert found in rules(*given)
    told = next(str(one) for one in findings(*given) if (one.line, one.rule) == found)
    assert told.startswith(f"line {found[0]}: {found[1]}; ")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (GOOD[:4], (0, "the run is unfinished: there is no end")),
        ([GOOD[0], ASK, END], (2, "this request has no answer")),
        ([GOOD[0], ASK, ASK, ANSWER, END], (3, "the id 1 is in use by an open request of the same side")),
        ([GOOD[0], ANSWER, END], (2, "an answer to the id 1, which is no open request")),
        (
            [GOOD[0], Frame(direction="a>c", message={"method": "x"}, t=0.1), END],
            (2, 'the frame has no "jsonrpc": "2.0"'),
        ),
        ([GOOD[0], Note(kind="mood", t=0.1), END], (2, "the kind of note 'mood' is unknown")),
        (
            [GOOD[0], Note(kind="lost", fields={"frames": 3, "why": "disk full"}, t=0.1), END],
            (2, "3 frames were not recorded (disk full)"),
        ),
    ],
)
def test_what_leaves_the_rest_usable_is_harmless(given: list[Line], found: tuple[int, str]) -> None:
    """A killed parent, an odd agent, a full disk."""
    assert rules(*given) == []
    assert rules(*given, harmless=True) == [found]


def test_where_frames_were_lost_nothing_is_missed() -> None:
    """An answer may be among them."""
    lost = Note(kind="lost", fields={}, t=0.1)
    assert rules(GOOD[0], lost, ANSWER, Frame(direction="c>a", message=frame(id=2, method="x"), t=0.2), END) == []
    assert len(rules(GOOD[0], lost, ANSWER, END, harmless=True)) == 1


def test_a_file_without_a_line_is_no_transcript(tmp_path: Path) -> None:
    """Nor is one that is not there."""
    file = tmp_path / "notes.txt"
    file.write_text("shopping\nlist\n")
    assert [str(one) for one in check_file(file)][-1] == (
        "there is no line of a transcript in it; give a file that a run has left"
    )
    with pytest.raises(TranscriptError):
        check_file(tmp_path / "none")


def test_a_half_written_line_is_harmless() -> None:
    """It is what a killed parent leaves."""
    found = list(check_lines([*map(encode_line, GOOD[:4]), b'{"t":']))
    assert [(one.line, one.harmless) for one in found] == [(5, True), (0, True)]


def test_findings_and_open_requests_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile file costs no memory and no screen."""
    monkeypatch.setattr(check, "MAX_FINDINGS", 3)
    monkeypatch.setattr(check, "MAX_OPEN", 2)
    asks = [Frame(direction="c>a", message=frame(id=number, method="x"), t=0.1) for number in range(9)]
    assert len(findings(GOOD[0], *asks, END)) == 2
    many: list[Any] = list(check_lines(b"no json\n" for _ in range(9)))
    assert [one.rule for one in many][2] == "there are more findings than are told"
    assert len(many) == 3
