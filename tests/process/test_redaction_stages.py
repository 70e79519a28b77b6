"""A text that comes in pieces is redacted as if it had come whole."""

import time
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_client.process.redaction import Redactor
from acp_client.process.redaction_stages import LONGEST_HELD_CHARS
from acp_client.process.secret_patterns import LONGEST_HEAD_CHARS
from tests.support.made_up_secrets import KNOWN, OPENAI, PEM_LINES, SECRETS, TEXTS


def streamed(redactor: Redactor, pieces: Iterable[str]) -> str:
    """What comes out of a stream for these pieces."""
    stream = redactor.stream()
    return "".join([*map(stream.feed, pieces), stream.flush()])


@settings(max_examples=300)
@given(TEXTS, SECRETS, st.data())
def test_a_text_cut_anywhere_is_redacted_like_the_whole(text: str, secrets: list[str], data: st.DataObject) -> None:
    """In two pieces, in many, and character by character."""
    redactor = Redactor(secrets)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert streamed(redactor, pieces) == redactor.redact(text)
    assert streamed(redactor, text) == redactor.redact(text)


@settings(max_examples=25, deadline=None)
@given(TEXTS, SECRETS, st.integers(1, 7), st.sampled_from([".", "a", "a ", "A/", '\\"', "é"]))
def test_long_lines_in_pieces_are_redacted_like_the_whole(
    text: str, secrets: list[str], steps: int, filler: str
) -> None:
    """Also where a line is too long to be held and is let through before its end."""
    redactor = Redactor(secrets)
    long = text + filler * 20_000 + text + filler * 20_000 + text
    size = steps * 997
    pieces = [long[at : at + size] for at in range(0, len(long), size)]
    assert streamed(redactor, pieces) == redactor.redact(long)


@pytest.mark.parametrize(
    "start",
    ["password=", 'password="', r"{\"token\": \"", "sk-1", "Bearer 1", PEM_LINES[0] + "\n", "cookie: a"],
)
def test_a_secret_without_end_is_held_in_bounded_memory(start: str) -> None:
    """What it is was decided by its head; the rest is not kept."""
    redactor = Redactor()
    stream = redactor.stream()
    piece = "Ab3" * 1000
    head = stream.feed(start)
    tracemalloc.start()
    shown = "".join(stream.feed(piece) for _ in range(1000))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rest = stream.feed('" end') + stream.flush()
    assert head + shown + rest == redactor.redact(start + piece * 3 + '" end')
    assert peak_bytes < 20 * LONGEST_HELD_CHARS


def test_a_long_line_is_not_mistaken_for_the_beginning_of_a_word() -> None:
    """Where it is let through in the middle, what stood before still counts."""
    redactor = Redactor()
    text = "x" * 20_000 + OPENAI.ljust(LONGEST_HEAD_CHARS)
    assert streamed(redactor, [text, "\n"]) == redactor.redact(text + "\n") == text + "\n"


def test_whole_lines_are_let_through_at_once() -> None:
    """A reader of a live log waits for the end of a line, not for the end of the text."""
    stream = Redactor([KNOWN]).stream()
    assert stream.feed(f"one {KNOWN}\ntwo pass") == "one [redacted]\n"
    assert stream.feed("word=abcdef") == ""
    assert stream.feed("\n") == "two password=[redacted]\n"
    assert stream.flush() == ""


def test_a_known_value_that_may_go_on_is_held_back() -> None:
    """What has come is one secret already, and may be the beginning of a longer one."""
    stream = Redactor(["abcdefgh", "abcdefghij"]).stream()
    assert stream.feed("abcdefgh") + stream.feed("ij\n") == "[redacted]\n"


def test_a_stream_can_be_used_again_after_its_flush() -> None:
    """Nothing of one text reaches the next."""
    stream = Redactor().stream()
    assert stream.feed("pass") + stream.flush() == "pass"
    assert stream.feed("word=abcdef") + stream.flush() == "word=abcdef"


HOSTILE_UNITS = (
    *("a", "A", "_", "-", "=", "@", "\\", '"', '\\"', " ", "\n", "://", "://a:b", "eyJ", "sk-"),
    *("password", "password: ", "token: secret: ", '"password": "', "token=null ", "bearer a"),
    *("-----BEGIN ", PEM_LINES[0], PEM_LINES[0] + "\n ", "cookie: ", "authorization: ", "api_"),
)


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_the_work_grows_no_faster_than_the_text(unit: str) -> None:
    """Ten times the text takes about ten times as long, whole or in small pieces."""
    redactor = Redactor([KNOWN, "aaaaaaaaaaaaaaaaaab", "password: password"])

    def seconds(chars: int) -> float:
        text = unit * (chars // len(unit))
        times = []
        for _ in range(3):
            begin = time.process_time()
            redactor.redact(text)
            streamed(redactor, (text[at : at + 100] for at in range(0, chars, 100)))
            times.append(time.process_time() - begin)
        return min(times)

    assert seconds(50_000) <= 30 * max(seconds(5_000), 0.001)  # quadratic would be 100 times
