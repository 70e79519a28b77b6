"""What a reader sees of a child's text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.safe_text import ELLIPSIS, printable

ESCAPED = {
    "ESC": ("\x1b[31m", r"\x1b[31m"),
    "NUL": ("\0", r"\x00"),
    "BEL": ("\a", r"\x07"),
    "BS": ("\b", r"\x08"),
    "CR": ("a\rb", r"a\rb"),
    "DEL": ("\x7f", r"\x7f"),
    "CSI": ("\x9b31m", r"\x9b31m"),
    "NEL": ("\x85", r"\x85"),
    "a right-to-left override": ("\u202egnp.exe", r"\u202egnp.exe"),
    "an isolate": ("\u2066x\u2069", r"\u2066x\u2069"),
    "a left-to-right mark": ("\u200e", r"\u200e"),
    "an Arabic letter mark": ("\u061c", r"\u061c"),
    "a zero-width space": ("a\u200bb", r"a\u200bb"),
    "a joiner between plain letters": ("a\u200db", r"a\u200db"),
    "a joiner at the end": ("é\u200d", r"é\u200d"),
    "two joiners": ("é\u200d\u200dé", r"é\u200d\u200dé"),
    "a line separator": ("\u2028", r"\u2028"),
    "a paragraph separator": ("\u2029", r"\u2029"),
    "a byte order mark": ("\ufeff", r"\ufeff"),
    "a soft hyphen": ("\u00ad", r"\xad"),
    "a word joiner": ("\u2060", r"\u2060"),
    "a filler": ("\u3164", r"\u3164"),
    "a lone surrogate": ("\ud800", r"\ud800"),
    "a tag character": ("\U000e0041", r"\U000e0041"),
    "a second variation selector": ("❤\ufe0f\ufe0f", "❤\ufe0f" + r"\ufe0f"),
    "a variation selector that carries data": ("a\U000e0100", r"a\U000e0100"),
}

KEPT = {
    "ASCII": " !~ C:\\x1b",
    "other scripts": "äß 日本語 עברית العربية हिन्दी",
    "an emoji family": "👨\u200d👩\u200d👧",
    "an emoji with a chosen form": "❤\ufe0f\u200d🔥 1\ufe0f\u20e3",
    "a Persian non-joiner": "\u0645\u06cc\u200c\u062e\u0648",
    "combining accents": "e\u0301",
    "a no-break space": "a\u00a0b",
}


@pytest.mark.parametrize(("text", "shown"), ESCAPED.values(), ids=ESCAPED)
def test_a_dangerous_character_is_spelled_out(text: str, shown: str) -> None:
    """On one line and on several alike."""
    assert printable(text) == shown
    assert printable(text, multiline=True) == shown


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    """People's languages and emoji are not damaged."""
    assert printable(text) == text


def test_line_ends_and_tabs_stay_only_where_lines_are_wanted() -> None:
    """CRLF counts as one line end; a lone CR could hide what stands before it."""
    assert printable("a\tb\nc\r\nd\re") == r"a\tb\nc\r\nd\re"
    assert printable("a\tb\nc\r\nd\re", multiline=True) == "a\tb\nc\nd" + r"\re"


def test_a_text_that_is_too_long_ends_in_an_ellipsis_and_not_inside_an_escape() -> None:
    """The bound holds for what is shown, escapes and ellipsis included."""
    assert printable("abcdef", max_chars=4) == "abc" + ELLIPSIS
    assert printable("abcd", max_chars=4) == "abcd"
    assert printable("ab\x1bcd", max_chars=5) == "ab" + ELLIPSIS
    assert printable("\r\n" * 4, max_chars=4, multiline=True) == "\n" * 4
    assert printable("abc", max_chars=1) == ELLIPSIS


def test_a_bound_below_one_is_refused_by_name() -> None:
    """Nothing could be shown, not even that something was cut."""
    with pytest.raises(ValueError, match=r"max_chars is 0; .* 1 or more"):
        printable("a", max_chars=0)


ANY_TEXT = st.text(st.characters(exclude_categories=()))
RISKY_TEXT = st.text(st.sampled_from("a\x1b\r\n\t\u200d\u200c\ufe0fé👩\u202e\ud800\U000e0041\\"))


@given(text=st.one_of(ANY_TEXT, RISKY_TEXT), multiline=st.booleans(), max_chars=st.none() | st.integers(1, 40))
def test_what_is_shown_has_no_control_character(*, text: str, multiline: bool, max_chars: int | None) -> None:
    """No control, no surrogate, no line end but LF, no change of direction; within its bound."""
    shown = printable(text, multiline=multiline, max_chars=max_chars)
    for char in shown:
        if multiline and char in "\n\t":
            continue
        assert unicodedata.category(char) not in {"Cc", "Cs", "Zl", "Zp"}
        assert unicodedata.bidirectional(char) not in {"LRE", "RLE", "LRO", "RLO", "PDF"}
        assert unicodedata.bidirectional(char) not in {"LRI", "RLI", "FSI", "PDI"}
    assert shown.encode().decode() == shown
    assert max_chars is None or len(shown) <= max_chars
