"""The change that a tool call shows is a unified diff, for any two texts, in bounded time."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.record.viewer import diffs
from acp_client.record.viewer.diffs import diff

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=14).map("\n".join)


@given(LINES, LINES)
def test_it_is_what_difflib_says(old: str, new: str) -> None:
    """Also where the lines that both begin and end with were left out first."""
    changes = [one for one in diff(old, new).split("\n") if one[:1] in ("+", "-")]
    assert [one[1:] for one in changes if one[0] == "-"] == _sided(old, new, "-")
    assert [one[1:] for one in changes if one[0] == "+"] == _sided(old, new, "+")


def _sided(old: str, new: str, sign: str) -> list[str]:
    """What is left of one side once the lines that stay are taken out, by applying the diff."""
    before, after = old.splitlines(), new.splitlines()
    kept = _applied(before, diff(old, new))
    assert kept == after
    return [one[1:] for one in diff(old, new).split("\n") if one[:1] == sign]


def _applied(before: list[str], shown: str) -> list[str]:
    done: list[str] = []
    at = 0
    for line in shown.split("\n") if shown else []:
        if line.startswith("@@"):
            first, _, length = line.split(" ")[1][1:].partition(",")
            start = int(first) if length == "0" else int(first) - 1
            done += before[at:start]
            at = start
        elif line.startswith("+"):
            done.append(line[1:])
        else:
            assert before[at] == line[1:]
            at += 1
            done += [] if line.startswith("-") else [line[1:]]
    return done + before[at:]


def test_a_change_far_down_says_where_it_is() -> None:
    """As a diff of the whole files would."""
    old = [str(number) for number in range(100)]
    new = [*old[:50], "new", *old[51:]]
    whole = list(difflib.unified_diff(old, new, lineterm=""))[2:]
    assert diff("\n".join(old), "\n".join(new)) == "\n".join(whole)


def test_what_is_too_much_to_compare_is_removed_and_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two long files without a line in common would take minutes."""
    monkeypatch.setattr(diffs, "MAX_COMPARED", 3)
    assert diff("x\na\nb\ny", "x\nc\nd\ny") == "@@ -2,2 +2,2 @@\n-a\n-b\n+c\n+d"


def test_nothing_and_the_same_are_no_change() -> None:
    """And a file that was not there is all new."""
    assert diff("a", "a") == ""
    assert diff(None, "") == ""
    assert diff(None, "a\nb") == "@@ -0,0 +1,2 @@\n+a\n+b"
