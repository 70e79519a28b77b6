"""The answer text: verbatim, by message, in bounded memory."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.protocol.models import ImageContent, UnknownContent
from acp_client.session.text import MAX_ID_CHARS, MAX_SEGMENTS, PIECES_PER_BLOCK, AnswerText

PLENTY = 1_000_000

DELTAS = [["300", "0"], ["|-----|", "-----|"], [" a ", "\n", " b"], ["é", "\u2028", "😀"], ["ab", "ab", "ab"]]


@pytest.mark.parametrize("deltas", DELTAS)
def test_pieces_are_joined_as_they_are(deltas: list[str]) -> None:
    """Nothing is stripped, added or taken for an overlap."""
    answer = AnswerText(PLENTY)
    for delta in deltas:
        answer.add(delta, None)
    assert answer.text() == "".join(deltas)
    assert [message.text for message in answer.messages()] == ["".join(deltas)]


def test_text_can_be_asked_for_while_it_grows() -> None:
    """Once and again, and after very many pieces."""
    answer = AnswerText(PLENTY)
    for number in range(PIECES_PER_BLOCK * 2 + 1):
        answer.add(str(number % 10), None)
        if number == PIECES_PER_BLOCK + 5:
            assert len(answer.text()) == number + 1
    assert answer.text() == "".join(str(number % 10) for number in range(PIECES_PER_BLOCK * 2 + 1))
    assert answer.messages()[0].text == answer.text()


# What is added: (text, id) or None for a tool call between; then the messages: (id, text).
BOUNDARIES: dict[str, tuple[list[tuple[str, str | None] | None], list[tuple[str | None, str]]]] = {
    "nothing": ([], []),
    "no ids": ([("a", None), ("b", None)], [(None, "ab")]),
    "another id": ([("a", "1"), ("b", "2")], [("1", "a"), ("2", "b")]),
    "no ids and a tool call": ([("a", None), None, ("b", None)], [(None, "a"), (None, "b")]),
    "a tool call before anything": ([None, ("a", None), ("b", None)], [(None, "ab")]),
    "a tool call inside of a message with an id": ([("a", "1"), None, ("b", "1")], [("1", "ab")]),
    "no id after an id": ([("a", "1"), ("b", None)], [("1", "ab")]),
    "no id after an id and a tool call": ([("a", "1"), None, ("b", None)], [("1", "a"), (None, "b")]),
    "an id after none": ([("a", None), ("b", "1")], [(None, "a"), ("1", "b")]),
    "an id that comes back": ([("a", "1"), ("b", "2"), ("c", "1")], [("1", "ac"), ("2", "b")]),
    "an id that comes back after a call": ([("a", "1"), None, ("b", None), ("c", "1")], [("1", "ac"), (None, "b")]),
    "a call is used up": ([("a", "1"), None, ("b", "1"), ("c", None)], [("1", "abc")]),
    "an empty id": ([("a", ""), ("b", "1")], [("", "a"), ("1", "b")]),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_a_message_ends_where_another_id_comes_or_without_ids_after_a_tool_call(name: str) -> None:
    """All text stays in wire order, whatever the messages are."""
    added, expected = BOUNDARIES[name]
    answer = AnswerText(PLENTY)
    for one in added:
        if one is None:
            answer.break_message()
        else:
            answer.add(*one)
    assert [(message.id, message.text) for message in answer.messages()] == expected
    assert answer.text() == "".join(one[0] for one in added if one is not None)


LIMITS: list[tuple[int, list[str], str, bool]] = [
    (3, ["abc"], "abc", False),
    (3, ["ab", "cd", "ef"], "abc", True),
    (1, ["é"], "", True),
    (3, ["é", "é", "x"], "é", True),
    (5, ["😀", "😀"], "😀", True),
    (4, ["😀"], "😀", False),
]


@pytest.mark.parametrize(("limit", "pieces", "expected", "cut"), LIMITS)
def test_text_is_cut_at_the_limit_between_characters(
    limit: int,
    pieces: list[str],
    expected: str,
    cut: bool,  # noqa: FBT001  # an expectation
) -> None:
    """Bytes of UTF-8 count, and what was cut is flagged."""
    answer = AnswerText(limit)
    for piece in pieces:
        answer.add(piece, None)
    assert (answer.text(), answer.truncated) == (expected, cut)


@given(st.integers(1, 40), st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=12))
def test_the_limit_always_holds_and_what_is_kept_is_a_beginning(limit: int, pieces: list[str]) -> None:
    """However the text is cut into pieces."""
    answer = AnswerText(limit)
    for piece in pieces:
        answer.add(piece, None)
    assert len(answer.text().encode()) <= limit
    assert "".join(pieces).startswith(answer.text())
    assert answer.truncated == (len("".join(pieces).encode()) > limit)


def test_blocks_stand_in_their_message_as_models() -> None:
    """One that does not fit its own kind is kept as an unknown one; all can be written as they came."""
    blocks: list[dict[str, Any]] = [
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "image", "data": 5},
        {"type": "hologram", "depth": 3},
    ]
    answer = AnswerText(PLENTY)
    answer.add("see ", "1")
    for block in blocks:
        answer.add_block(block, 10, "1")
    answer.add("this", "1")
    (message,) = answer.messages()
    assert message.text == "see this"
    assert [type(block) for block in message.blocks] == [ImageContent, UnknownContent, UnknownContent]
    assert message.model_dump(mode="json")["blocks"] == blocks


def test_a_block_over_the_limit_is_left_out_and_flagged() -> None:
    """Text after it still fits."""
    answer = AnswerText(10)
    answer.add_block({"type": "image"}, 11, None)
    answer.add("text", None)
    assert answer.truncated
    assert answer.text() == "text"
    assert answer.messages()[0].blocks == ()


def test_an_answer_is_something_once_it_holds_text_or_a_block() -> None:
    """Asking for the text changes nothing of it."""
    answer = AnswerText(100)
    assert not answer
    answer.add("", None)
    assert not answer
    assert answer.text() == ""
    answer.add_block({"type": "x"}, 5, None)
    assert answer
    texts = AnswerText(100)
    texts.add("a", None)
    assert texts
    assert texts.text() == "a"
    assert texts


def test_a_flood_of_messages_is_bounded_and_loses_no_text() -> None:
    """After so many changes all text belongs to the last message; ids are cut."""
    answer = AnswerText(10_000_000)
    for number in range(MAX_SEGMENTS + 5):
        answer.add("x", f"{number}" + "i" * 1000)
    assert len(answer.text()) == MAX_SEGMENTS + 5
    messages = answer.messages()
    assert len(messages) == MAX_SEGMENTS
    assert messages[-1].text == "x" * 6
    assert {len(message.id or "") for message in messages} == {MAX_ID_CHARS}


KEPT: dict[str, list[tuple[str, str | None] | None]] = {
    "one": [("a", "1"), ("b", "1")],
    "another": [("a", "1"), ("b", "2"), ("c", "2")],
    "one that comes back": [("a", "1"), ("b", "2"), ("c", "1")],
    "both in turn": [("a", "1"), ("b", "2"), ("c", "1"), ("d", "2"), ("e", "1"), ("f", "2")],
    "no ids": [("a", None), None, ("b", None), None, ("c", None), ("d", None)],
    "nothing": [],
}


@pytest.mark.parametrize("name", KEPT)
def test_the_last_message_alone_is_the_last_of_all(name: str) -> None:
    """What is kept is what `messages[-1]` would be, and how many were before it is known."""
    everything, last = AnswerText(PLENTY), AnswerText(PLENTY, last_only=True)
    for answer in (everything, last):
        for added in KEPT[name]:
            answer.break_message() if added is None else answer.add(*added)
    assert last.messages() == everything.messages()[-1:]
    assert last.text() == "".join(message.text for message in last.messages())
    assert last.omitted == max(0, len(everything.messages()) - 1)
    assert everything.omitted == 0


def test_what_is_let_go_takes_no_room() -> None:
    """The limit is for what is kept: a message, not the run."""
    answer = AnswerText(10, last_only=True)
    for number in range(100):
        answer.add("12345678", str(number))
        answer.add("x" * 2, str(number - 1))  # goes on with one that was let go
        answer.add("90", str(number))
    assert (answer.text(), answer.truncated) == ("1234567890", False)
    answer.add("more", "99")
    assert (answer.text(), answer.truncated) == ("1234567890", True)


def test_blocks_go_with_their_message() -> None:
    """An image of a message before is not held."""
    answer = AnswerText(PLENTY, last_only=True)
    for number in range(3):
        answer.add_block({"type": "image", "data": str(number), "mimeType": "image/png"}, 10, str(number))
    (message,) = answer.messages()
    assert [getattr(block, "data", None) for block in message.blocks] == ["2"]


def test_a_turn_is_told_by_its_last_message() -> None:
    """Also where it goes on with the message of the turn before."""
    answer = AnswerText(PLENTY, last_only=True)
    answer.add("a", "1")
    answer.begin_turn()
    assert answer.turn_texts() == ("", "")
    answer.add("b", "1")
    assert answer.turn_texts() == ("b", "b")
    answer.add("c", "2")
    assert answer.turn_texts() == ("c", "c")


def test_all_who_ask_share_one_copy() -> None:
    """The answer and the result, `text` and the message; a new one only when something was added."""
    answer = AnswerText(PLENTY)
    answer.add("a" * 1000, "1")
    assert answer.text() is answer.messages()[0].text
    answer.add("b" * 1000, "2")
    text, messages = answer.text(), answer.messages()
    assert answer.text() is text
    assert answer.messages() is messages
    answer.add("c", "2")
    assert answer.text() == text + "c"
    assert answer.messages()[1].text == "b" * 1000 + "c"
