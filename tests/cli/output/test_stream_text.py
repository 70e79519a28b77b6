"""However an agent cuts its text into chunks, a terminal is shown the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.cli.show.stream_text import StreamText
from acp_client.safe_text import printable

ODD = st.text(alphabet="ab\n\t\r\x1b\u200c\u200d\u202e\ufe0f\u00e9\U0001f468\U0001f469", max_size=4)


def shown(chunks: list[str]) -> str:
    """What a terminal gets for these."""
    stream = StreamText()
    return "".join([*map(stream.feed, chunks), stream.end()])


@given(st.lists(ODD, max_size=8))
def test_chunks_are_shown_as_their_whole_is(chunks: list[str]) -> None:
    """Runs of more than four undecided characters, which are no text, apart."""
    whole = "".join(chunks)
    runs = whole.replace("\r", "\u200d").replace("\u200c", "\u200d")
    if "\u200d" * 5 not in runs:
        assert shown(chunks) == printable(whole, multiline=True)


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (["one\r", "\ntwo"], "one\ntwo"),
        (["\U0001f468", "\u200d", "\U0001f469"], "\U0001f468\u200d\U0001f469"),
        (["\x1b", "[2J"], "\\x1b[2J"),
        (["end\r"], "end\\r"),
        (["\r" * 9, "x"], "\\r" * 9 + "x"),
    ],
)
def test_what_a_cut_separates_is_seen_together(chunks: list[str], expected: str) -> None:
    """Line ends and emoji; and nothing dangerous is let through by cutting it in two."""
    assert shown(chunks) == expected
