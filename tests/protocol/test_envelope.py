"""One line, one message: what odd input becomes, and that what we write is one line of valid JSON."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.protocol import envelope
from acp_client.protocol.envelope import Invalid, Message, Noise, Request, Response, classify, encode, parse_line
from acp_client.protocol.errors import INVALID_PARAMS, INVALID_REQUEST

UPDATE = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}'
UPDATED = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s"}}


def one(line: bytes) -> Message:
    """The single message of a line."""
    (message,) = parse_line(line)
    return message


BLANK = [b"", b" ", b"\r", b"\t\r", b"\v\f"]


@pytest.mark.parametrize("line", BLANK)
def test_a_blank_line_is_nothing(line: bytes) -> None:
    """Not even noise."""
    assert parse_line(line) == []


NOISE = [b"not json", b"\xff\xfe", b"Loaded cached credentials.", b"{", b'{"jsonrpc": "2.0",', b"}{", b"{'a': 1}"]


@pytest.mark.parametrize("line", NOISE)
def test_what_is_no_json_is_noise_as_it_came(line: bytes) -> None:
    """One noise a line, with its bytes."""
    assert parse_line(line) == [Noise(line)]


INVALID: dict[bytes, tuple[Any, int]] = {
    b"5": (None, INVALID_REQUEST),
    b"null": (None, INVALID_REQUEST),
    b"true": (None, INVALID_REQUEST),
    b"[]": (None, INVALID_REQUEST),
    b'[{"jsonrpc":"2.0","method":"m"}]': (None, INVALID_REQUEST),
    b'"str"': (None, INVALID_REQUEST),
    b"NaN": (None, INVALID_REQUEST),
    b"{}": (None, INVALID_REQUEST),
    b'{"id":1}': (1, INVALID_REQUEST),
    b'{"id":[1]}': (None, INVALID_REQUEST),
    b'{"result":1}': (None, INVALID_REQUEST),
    b'{"method":"m","id":"x"}': ("x", INVALID_REQUEST),
    b'{"jsonrpc":"1.0","method":"m","id":2}': (2, INVALID_REQUEST),
    b'{"jsonrpc":2.0,"method":"m"}': (None, INVALID_REQUEST),
    b'{"jsonrpc":"2.0","method":7,"id":3}': (3, INVALID_REQUEST),
    b'{"jsonrpc":"2.0","method":null}': (None, INVALID_REQUEST),
    b'{"jsonrpc":"2.0","method":"m","id":true}': (None, INVALID_REQUEST),
    b'{"jsonrpc":"2.0","method":"m","id":1.0}': (None, INVALID_REQUEST),
    b'{"jsonrpc":"2.0","method":"m","id":{}}': (None, INVALID_REQUEST),
    b'{"jsonrpc":"2.0","method":"m","id":4,"params":[1]}': (4, INVALID_PARAMS),
    b'{"jsonrpc":"2.0","method":"m","params":"x"}': (None, INVALID_PARAMS),
}


@pytest.mark.parametrize("line", INVALID)
def test_json_that_is_no_message_says_what_to_answer(line: bytes) -> None:
    """The id where it is usable, else null, and the code of JSON-RPC."""
    message = one(line)
    assert isinstance(message, Invalid)
    assert (message.id, message.code) == INVALID[line]
    assert message.detail


IDS = [0, 1, -5, 2**53 + 1, "", "b3c1-9", "3", None]


@pytest.mark.parametrize("request_id", IDS)
def test_an_id_keeps_its_json_type(request_id: Any) -> None:
    """A string of digits stays a string; null and zero are ids."""
    frame = {"jsonrpc": "2.0", "id": request_id, "method": "m"}
    message = one(json.dumps(frame).encode())
    assert message == Request(request_id, "m", {}, frame)
    answer = json.loads(envelope.result_frame(request_id, {}))
    assert answer == {"jsonrpc": "2.0", "id": request_id, "result": {}}
    assert type(answer["id"]) is type(request_id)


def test_a_notification_is_its_own_raw_object() -> None:
    """With its unknown fields; null params are absent ones."""
    assert one(b'{"jsonrpc":"2.0","method":"m","params":null,"x":1}') == {
        "jsonrpc": "2.0",
        "method": "m",
        "params": None,
        "x": 1,
    }
    assert one(b'{"jsonrpc":"2.0","method":"m"}') == {"jsonrpc": "2.0", "method": "m"}


ANSWERS = [
    {"id": 1, "result": None},
    {"id": 1, "error": {"code": 1}},
    {"jsonrpc": "2.0", "id": 1},
    {"jsonrpc": "2.0", "id": None, "error": {}},
    {"id": [1], "result": 2},
]


@pytest.mark.parametrize("frame", ANSWERS)
def test_an_answer_is_taken_also_where_it_is_sloppy(frame: dict[str, Any]) -> None:
    """Whether it fits a request is for the link to say, so its id may be anything."""
    assert classify(frame) == Response(frame["id"], frame)


SALVAGED = {
    "text before": b"Loading..." + UPDATE,
    "text after": UPDATE + b" done",
    "text around": b"npm warn {x} " + UPDATE + b"}}}",
    "an object before that is no message": b'{"level":"info"}' + UPDATE,
    "an object before that is cut": b'{"jsonrpc":"2.0","me' + UPDATE,
    "a byte order mark": "\ufeff".encode() + UPDATE,
    "a CR": UPDATE + b"\r",
    "an invalid byte beside it": b"\xff\xfe " + UPDATE,
}


@pytest.mark.parametrize("name", SALVAGED)
def test_a_frame_is_found_in_the_line_that_it_was_glued_into(name: str) -> None:
    """One good frame, and no noise told for the rest."""
    assert parse_line(SALVAGED[name]) == [UPDATED]


def test_two_frames_on_one_line_are_two_messages_in_order() -> None:
    """Of any kind."""
    line = UPDATE + b'{"jsonrpc":"2.0","id":1,"result":{}} ' + UPDATE
    assert parse_line(line) == [UPDATED, Response(1, {"jsonrpc": "2.0", "id": 1, "result": {}}), UPDATED]


@pytest.mark.parametrize("filler", [b'{"a', b"{} ", b'{"a":1}x'])
def test_after_so_many_places_without_a_frame_a_line_is_given_up(filler: bytes) -> None:
    """A hostile line of millions of objects costs no more work than a few."""
    bound = envelope.MAX_SALVAGE_FAILURES
    assert parse_line(filler * (bound - 1) + b"x" + UPDATE) == [UPDATED]
    given_up = filler * bound + b"x" + UPDATE
    assert parse_line(given_up) == [Noise(given_up)]


def test_an_invalid_byte_inside_a_good_frame_is_replaced() -> None:
    """The frame is handled all the same."""
    message = one(b'{"jsonrpc":"2.0","method":"m","params":{"t":"a\xffb"}}')
    assert message == {"jsonrpc": "2.0", "method": "m", "params": {"t": "a\ufffdb"}}


def test_a_lone_surrogate_is_replaced_wherever_it_stands() -> None:
    """In keys, in lists, at any depth; a pair is one character."""
    message = one(b'{"jsonrpc":"2.0","method":"m","params":{"\\ud800":["\\udc80",{"x":"\\ud83d\\ude00"}],"n":1}}')
    assert message == {"jsonrpc": "2.0", "method": "m", "params": {"\ufffd": ["\ufffd", {"x": "😀"}], "n": 1}}


def test_line_separators_of_unicode_inside_a_string_are_text() -> None:
    """Raw and multi-byte, as agents send them."""
    frame = json.dumps({"jsonrpc": "2.0", "method": "m", "params": {"t": "\u2028\u2029\u0085"}}, ensure_ascii=False)
    assert one(frame.encode()) == json.loads(frame)


@pytest.mark.parametrize("depth", [150, 250, 5000, 100_000])
def test_nesting_without_end_is_no_recursion_error(depth: int) -> None:
    """A deep value that can be written again is taken, a deeper one is of no use."""
    message = one(deep(depth, method="m", params="HERE"))
    assert isinstance(message, dict) if depth < envelope.MAX_NESTING else isinstance(message, Invalid | Noise)


def deep(depth: int, **frame: Any) -> bytes:
    """A frame with so many levels in place of HERE."""
    text = json.dumps({"jsonrpc": "2.0", **frame})
    return text.encode().replace(b'"HERE"', b'{"a":' + b"[" * depth + b"]" * depth + b"}")


@pytest.mark.parametrize("glued", [b"", b"Loading..."])
@pytest.mark.parametrize("depth", [201, 202, 250, 1500, 20_000, 100_000])
def test_a_request_or_an_answer_that_is_nested_too_deeply_is_still_seen_to_be_one(depth: int, glued: bytes) -> None:
    """Whoever waits for it must not wait for ever: also where the decoders read no more, and the id comes last."""
    request = one(glued + deep(depth, method="m", params="HERE", id="r"))
    assert isinstance(request, Invalid)
    assert (request.id, request.code, request.is_request) == ("r", INVALID_PARAMS, True)
    answer = one(glued + deep(depth, result="HERE", id=1))
    assert isinstance(answer, Response)
    assert answer.raw == {"jsonrpc": "2.0", "id": 1, "result": envelope.TOO_DEEP}


TRICKY = [
    '{"a":' * 3000 + "1" + "}" * 3000,
    "[{" + r'"]]}}\\\"[[{{\u005b":[' + "[" * 3000 + '"]"' + "]" * 3000 + "]}]",
    "[" + ("[" * 3000 + "]" * 3000 + ",") * 3 + "{}]",
    "[" + '[[{"a":[]},"x"],' * 3000 + "0" + "]" * 3001,
]


@pytest.mark.parametrize("value", TRICKY)
def test_brackets_in_strings_and_between_deep_places_do_not_move_the_end_of_a_frame(value: str) -> None:
    """What is beside the deep member, and the frame after it on the line, are read as they are."""
    first = '{"jsonrpc":"2.0","id":1,"result":HERE,"x":["}"]}'.replace("HERE", value)
    answer, update = parse_line(first.encode() + UPDATE)
    assert answer == Response(1, {"jsonrpc": "2.0", "id": 1, "result": envelope.TOO_DEEP, "x": ["}"]})
    assert update == UPDATED


def test_frames_inside_of_a_frame_that_is_nested_too_deeply_are_its_content() -> None:
    """Never messages of their own: an agent may quote what somebody else wrote."""
    line = deep(3000, id=1, result=["HERE", UPDATED])
    assert [type(message) for message in parse_line(line)] == [Response]


@pytest.mark.parametrize("line", [deep(3000, id="HERE", method="m"), deep(3000, id="HERE", method="m", params={})])
def test_an_id_that_is_nested_too_deeply_is_none(line: bytes) -> None:
    """The words that stand for it are not echoed."""
    message = one(line)
    assert isinstance(message, Invalid)
    assert (message.id, message.code, message.is_request) == (None, INVALID_REQUEST, False)


@pytest.mark.parametrize("cut", [b"]" * 2000, b'"', b"", b"{" * 1000])
def test_a_deep_line_without_its_end_is_noise(cut: bytes) -> None:
    """Whatever it breaks off with."""
    line = b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 20_000 + cut
    assert parse_line(line) == [Noise(line)]


def test_a_request_without_usable_params_is_found_in_the_line_that_it_was_glued_into() -> None:
    """It is to be answered; a notification like it is not."""
    (message,) = parse_line(b'Loading...{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}')
    assert message == Invalid(7, INVALID_PARAMS, "params must be an object", message.raw)  # type: ignore[union-attr]
    line = b'Loading...{"jsonrpc":"2.0","method":"m","params":[1]}'
    assert parse_line(line) == [Noise(line)]


def test_a_line_that_is_no_object_is_no_message_whatever_its_characters() -> None:
    """Lone surrogates, which the fast decoder refuses."""
    message = one(b'["\\ud800"]')
    assert isinstance(message, Invalid)
    assert message.raw == ["\ufffd"]


def test_a_number_without_end_is_noise() -> None:
    """Python refuses to read integers of more than 4300 digits."""
    line = b'{"jsonrpc":"2.0","method":"m","params":{"a":' + b"9" * 5000 + b"}}"
    assert parse_line(line) == [Noise(line)]


@given(st.binary(max_size=200))
def test_no_bytes_make_the_parser_raise(line: bytes) -> None:
    """Each line is messages, noise or nothing."""
    parse_line(line.replace(b"\n", b""))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_any_json_value_can_be_classified(value: Any) -> None:
    """Whatever it is."""
    assert classify(value) is not None


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4))
def test_what_we_write_is_one_line_of_utf8_json(params: dict[str, Any]) -> None:
    """Surrogates, NaN and newlines in strings included."""
    frame = envelope.notification_frame("m", params)
    assert frame.endswith(b"\n")
    assert frame.count(b"\n") == 1
    decoded = json.loads(frame.decode("utf-8"), parse_constant=pytest.fail)
    assert decoded["method"] == "m"


def test_control_characters_in_a_string_are_taken_as_they_are() -> None:
    """Illegal, and sent by some agents."""
    assert one(b'{"jsonrpc":"2.0","method":"m","params":{"t":"a\tb\x00\x1bc"}}') == {
        "jsonrpc": "2.0",
        "method": "m",
        "params": {"t": "a\tb\0\x1bc"},
    }


def test_nan_and_infinities_are_written_as_null() -> None:
    """JSON has no word for them."""
    assert encode({"a": [math.nan, math.inf, -math.inf]}) == b'{"a":[null,null,null]}\n'


def test_a_lone_surrogate_in_a_prompt_is_written_as_a_replacement() -> None:
    """Beside a NaN too."""
    assert encode({"t": "\udc80", "n": math.nan}) == '{"t":"\ufffd","n":null}\n'.encode()


def test_frames_of_ours_hold_what_json_rpc_asks_for() -> None:
    """Exactly one of result and error, and no data where there are none."""
    assert json.loads(envelope.request_frame(3, "m", {})) == {"jsonrpc": "2.0", "id": 3, "method": "m", "params": {}}
    assert json.loads(envelope.result_frame("x", None)) == {"jsonrpc": "2.0", "id": "x", "result": None}
    error = {"code": -1, "message": "no"}
    assert json.loads(envelope.error_frame(None, -1, "no")) == {"jsonrpc": "2.0", "id": None, "error": error}
    full = json.loads(envelope.error_frame(1, -1, "no", [0]))
    assert full["error"] == error | {"data": [0]}


HEADS = {
    b'{"jsonrpc":"2.0","method":"session/update","params":{"x":"aaa': True,
    b'{"method":"session/update","params":{"x":"\xc3': True,
    b'{"method":"session/update","params":{"x":"\\ud83d\\u': True,
    b'{"method":"session/update","params":[1,tr': True,
    b'{"jsonrpc":"2.0","id":1,"method":"session/update","params":{"x":"aaa': False,
    b'{"jsonrpc":"2.0","id":1,"result":{"x":"aaa': False,
    b'{"jsonrpc":"2.0","method":"session/request_permission","params":{"x': False,
    b'{"params":{"x":"aaa': False,
    b"[1,2": False,
    b"aaaaaaaa": False,
}


@pytest.mark.parametrize("head", HEADS)
def test_a_cut_frame_may_be_lost_only_if_its_head_is_that_of_an_update(head: bytes) -> None:
    """Anything else may be an answer or a request."""
    assert envelope.looks_like_update(head) is HEADS[head]
