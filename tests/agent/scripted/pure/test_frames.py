import json
from typing import Any

import pytest

from acp_agent.scripted import frames
from acp_agent.scripted.vocabulary import STEPS, TEXT


def test_a_frame_is_one_line_of_utf8() -> None:
    """What is not ASCII goes out raw; a lone surrogate can only be escaped."""
    assert frames.dump({"a": "é\u2028\n"}) == '{"a":"é\u2028\\n"}'.encode()
    assert frames.dump("é\ud800") == b'"\\u00e9\\ud800"'


def test_placeholders_are_filled_in_at_any_depth() -> None:
    """Alone they keep their type; inside a text JSON is written; a dollar more is a plain one."""
    values: dict[str, Any] = {"id": 7, "list": [1, "a"], "text": "t"}
    assert frames.expand({"a": ["${id}", "${id}/${text}/${list}", "$${id}", "$${id}-${id}"], "b": 1}, values.get) == {
        "a": [7, '7/t/[1, "a"]', "${id}", "${id}-7"],
        "b": 1,
    }


@pytest.mark.parametrize(
    ("word", "value", "expected"),
    [
        (TEXT, "${id}", "7"),
        (STEPS["chunk"], "${id}", "7"),
        (STEPS["chunk"], {"text": "${id}", "message_id": "${id}"}, {"text": "7", "message_id": 7}),
        (STEPS["respond"], "${id}", 7),
        (STEPS["spawn"], {"argv": ["${id}"], "env": {"A": "${id}", "B": None}}, None),
    ],
)
def test_a_word_that_takes_a_text_gets_a_text(word: Any, value: Any, expected: Any) -> None:
    """A number that a placeholder stands for is written out where only a text is of use."""
    found = frames.expand_word(value, word, lambda _name: 7)
    assert found == (expected or {"argv": ["7"], "env": {"A": "7", "B": None}})


@pytest.mark.parametrize(
    ("path", "expected"), [("a.b", 1), ("a.c", None), ("l.1", 3), ("l.2", None), ("l.x", None), ("a.b.c", None)]
)
def test_a_part_that_is_not_there_is_null(path: str, expected: Any) -> None:
    """Mappings by key, lists by index."""
    assert frames.dig({"a": {"b": 1}, "l": [2, 3]}, path) == expected


def test_an_error_leaves_out_data_that_is_none() -> None:
    """Ours say no more than they know."""
    assert frames.error(1, "m") == {"error": {"code": 1, "message": "m"}}
    assert frames.error(1, "m", [2]) == {"error": {"code": 1, "message": "m", "data": [2]}}


@pytest.mark.parametrize(("text", "size", "expected"), [("ab", 3, "aba"), ("ab", 0, ""), ("", 5, "")])
def test_a_text_is_repeated_to_its_size(text: str, size: int, expected: str) -> None:
    """A text of nothing stays nothing."""
    frame = frames.chunk("k", {"text": text, "size": size}, "s")
    assert frame["params"]["update"]["content"]["text"] == expected


@pytest.mark.parametrize(
    ("options", "branch"),
    [
        ([{"optionId": "x", "kind": "allow_always"}], "allowed"),
        ([5, {"optionId": "x", "kind": "reject_always"}], "rejected"),
        ([{"optionId": "x"}], "rejected"),
        ([], "rejected"),
        ("nonsense", "rejected"),
    ],
)
def test_only_an_option_that_allows_allows(options: Any, branch: str) -> None:
    """Odd option lists are what a scenario may send."""
    reply = {"result": {"outcome": {"outcome": "selected", "optionId": "x"}}}
    assert frames.permission_branch(options, reply) == branch


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\ud800", b"a\xed\xa0\x80"),
        ({"text": "é"}, "é".encode()),
        ({"hex": "ff fe0a"}, b"\xff\xfe\n"),
        ({"base64": "/w=="}, b"\xff"),
        ({"frame": [1], "prefix": "Loading..."}, b"Loading...[1]\n"),
        ({"frame": {}, "end": "\r\n"}, b"{}\r\n"),
        ({"frame": {"a": 1}, "cut": 3}, b'{"a'),
    ],
)
def test_raw_bytes_are_what_the_step_says(value: Any, expected: bytes) -> None:
    """Each way to write bytes."""
    assert frames.raw(value) == expected


def test_an_odd_id_of_a_text_is_odd_too() -> None:
    """Ids of the client may be texts; the number is made up then."""
    assert frames.odd_id("x", "float") == 1.0
    assert json.dumps(frames.odd_id("x", "string")) == '"x"'
    assert frames.odd_id("x", None) == "x"
