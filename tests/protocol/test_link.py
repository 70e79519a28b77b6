"""The state machine of one connection: what is legal when, and that nothing odd is believed or fatal."""

import json
from typing import Any

import pytest

from acp_client.protocol.errors import ConnectionClosed, LocalError
from acp_client.protocol.link import MAX_OUR_REQUESTS, MAX_THEIR_REQUESTS, Link
from acp_client.protocol.states import (
    CancelReceived,
    ErrorReceived,
    FrameDropped,
    MalformedReceived,
    NoiseReceived,
    OurRequest,
    OverlongReceived,
    RequestLost,
    RequestReceived,
    ResultReceived,
    TheirRequest,
)


def line(**frame: Any) -> bytes:
    """A frame of the other side."""
    return json.dumps({"jsonrpc": "2.0"} | frame).encode() + b"\n"


def ask(request_id: Any, method: str = "m") -> bytes:
    """A request of the other side."""
    return line(id=request_id, method=method, params={})


def asked(link: Link, request_id: Any = 7) -> TheirRequest:
    """Their request, received."""
    (event,) = link.receive(ask(request_id))
    assert isinstance(event, RequestReceived)
    assert not event.refused
    return event.request


def opened(link: Link, method: str = "m") -> OurRequest:
    """Our request, sent."""
    request, frame = link.request(method, {})
    assert json.loads(frame) == {"jsonrpc": "2.0", "id": request.id, "method": method, "params": {}}
    return request


# ---- our requests and their answers


def test_our_ids_are_integers_that_never_come_twice() -> None:
    """Answered ones included."""
    link = Link()
    ids = []
    for _ in range(3):
        request = opened(link)
        ids.append(request.id)
        link.receive(line(id=request.id, result={}))
    assert len(set(ids)) == 3
    assert all(type(one) is int for one in ids)


WRONG_IDS = ["1", True, 1.0, 999, None, [1], {"a": 1}, -1]


@pytest.mark.parametrize("wrong", WRONG_IDS, ids=repr)
def test_an_answer_with_another_id_than_asked_is_dropped(wrong: Any) -> None:
    """`True == 1 == 1.0` in a dict, and a list cannot even be looked up: the type counts too."""
    link = Link()
    request = opened(link)
    assert request.id == 1
    (event,) = link.receive(line(id=wrong, result={"sessionId": "wrong"}))
    assert isinstance(event, FrameDropped)
    assert event.id == wrong
    assert request.state == "pending"
    assert link.receive(line(id=1, result=5)) == [ResultReceived(request, 5)]


def test_a_second_answer_is_dropped() -> None:
    """The first one counts."""
    link = Link()
    request = opened(link)
    first, second = link.receive(line(id=1, result="a") + line(id=1, error={"code": 1, "message": "b"}))
    assert first == ResultReceived(request, "a")
    assert isinstance(second, FrameDropped)
    assert request.state == "settled"


ANSWERS: dict[str, tuple[dict[str, Any], Any]] = {
    "a result": ({"result": {"a": 1}}, ({"a": 1},)),
    "a null result": ({"result": None}, (None,)),
    "a result beside a null error": ({"result": 1, "error": None}, (1,)),
    "an error": ({"error": {"code": -3, "message": "m", "data": [1]}}, (-3, "m", [1])),
    "an error beside a null result": ({"result": None, "error": {"code": -3, "message": "m"}}, (-3, "m", None)),
    "an error without a code": ({"error": {"message": "m"}}, (None, "m", None)),
    "an error with a bad code": ({"error": {"code": True, "message": 5}}, (None, "no message", None)),
    "an error with a code in a string": ({"error": {"code": "-3", "message": "m"}}, (None, "m", None)),
    "an error that is a word": ({"error": "boom"}, (None, "boom", None)),
    "both": ({"result": {}, "error": {"code": 1, "message": "m"}}, "both"),
    "neither": ({}, "neither"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_a_result_or_an_error_or_malformed(name: str) -> None:
    """Exactly one of result and error; null beside the other counts as absent."""
    frame, expected = ANSWERS[name]
    link = Link()
    request = opened(link)
    (event,) = link.receive(line(id=1, **frame))
    match event:
        case ResultReceived():
            assert (event.result,) == expected
        case ErrorReceived():
            assert (event.code, event.message, event.data) == expected
        case MalformedReceived():
            assert expected in event.detail
        case _:
            pytest.fail(repr(event))
    assert event.request is request
    assert request.state == "settled"


def test_a_cancelled_request_of_ours_is_still_answered() -> None:
    """After `$/cancel_request` the other side owes an answer; cancelling twice is no fault, after the answer it is."""
    link = Link()
    request = opened(link)
    for _ in range(2):
        frame = json.loads(link.cancel(request))
        assert frame == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}
    assert request.state == "cancelling"
    assert link.receive(line(id=1, result={})) == [ResultReceived(request, {})]
    with pytest.raises(LocalError, match="cannot cancel while settled"):
        link.cancel(request)


def test_too_many_requests_of_ours_are_an_error_of_ours() -> None:
    """A leak shows as an error and not as growth; an answer makes room."""
    link = Link()
    for _ in range(MAX_OUR_REQUESTS):
        link.request("m", {})
    with pytest.raises(LocalError, match="open already"):
        link.request("m", {})
    link.receive(line(id=1, result={}))
    opened(link)


# ---- their requests and our answers


def test_their_ids_and_ours_do_not_meet() -> None:
    """The same number both ways is legal."""
    link = Link()
    ours = opened(link)
    theirs = asked(link, ours.id)
    assert json.loads(link.respond(theirs, {}))["id"] == ours.id
    assert ours.state == "pending"
    assert link.receive(line(id=ours.id, result=1)) == [ResultReceived(ours, 1)]


@pytest.mark.parametrize("request_id", ["b3c1-9", 0, None, -5, 2**53 + 1, ""])
def test_their_id_is_echoed_with_its_type(request_id: Any) -> None:
    """In results and in errors."""
    link = Link()
    result = json.loads(link.respond(asked(link, request_id), {}))
    error = json.loads(link.respond_error(asked(link, request_id), -1, "no", {"x": 1}))
    for answer in (result, error):
        assert (answer["id"], type(answer["id"])) == (request_id, type(request_id))
    assert error["error"] == {"code": -1, "message": "no", "data": {"x": 1}}


def test_a_request_of_theirs_is_answered_once() -> None:
    """A second answer is our own bug."""
    link = Link()
    request = asked(link)
    link.respond(request, {})
    with pytest.raises(LocalError, match="cannot respond while settled"):
        link.respond(request, {})
    with pytest.raises(LocalError):
        link.respond_error(request, 1, "x")
    with pytest.raises(LocalError):
        link.give_up(request)


def test_a_request_of_theirs_that_they_cancel_must_still_be_answered() -> None:
    """The id is matched with its type, and unknown ids are ignored."""
    link = Link()
    request = asked(link, 1)
    for unknown in ("1", True, 1.0, None, [1], 2):
        assert link.receive(line(method="$/cancel_request", params={"requestId": unknown})) == []
    assert link.receive(line(method="$/cancel_request")) == []
    cancel = line(method="$/cancel_request", params={"requestId": 1})
    null_id = line(method="$/cancel_request", params={"requestId": 1}, id=None)
    assert link.receive(cancel) == link.receive(null_id) == [CancelReceived(request)]
    assert request.state == "cancelling"
    assert json.loads(link.respond(request, {}))["id"] == 1
    assert link.receive(cancel) == []


NULL_IDS = ["session/update", "session/cancel", "elicitation/complete"]


@pytest.mark.parametrize("method", NULL_IDS)
def test_a_notification_with_a_null_id_is_a_notification(method: str) -> None:
    """Some peers write one; nothing is owed for it. A request may have a null id."""
    frame: dict[str, Any] = {"jsonrpc": "2.0", "id": None, "method": method, "params": {}}
    assert Link().receive(line(**frame)) == [frame]
    (event,) = Link().receive(ask(None, "session/prompt"))
    assert isinstance(event, RequestReceived)


def test_one_request_more_than_we_hold_is_refused_and_can_be_answered() -> None:
    """Answers make room again."""
    link = Link()
    held = [asked(link, number) for number in range(MAX_THEIR_REQUESTS)]
    (event,) = link.receive(ask("more"))
    assert isinstance(event, RequestReceived)
    assert event.refused
    link.respond_error(event.request, -1, "too many")
    link.respond(held[0], {})
    asked(link, "again")


def test_a_request_without_params_has_empty_ones() -> None:
    """And keeps its raw object."""
    (event,) = Link().receive(b'{"jsonrpc":"2.0","id":1,"method":"m","params":null,"x":2}\n')
    assert isinstance(event, RequestReceived)
    assert event.request.params == {}
    assert event.request.raw["x"] == 2


# ---- limits and the end


def test_an_update_over_the_limit_is_dropped_and_anything_else_is_told() -> None:
    """The head decides; the next frame is read."""
    link = Link(max_frame_bytes=100)
    update = line(method="session/update", params={"pad": "x" * 200})
    answer = line(id=1, result={"pad": "x" * 200})
    first, second, third = link.receive(update + answer + line(method="m"))
    assert first == FrameDropped("an update over max_frame_bytes", "session/update", None)
    assert second == OverlongReceived(answer[:-1])
    assert third == {"jsonrpc": "2.0", "method": "m"}


def test_a_last_frame_without_a_newline_counts() -> None:
    """And what is then still open is lost."""
    link = Link()
    first, second = opened(link), opened(link)
    assert link.receive(line(id=1, result=3).rstrip()) == []
    assert link.receive_eof() == [ResultReceived(first, 3), RequestLost(second)]
    assert second.state == "settled"
    assert link.receive_eof() == []


def test_a_frame_that_the_end_cut_is_noise_marked_as_unfinished() -> None:
    """A line that was whole is not."""
    (whole_line,) = Link().receive(b'{"jsonrpc":\n')
    link = Link()
    link.receive(b'{"jsonrpc":')
    (cut,) = link.receive_eof()
    assert isinstance(whole_line, NoiseReceived)
    assert isinstance(cut, NoiseReceived)
    assert (whole_line.unfinished, cut.unfinished) == (False, True)


def test_after_their_eof_nothing_can_be_asked_but_answers_still_go() -> None:
    """They may still read."""
    link = Link()
    request = asked(link)
    link.receive_eof()
    with pytest.raises(ConnectionClosed) as caught:
        link.request("session/prompt", {})
    assert not caught.value.sent
    assert link.can_send
    assert link.respond(request, {})
    assert link.notify("m", {})


def test_after_our_eof_nothing_can_be_sent_and_their_frames_are_still_read() -> None:
    """A late update is no fault."""
    link = Link()
    answered, unanswered = asked(link, 1), asked(link, 2)
    mine = opened(link)
    link.send_eof()
    assert not link.can_send
    (noise,) = link.receive(b"x\n")
    assert isinstance(noise, NoiseReceived)
    for send in (
        lambda: link.request("m", {}),
        lambda: link.notify("m", {}),
        lambda: link.cancel(mine),
        lambda: link.respond(answered, {}),
        lambda: link.reject(noise),
    ):
        with pytest.raises(ConnectionClosed) as caught:
            send()
        assert not caught.value.sent
    link.give_up(unanswered)
    assert unanswered.state == "settled"
    assert link.receive(line(method="$/cancel_request", params={"requestId": 2})) == []
    assert link.receive(line(id=1, result=4)) == [ResultReceived(mine, 4)]


def test_a_repr_shows_the_state() -> None:
    """For logs and assertion messages."""
    link = Link()
    theirs, ours = asked(link, "x"), opened(link)
    assert repr(link) == "<Link open, 1 of our requests open, 1 of theirs>"
    assert repr(theirs) == "<their request 'x' 'm' open>"
    assert repr(ours) == "<our request 1 m pending>"
