"""The lines of a transcript: what is written is read again, and what nobody knows is kept."""

from typing import Any

import pytest

from acp_client.record.format.lines import (
    Frame,
    Header,
    Line,
    Note,
    Stderr,
    TranscriptError,
    decode_object,
    encode_line,
    from_object,
)

PING: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
HEADER = Header(
    run_id="r1",
    parent_run_id="r0",
    agent="echo",
    command=("agent", "--fast"),
    cwd="/work",
    started="2026-12-01T04:00:00.123Z",
    depth=1,
    version="0.1",
    extra={"later": 1},
)


def read(line: bytes) -> Line | None:
    """The line that these bytes are."""
    value = decode_object(line)
    assert value is not None
    return from_object(value)


@pytest.mark.parametrize(
    "line",
    [
        HEADER,
        Header(run_id="r1"),
        Frame(direction="c>a", message=PING, t=0.25, extra={"note2": [1]}),
        Frame(direction="a>c", raw="Loading…", t=1.0),
        Stderr(text="warning\n", t=2.5, extra={"x": 1}),
        Note(kind="end", fields={"result": {"status": "completed"}}, t=3.0),
        Note(kind="", fields={"spawn": ["agent"]}),
    ],
)
def test_a_line_reads_as_it_was_written(line: Line) -> None:
    """One line of compact JSON, and unknown members too."""
    written = encode_line(line)
    assert written.endswith(b"}\n")
    assert written.count(b"\n") == 1
    assert read(written) == line


def test_a_frame_stands_as_the_format_says() -> None:
    """The order of the members is part of what people see."""
    assert encode_line(Frame(direction="c>a", message={"id": 1}, t=0.1234567)) == (
        b'{"t":0.123457,"dir":"c>a","msg":{"id":1}}\n'
    )
    assert encode_line(Header(run_id="r")).startswith(b'{"acp_transcript":1,"run_id":"r","parent":null,"agent":""')


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"dir": "err", "raw": "x"}, Stderr(text="x")),
        ({"dir": "a>c", "hex": "fffe"}, Frame(direction="a>c", raw="��")),
        ({"dir": "a>c", "hex": "7b7d"}, Frame(direction="a>c", message={})),
        ({"dir": "a>c", "hex": "zz", "raw": "y"}, Frame(direction="a>c", raw="y", extra={"hex": "zz"})),
        ({"dir": "note", "note": 3}, Note(kind="", fields={"note": 3})),
        ({"t": "soon", "dir": "note", "note": "lost"}, Note(kind="lost")),
        ({"acp_transcript": "1", "parent": {}, "command": "x", "depth": True}, Header(run_id="", format_version=0)),
    ],
)
def test_what_other_recorders_write_is_taken(value: dict[str, Any], line: Line) -> None:
    """Stderr as raw text, bytes as hex, members of odd types."""
    assert from_object(value) == line


@pytest.mark.parametrize("value", [{}, PING, {"dir": "a>c"}, {"dir": "err"}, {"dir": "expect", "text": "x"}])
def test_what_is_no_line_is_none(value: dict[str, Any]) -> None:
    """Whoever reads decides what it is then."""
    assert from_object(value) is None


def test_bytes_that_are_no_object_are_none() -> None:
    """Odd UTF-8 and lone surrogates are repaired, depth is not."""
    assert decode_object(b"[1]") is None
    assert decode_object(b"Loading") is None
    assert decode_object(b'{"a":' * 100_000) is None
    assert decode_object(b'{"a":"\xff"}') == {"a": "�"}
    assert decode_object(b'{"a":"\\ud800"}') == {"a": "�"}


def test_an_error_says_where_what_and_what_to_do() -> None:
    """On one line, and as members."""
    error = TranscriptError("a line must be one JSON object", "remove it", file="run.jsonl", line=7)
    assert str(error) == "run.jsonl, line 7: a line must be one JSON object; remove it"
    assert (error.file, error.line, error.rule) == ("run.jsonl", 7, "a line must be one JSON object")
    assert str(TranscriptError("no", "yes", file="x")) == "x: no; yes"
