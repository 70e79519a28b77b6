"""Lines out of bytes: split on LF alone, bounded, each byte looked at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.protocol.framing import HEAD_BYTES, SMALL_PIECE_BYTES, LineSplitter, Overlong

NO_LINE_ENDS = {
    "a bare CR": b"\r",
    "a vertical tab": b"\v",
    "a form feed": b"\f",
    "NEL": "\u0085".encode(),
    "U+2028": "\u2028".encode(),
    "U+2029": "\u2029".encode(),
    "a file separator": b"\x1c",
}


@pytest.mark.parametrize("name", NO_LINE_ENDS)
def test_only_lf_ends_a_line(name: str) -> None:
    """What `splitlines` of bytes or text would split on stays inside of the line."""
    line = b"a" + NO_LINE_ENDS[name] + b"b"
    assert LineSplitter().feed(line + b"\nc\n") == [line, b"c"]


def test_a_cr_before_the_lf_is_left_to_json_which_takes_it_as_a_blank() -> None:
    """Lines come without their LF and with everything else."""
    assert LineSplitter().feed(b"{}\r\n\r\n\n") == [b"{}\r", b"\r", b""]


@given(st.lists(st.binary(max_size=40), max_size=20), st.data())
def test_where_the_pieces_are_cut_makes_no_difference(lines: list[bytes], data: st.DataObject) -> None:
    """Any split of the same bytes gives the same lines and the same rest."""
    stream = b"\n".join(lines)
    splitter, got, at = LineSplitter(), [], 0
    while at < len(stream):
        size = data.draw(st.integers(1, len(stream) - at))
        got += splitter.feed(stream[at : at + size])
        at += size
    assert [*got, splitter.finish()] == stream.split(b"\n")


@pytest.mark.parametrize("size", [1, 7, SMALL_PIECE_BYTES - 1, SMALL_PIECE_BYTES, SMALL_PIECE_BYTES * 17])
def test_a_long_line_in_pieces_of_any_size_is_whole(size: int) -> None:
    """Small pieces are gathered, large ones kept as they are, in one order."""
    line = bytes(range(11, 211)) * 500
    splitter, got = LineSplitter(), []
    for at in range(0, len(line), size):
        got += splitter.feed(line[at : at + size])
    assert got == []
    assert splitter.feed(b"\nnext\n") == [line, b"next"]


def test_small_and_large_pieces_of_a_line_stay_in_order() -> None:
    """A small piece after a large one begins a buffer of its own."""
    splitter = LineSplitter()
    pieces = [b"a", b"b" * SMALL_PIECE_BYTES, b"c", b"d", b"e" * SMALL_PIECE_BYTES, b"f"]
    for piece in pieces:
        assert splitter.feed(piece) == []
    assert splitter.finish() == b"".join(pieces)


def test_the_rest_without_a_newline_comes_at_the_end_once() -> None:
    """EOF ends the last line; after it there is nothing."""
    splitter = LineSplitter()
    assert splitter.feed(b"a\nb") == [b"a"]
    assert splitter.finish() == b"b"
    assert splitter.finish() == b""


def test_a_line_as_long_as_the_limit_passes_and_one_byte_more_is_cut_to_its_head() -> None:
    """The limit counts the line without its LF."""
    splitter = LineSplitter(5)
    assert splitter.feed(b"12345\n123456\n1\n") == [b"12345", Overlong(b"123456"), b"1"]


def test_a_line_that_never_ends_is_told_once_and_held_no_longer() -> None:
    """As soon as the limit is passed, not at the newline that may never come."""
    splitter = LineSplitter(10)
    told = [line for _ in range(50) for line in splitter.feed(b"x" * 6)]
    assert told == [Overlong(b"x" * 12)]
    assert splitter.finish() == b""
    assert splitter.feed(b"xx") == []
    assert splitter.feed(b"xx\nok\nre") == [b"ok"]
    assert splitter.feed(b"st\n") == [b"rest"]


def test_only_the_head_of_a_line_over_the_limit_is_kept() -> None:
    """Enough to see a method or an id."""
    line = b"y" * (HEAD_BYTES * 3)
    assert LineSplitter(HEAD_BYTES).feed(line) == [Overlong(line[:HEAD_BYTES])]
    assert LineSplitter(HEAD_BYTES).feed(line + b"\n") == [Overlong(line[:HEAD_BYTES])]


def test_good_lines_around_one_that_is_too_long_are_all_there() -> None:
    """Also where the long one began in an earlier piece and one more long one is unfinished."""
    splitter = LineSplitter(4)
    assert splitter.feed(b"a\nbbb") == [b"a"]
    assert splitter.feed(b"bbb\nc\nddddd") == [Overlong(b"bbbbbb"), b"c", Overlong(b"ddddd")]
    assert splitter.feed(b"d\ne\n") == [b"e"]


def test_many_short_lines_in_one_large_piece_are_within_the_limit() -> None:
    """The limit is one line's, not one read's."""
    assert LineSplitter(3).feed(b"abc\n" * 100) == [b"abc"] * 100
