"""Equal is what two runs must agree on; a difference is short, readable and harmless."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.record.format.difference import MAX_CHARS, MAX_LINES, difference, same
from acp_client.safe_text import printable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({"a": None, "b": [{"c": None}]}, {"b": [{}]}),
        ({"a": 1}, {"a": 1.0, "b": None}),
        ("key=[redacted]&x", "key=sk-123&x"),
        (["[redacted]-[redacted]"], ["a-b-c"]),
        ({"a": {"b": "[redacted]"}}, {"a": {"b": ""}}),
        ([], []),
    ],
)
def test_these_are_the_same(expected: Any, found: Any) -> None:
    """A null is as good as absent; a mask fits any secret, and whatever is around it must be there."""
    assert same(expected, found)
    assert difference(expected, found) == ""


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({"a": 1}, {"a": True}),
        ([1], [1, 2]),
        ([1, {"a": None}], [1]),
        ({"a": 1}, {}),
        ({}, {"a": 1}),
        ({"a": 1}, {"a": None}),
        ("key=[redacted]&x", "key=sk-123&y"),
        ("a[redacted]a", "a"),
        ("[redacted]b[redacted]", "acc"),
        ("[redacted]", 1),
        ({"a": []}, {"a": {}}),
    ],
)
def test_these_are_not(expected: Any, found: Any) -> None:
    """And what differs is shown."""
    assert not same(expected, found)
    assert difference(expected, found).startswith("--- recorded\n+++ received\n")


@given(JSON, JSON)
def test_any_two_values_have_a_bounded_printable_difference(one: Any, other: Any) -> None:
    """Empty exactly if they are the same."""
    text = difference(one, other)
    assert (text == "") == same(one, other)
    assert same(one, one)
    assert len(text) <= MAX_CHARS
    assert len(text.split("\n")) <= MAX_LINES
    assert printable(text, multiline=True) == text


def test_a_mask_is_not_shown_as_a_difference() -> None:
    """Beside what differs there is only what helps."""
    text = difference({"a": "x [redacted]", "b": 1}, {"a": "x secret", "b": 2})
    assert "secret" not in text
    assert '- "b": 1' in text


def test_a_long_text_is_shown_by_its_lines() -> None:
    """Where they differ, and a little around."""
    lines = [f"line {number}\n" for number in range(200)]
    text = difference({"t": "".join(lines)}, {"t": "".join([*lines[:100], "other\n", *lines[101:]])})
    assert "-line 100\\n" in text
    assert "+other\\n" in text
    assert len(text.split("\n")) < 15


def test_what_is_cut_is_counted() -> None:
    """By lines, or by characters."""
    one, other = list(range(500)), list(range(1000, 1500))
    text = difference(one, other, max_lines=10)
    assert len(text.split("\n")) == 10
    assert text.endswith("more lines")
    short = difference(one, other, max_chars=100)
    assert len(short) <= 100
    assert "more lines" in short


def test_sides_have_the_names_that_are_given() -> None:
    """A golden file is no recording."""
    assert difference(1, 2, names=("golden", "now")).startswith("--- golden\n+++ now\n")


def test_escapes_of_a_terminal_are_spelled_out() -> None:
    """A text of a child may hold anything."""
    assert "\x1b" not in difference("\x1b[2J", "\u202e")
    assert "\u202e" not in difference("\x1b[2J", "\u202e")
