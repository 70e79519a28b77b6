"""What is no frame, and how a stream is cut: nothing of it ends the reader or changes what is read."""

import itertools
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_client.protocol.errors import INVALID_REQUEST, PARSE_ERROR
from acp_client.protocol.link import Link
from acp_client.protocol.states import Event, FrameDropped, NoiseReceived


def line(**frame: Any) -> bytes:
    """A frame of the other side."""
    return json.dumps({"jsonrpc": "2.0"} | frame).encode() + b"\n"


def test_each_bad_line_is_told_once_and_the_next_frame_is_handled() -> None:
    """Nothing ends the reader."""
    bad = [b"not json", b"5", b"null", b"[]", b'"str"', b"{}", b"\xff\xfe"]
    link = Link()
    events = link.receive(b"\n".join(bad) + b"\n\r\n\n" + line(method="m"))
    *noise, last = events
    assert [one.line for one in noise if isinstance(one, NoiseReceived)] == bad
    assert [one.code for one in noise if isinstance(one, NoiseReceived)] == [
        PARSE_ERROR,
        *[INVALID_REQUEST] * 5,
        PARSE_ERROR,
    ]
    assert last == {"jsonrpc": "2.0", "method": "m"}


@given(st.lists(st.sampled_from([b"x", b"5", b"[]", b"{}", b"", b"\r"]), max_size=20))
def test_noise_is_counted_line_by_line(lines: list[bytes]) -> None:
    """Blank lines are none."""
    events = Link().receive(b"".join(one + b"\n" for one in lines))
    assert len(events) == sum(1 for one in lines if one.strip())
    assert all(isinstance(event, NoiseReceived) for event in events)


def test_an_agent_answers_noise_with_its_code_and_the_id_where_there_is_one() -> None:
    """Null where the line was no JSON at all."""
    link = Link()
    first, second = link.receive(b'nonsense\n{"jsonrpc":"1.0","method":"m","id":"x"}\n')
    assert isinstance(first, NoiseReceived)
    assert isinstance(second, NoiseReceived)
    answers = [json.loads(link.reject(one)) for one in (first, second)]
    assert [(one["id"], one["error"]["code"]) for one in answers] == [(None, PARSE_ERROR), ("x", INVALID_REQUEST)]


def test_an_error_without_an_id_is_dropped_and_no_noise() -> None:
    """Answering it would make a loop of errors."""
    (event,) = Link().receive(line(id=None, error={"code": -32700, "message": "Parse error"}))
    assert isinstance(event, FrameDropped)


STREAM = (
    b"banner \xff\n"
    + line(method="m", params={"t": "é\u2028😀"})
    + line(id="x", method="m")
    + b"\r\n"
    + line(id=1, result={})
    + b"glued"
    + line(method="n")
)


def told(events: list[Event]) -> list[str]:
    """Events as text, to be compared."""
    return [repr(event) for event in events]


def whole(stream: bytes) -> list[str]:
    """What a stream gives in one piece."""
    link = Link()
    link.request("m", {})
    return told(link.receive(stream) + link.receive_eof())


def test_byte_by_byte_gives_the_same_events() -> None:
    """Characters cut in two included."""
    link = Link()
    link.request("m", {})
    events = [event for byte in STREAM for event in link.receive(bytes([byte]))]
    assert told(events + link.receive_eof()) == whole(STREAM)
    assert len(events) == 5


@given(st.sets(st.integers(0, len(STREAM))))
def test_any_cut_gives_the_same_events(cuts: set[int]) -> None:
    """Wherever the reads fall."""
    edges = [0, *sorted(cuts), len(STREAM)]
    link = Link()
    link.request("m", {})
    events = [event for start, end in itertools.pairwise(edges) for event in link.receive(STREAM[start:end])]
    assert told(events + link.receive_eof()) == whole(STREAM)


@given(st.lists(st.binary(max_size=60), max_size=10))
def test_no_bytes_make_the_link_raise(pieces: list[bytes]) -> None:
    """Not even at their end."""
    link = Link(max_frame_bytes=30)
    request, _ = link.request("m", {})
    for piece in pieces:
        link.receive(piece)
    link.receive_eof()
    assert request.state == "settled"
