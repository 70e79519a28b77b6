"""The hot path: chunks of one message pass by their shape, and come out as by the long way."""

import json
from pathlib import Path
from typing import Any

import pytest

from acp_client.process.redaction import REDACTED, Redactor
from acp_client.protocol.framing import Overlong
from acp_client.record.chunks import Chunks
from acp_client.record.cleaner import Cleaner
from acp_client.record.file import RecordFile
from acp_client.record.format.lines import Frame, Header, Line, Note, Stderr
from acp_client.record.format.reader import read_file
from acp_client.record.place import OneFile, Transcripts
from acp_client.record.sink import STDERR, TranscriptSink
from tests.record.test_held import SECRET, chunk, output, tool

CLEANER = Cleaner(Redactor([SECRET]))


def written(message: dict[str, Any], **how: Any) -> bytes:
    """A frame without its newline, compact unless it is said otherwise."""
    return json.dumps(message, **{"ensure_ascii": False, "separators": (",", ":"), **how}).encode()


def learned(message: dict[str, Any], **how: Any) -> Chunks:
    """What knows the shape of this frame."""
    chunks = Chunks()
    chunks.learn(written(message, **how), message, CLEANER)
    return chunks


def runs(chunks: Chunks, *lines: bytes | Overlong) -> list[tuple[bool, int]]:
    """Whether each run is of chunks, and how long it is."""
    return [(run.key is not None, len(run.lines)) for run in chunks.runs(lines)]


def recorded(tmp_path: Path, *items: tuple[str, Any], max_frame_bytes: int = 10_000) -> list[Line]:
    """What is in the file when these have been taken, but for the header."""
    path = tmp_path / "run.jsonl"
    sink = TranscriptSink(Header(run_id="r"), RecordFile(OneFile(path).place("r")), Redactor([SECRET]), max_frame_bytes)
    sink.take([(0.5, kind, what, 0) for kind, what in items])
    sink.finish()
    header, *lines = read_file(path, strict=True)
    assert isinstance(header, Header)
    return lines


def test_frames_that_differ_in_their_text_are_one_run() -> None:
    """What follows in another shape is not of it; escapes are read where they are written as here."""
    plain = [written(chunk(text)) for text in ("a", "", "two\nlines “here” é", 'a "quote"', "c")]
    assert runs(learned(chunk("x")), *plain) == [(True, 5)]
    other = written(chunk("x", session="t"))
    assert runs(learned(chunk("x")), plain[0], other, other, plain[1]) == [(True, 1), (False, 1), (False, 1), (True, 1)]
    assert [run.texts for run in learned(chunk("x")).runs(plain)] == [
        ["a", "", "two\nlines “here” é", 'a "quote"', "c"]
    ]


@pytest.mark.parametrize(
    "odd",
    [
        written(chunk("é"), ensure_ascii=True),
        written(chunk("x"))[:-4] + b'","text":"y"}}}}',
        written(chunk("\x7f")).replace(b"\x7f", b"\xff"),
        written(chunk("\x01")).replace(b"\\u0001", b"\x01"),
        written(chunk("x"))[:-20],
        Overlong(b"{"),
    ],
)
def test_what_is_written_otherwise_goes_the_long_way(odd: bytes | Overlong) -> None:
    """Escapes of another kind, a member twice, bytes that are no UTF-8, a cut line."""
    assert runs(learned(chunk("x")), odd) == [(False, 1)]


@pytest.mark.parametrize(
    "chunks",
    [
        Chunks(),
        learned(chunk("x"), separators=(", ", ": ")),
        learned({"jsonrpc": "2.0", "id": 1, "result": {}}),
        learned(chunk("x", session=SECRET)),
        learned({"params": {"update": {"sessionUpdate": "user_message_chunk", "content": {"text": "x", "text2": 1}}}}),
    ],
)
def test_no_shape_is_learned_from_what_is_no_plain_chunk(chunks: Chunks) -> None:
    """Nor from one that holds a secret beside its text."""
    assert runs(chunks, written(chunk("x"))) == [(False, 1)]


def test_no_shape_is_learned_from_a_frame_that_has_a_member_twice() -> None:
    """The first of them would be written unseen."""
    message = chunk("x")
    line = written(message).replace(b'{"jsonrpc":', b'{"jsonrpc":"' + SECRET.encode() + b'","jsonrpc":')
    chunks = Chunks()
    chunks.learn(line, message, CLEANER)
    assert runs(chunks, line) == [(False, 1)]


def test_a_text_that_stands_twice_in_a_frame_is_found() -> None:
    """The shape is that of the member, not of a word like it."""
    message = chunk("x")
    message["params"]["_meta"] = {"text": "x"}
    assert runs(learned(message), written(message)) in ([(True, 1)], [(False, 1)])


def test_runs_and_the_long_way_give_the_same_file(tmp_path: Path) -> None:
    """With secrets in the middle of runs, cut, and at their ends; every frame is there, in order."""
    texts = [f"w{number} " for number in range(40)]
    for place in (3, 17, 18, 39):
        texts[place] = f"it is {SECRET}."
    texts[25:27] = [SECRET[:7], f"{SECRET[7:]} x"]
    data = b"".join(written(chunk(text)) + b"\n" for text in texts)
    lines = recorded(tmp_path, ("a>c", data[:1000]), ("a>c", data[1000:]))
    got = [
        line.message["params"]["update"]["content"]["text"]
        for line in lines
        if isinstance(line, Frame) and line.message
    ]
    expected = [text.replace(SECRET, REDACTED) for text in texts]
    expected[25:27] = [REDACTED, " x"]
    assert got == expected
    assert {line.t for line in lines if isinstance(line, Frame)} == {0.5}


def test_all_kinds_of_bytes_come_out_as_lines(tmp_path: Path) -> None:
    """Frames of both sides, noise, blank lines, a line without its end, stderr with a secret that is cut."""
    lines = recorded(
        tmp_path,
        ("", None),
        ("c>a", b'{"id":1,"method":"x"}\n'),
        ("a>c", b"Loading " + SECRET.encode() + b"\n\n  \n"),
        ("err", b"warning: " + SECRET[:5].encode()),
        ("err", SECRET[5:].encode() + b"\nand"),
        ("permission", {"title": SECRET}),
        ("a>c", b'{"id":1,'),
        ("a>c", b'"result":{}}'),
    )
    assert lines == [
        Frame(direction="c>a", message={"id": 1, "method": "x"}, t=0.5),
        Frame(direction="a>c", raw=f"Loading {REDACTED}", t=0.5),
        Stderr(text=f"warning: {REDACTED}\n", t=0.5),
        Note(kind="permission", fields={"title": REDACTED}, t=0.5),
        Frame(direction="a>c", message={"id": 1, "result": {}}, t=0.5),
        Stderr(text="and", t=0.5),
    ]


def test_the_end_is_the_last_line_whatever_was_open(tmp_path: Path) -> None:
    """What was held comes before it."""
    lines = recorded(
        tmp_path,
        ("a>c", written(chunk(f"it is {SECRET[:4]}")) + b"\n" + written(tool("c", content=output("x"))) + b"\n"),
        (STDERR, b"half"),
        ("end", {"result": {"reason": SECRET}}),
    )
    assert [type(line) for line in lines] == [Frame, Frame, Stderr, Note]
    assert lines[-1] == Note(kind="end", fields={"result": {"reason": REDACTED}}, t=0.5)


def test_over_the_bound_the_end_is_there_and_says_what_is_missing(tmp_path: Path) -> None:
    """Also where all of it comes at once."""
    place = Transcripts(tmp_path, max_bytes=10).place("r")
    sink = TranscriptSink(Header(run_id="r"), RecordFile(place), Redactor(), 100)
    sink.take([(0.5, "a>c", b'{"id":1}\n', 0), (0.5, "end", {"result": {}}, 0)])
    sink.finish()
    _, lost, end = read_file(place.path)
    assert isinstance(lost, Note)
    assert isinstance(end, Note)
    assert (lost.kind, lost.fields["frames"], end.kind) == ("lost", 1, "end")


def test_a_frame_over_the_bound_is_told_as_lost(tmp_path: Path) -> None:
    """It was never a frame to us either."""
    lines = recorded(tmp_path, ("a>c", b'{"x":"' + b"y" * 100 + b'"}\n{"id":2}\n'), max_frame_bytes=50)
    assert lines == [
        Note(kind="lost", fields={"frames": 1, "why": "a frame is too long"}, t=0.5),
        Frame(direction="a>c", message={"id": 2}, t=0.5),
    ]


def test_a_header_is_redacted(tmp_path: Path) -> None:
    """Its command, its folder, its name; and a run that told nothing has one."""
    path = tmp_path / "run.jsonl"
    header = Header(run_id="r", agent=SECRET, command=("agent", f"--x={SECRET}"), cwd=f"/{SECRET}")
    sink = TranscriptSink(header, RecordFile(OneFile(path).place("r")), Redactor([SECRET]), 100)
    sink.finish()
    assert sink.is_there
    expected = Header(run_id="r", agent=REDACTED, command=("agent", f"--x={REDACTED}"), cwd=f"/{REDACTED}")
    assert list(read_file(path)) == [expected]
