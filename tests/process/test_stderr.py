"""What is kept of a child's stderr."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.process.redaction import Redactor
from acp_client.process.stderr import MARGIN_BYTES, StderrTail
from tests.support.made_up_secrets import OPENAI

PEM = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIEvQIBADAN\n" * 40 + "-----END " + "PRIVATE KEY-----\n"


def tail_of(data: bytes, max_bytes: int, *, step: int = 1000, secrets: tuple[str, ...] = ()) -> str:
    """The text after these bytes came in reads of `step`."""
    tail = StderrTail(max_bytes, Redactor(secrets))
    for at in range(0, len(data), step):
        tail.feed(data[at : at + step])
    return tail.text()


def test_little_output_is_given_whole() -> None:
    """Nothing is dropped before the bound is reached."""
    assert tail_of(b"one\ntwo", 7) == "one\ntwo"
    assert tail_of(b"", 7) == ""


def test_much_output_is_given_from_a_line_of_its_tail_on() -> None:
    """The last bytes, whole lines, and how much is gone."""
    tail = StderrTail(100, Redactor())
    lines = b"".join(b"line %05d\n" % number for number in range(20_000))
    tail.feed(lines)
    assert tail.text() == lines[-99:].decode()  # nine whole lines fit into 100 bytes
    assert tail.total_bytes == len(lines)
    assert tail.dropped_bytes == len(lines) - 100
    assert repr(tail) == f"<StderrTail of {len(lines)} bytes, {len(lines) - 100} dropped>"


def test_memory_is_bounded_whatever_comes() -> None:
    """A child that never stops complaining costs no more than twice the bound."""
    tail = StderrTail(64 * 1024, Redactor())
    read = b"x" * 65_536
    tracemalloc.start()
    for _ in range(200):
        tail.feed(read)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 5 * (64 * 1024 + MARGIN_BYTES)
    assert tail.total_bytes == 200 * 65_536


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_a_character_cut_by_a_read_is_whole_again(step: int) -> None:
    """Reads end anywhere."""
    assert tail_of("é→👩\n".encode(), 100, step=step) == "é→👩\n"


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    """And what stands around them is kept."""
    assert tail_of(b"a\xff\xfeb\xe2\x82", 100) == "a\ufffd\ufffdb\ufffd"


@pytest.mark.parametrize("after", range(60))
def test_a_secret_that_straddles_the_cut_leaves_nothing_behind(after: int) -> None:
    """Redacted first and cut then, wherever in the secret the cut falls."""
    for text, bits in (
        (f"Authorization: Bearer {OPENAI}\n", ("Ab3",)),
        ('{"password": "correct horse battery"}\n', ("horse", "battery")),
        ("https://" + "user:hunter2" + "@example.org/\n", ("hunter2", "nter2")),
        ("say plain looking secret, again\n", ("looking", "secret")),
    ):
        data = ("x\n" * 50_000 + text + "y" * after).encode()
        for max_bytes in (after, after + 10, after + 25):
            shown = tail_of(data, max_bytes, secrets=("plain looking secret",))
            assert not any(bit in shown for bit in bits)


@pytest.mark.parametrize("max_bytes", [0, 20, 100, 300, 500, 600])
def test_a_private_key_that_straddles_the_cut_leaves_nothing_behind(max_bytes: int) -> None:
    """A secret of many lines, of which whole lines lie in the tail."""
    assert "MII" not in tail_of(("x\n" * 50_000 + PEM + "end\n").encode(), max_bytes)


def test_a_word_longer_than_all_that_is_kept_is_dropped() -> None:
    """A secret whose beginning is gone can no longer be recognised."""
    assert tail_of(b"A" * 200_000 + b" rest", 64 * 1024) == " rest"
    assert tail_of(b"A" * 200_000, 64 * 1024) == ""
    assert tail_of(b"A" * 90_000 + b" password=" + b"b" * 65_000, 64 * 1024) == " password=[redacted]"


def test_nothing_may_be_kept() -> None:
    """A bound of 0 counts and shows nothing; one below is refused by name."""
    assert tail_of(b"one\n", 0) == ""
    with pytest.raises(ValueError, match=r"max_bytes is -1; .* 0 or more"):
        StderrTail(-1, Redactor())


@given(st.lists(st.binary(max_size=400), max_size=20), st.integers(0, 500))
def test_any_bytes_give_a_bounded_end_of_the_redacted_whole(reads: list[bytes], max_bytes: int) -> None:
    """However they are read; and reading goes on afterwards."""
    tail = StderrTail(max_bytes, Redactor())
    for read in reads:
        tail.feed(read)
        tail.text()
    whole = Redactor().redact(b"".join(reads).decode(errors="replace"))
    assert whole.endswith(tail.text())
    assert len(tail.text().encode()) <= max_bytes
