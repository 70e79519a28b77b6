"""Updates that repeat an earlier one but for their text: the same events as if each line had been decoded."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.protocol.framing import MAX_LEARNT_BYTES, MAX_PENALTY
from acp_client.protocol.link import Link

ODD_BYTES = [
    b"\x00",
    b"\t",
    b"\x1f",
    b"\x7f",
    b"\xff",
    b"\xc3",
    b"\xa9",
    b"\xed\xa0\x80",
    b'"',
    b"\\",
    b"\\n",
    b"\\ud83d",
    b"\r",
]


def frame(text: str = "hello", kind: str = "agent_message_chunk", **more: Any) -> bytes:
    """One update, as an agent writes it."""
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}} | more
    params = {"sessionId": "s", "update": update}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()


def decoded(lines: list[bytes]) -> list[Any]:
    """What the lines mean, each to a connection that has seen nothing before."""
    return [event for line in lines for event in Link().receive(line + b"\n")]


def taken(link: Link, *lines: bytes) -> list[Any]:
    """What the lines mean to this connection, as they leave it: texts that repeat are a list."""
    return list(link.receive_each(b"".join(line + b"\n" for line in lines)))


def test_what_differs_in_its_text_alone_is_not_decoded() -> None:
    """It leaves as so many texts."""
    link = Link()
    first, texts = taken(
        link, frame("one"), frame("two"), frame(""), frame("ü 🙂 \x7f".encode().decode()).replace(b" ", b"")
    )[:2]
    assert first["params"]["update"]["content"]["text"] == "one"
    assert texts == ["two", ""]
    assert taken(link, frame("three")) == [["three"]]


def test_a_list_keeps_its_place_among_other_events() -> None:
    """Wire order."""
    link = Link()
    request = b'{"jsonrpc":"2.0","id":1,"method":"m"}'
    events = taken(link, frame("a"), frame("b"), request, frame("c"), b"noise", frame("d"), frame("e"))
    assert [event if isinstance(event, list) else type(event).__name__ for event in events] == [
        "dict",
        ["b"],
        "RequestReceived",
        ["c"],
        "NoiseReceived",
        ["d", "e"],
    ]


@pytest.mark.parametrize(
    "other",
    [
        frame('a "quoted" word'),
        frame("two\nlines"),
        frame("ü"),  # json.dumps writes an escape
        frame("b", kind="agent_thought_chunk"),
        frame("b", messageId="m-1"),
        frame("b").replace(b'"s"', b'"t"'),
        frame("b").replace(b'"2.0"', b'"1.0"'),
        frame("b") + b" ",
        frame("b")[:-1],
        frame("b")[1:],
        frame("b").replace(b'"b"', b""),
        frame("b").replace(b'"b"', b'"'),
        frame("b").replace(b'"b"', b'"b","x":"y"'),
        *(frame("x").replace(b'"x"', b'"' + odd + b'"') for odd in ODD_BYTES),
    ],
    ids=repr,
)
def test_whatever_else_a_line_holds_is_decoded(other: bytes) -> None:
    """Between repetitions, before them and after them."""
    lines = [frame("a"), other, frame("b"), other, frame("c"), frame("d"), other]
    assert Link().receive(b"".join(line + b"\n" for line in lines)) == decoded(lines)


def test_the_text_is_found_where_the_same_words_stand_elsewhere_too() -> None:
    """In a key, in an id, in a value that is written before it."""
    for word in ("text", "s", "content", "2.0", "agent_message_chunk"):
        lines = [frame(word), frame("b"), frame(word), frame("c")]
        assert Link().receive(b"\n".join(lines) + b"\n") == decoded(lines)
    echoed = [frame("a", _meta={"text": "a"}), frame("b", _meta={"text": "a"}), frame("a", _meta={"text": "b"})]
    assert Link().receive(b"\n".join(echoed) + b"\n") == decoded(echoed)


def test_what_is_large_or_never_like_another_is_looked_at_ever_less_often() -> None:
    """Looking costs as much as decoding once more."""
    link = Link()
    taken(link, frame("a" * MAX_LEARNT_BYTES))
    assert link.repeats.message == {}
    looks = 0
    for number in range(3 * MAX_PENALTY):
        before = link.repeats.message
        taken(link, frame("a", messageId=f"m-{number}"))
        looks += link.repeats.message is not before
    assert 5 < looks < 16
    assert taken(link, *[frame("a")] * (MAX_PENALTY + 2))[-1] != frame("a")


def test_an_update_that_came_out_of_repeats_can_be_changed_by_its_owner() -> None:
    """It is no part of what others repeat."""
    link = Link()
    first, *_ = link.receive(frame("a") + b"\n")
    assert isinstance(first, dict)
    first["params"]["update"]["content"]["text"] = "changed"
    first["params"]["sessionId"] = "changed"
    assert link.receive(frame("b") + b"\n") == decoded([frame("b")])


texts = st.text(max_size=8) | st.sampled_from(["text", "a", "a", '"', "\\", "\n"])
kinds = st.sampled_from(["agent_message_chunk", "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"])
frames = st.builds(frame, texts, kinds)
unescaped = st.binary(max_size=4).filter(lambda body: b"\n" not in body)
raw = unescaped.map(lambda body: frame("@").replace(b'"@"', b'"' + body + b'"'))
others = st.sampled_from(
    [b"noise", b'{"jsonrpc":"2.0","method":"m"}', b"", frame("a", messageId="m"), frame("b") + b"\r"]
)


@given(st.lists(frames | raw | others, max_size=30), st.lists(st.integers(0, 3000), max_size=5))
def test_any_stream_means_the_same_however_it_is_cut(lines: list[bytes], cuts: list[int]) -> None:
    """Equal to decoding each line by itself."""
    wire = b"".join(line + b"\n" for line in lines)
    edges = sorted({0, len(wire), *(min(cut, len(wire)) for cut in cuts)})
    link = Link()
    events = [event for begin, end in itertools.pairwise(edges) for event in link.receive(wire[begin:end])]
    assert events == decoded(lines)
