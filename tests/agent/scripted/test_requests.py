from collections.abc import Callable
from typing import Any

import pytest

from tests.agent.scripted.child import Child, text_of

Play = Callable[..., Child]


@pytest.mark.parametrize(
    ("outcome", "branch"),
    [
        ({"outcome": "selected", "optionId": "allow"}, "allowed"),
        ({"outcome": "selected", "optionId": "reject"}, "rejected"),
        ({"outcome": "selected", "optionId": "never offered"}, "rejected"),
        ({"outcome": "cancelled"}, "cancelled"),
        ({"outcome": "hm"}, "error"),
    ],
)
def test_a_permission_branches_on_its_answer(play: Play, outcome: Any, branch: str) -> None:
    """The kind of the chosen option decides, and nothing chosen is no permission."""
    names = ("allowed", "rejected", "cancelled", "error")
    child = play(prompt=[{"permission": {"on": {name: [{"chunk": name}] for name in names}}}])
    child.open()
    prompt = child.prompt()
    asked = child.frame()
    assert asked["method"] == "session/request_permission"
    assert asked["id"] == 0
    assert [one["kind"] for one in asked["params"]["options"]] == ["allow_once", "reject_once"]
    child.reply(0, {"outcome": outcome})
    assert text_of(child.until(prompt)) == branch


@pytest.mark.parametrize("request_id", ["b3c1", 0, None, -5, 2**53 + 1, True, [1]])
def test_a_request_to_the_client_carries_any_id(play: Play, request_id: Any) -> None:
    """An id goes out in its JSON type, and its answer finds its way back."""
    child = play(
        prompt=[
            {"permission": {"id": request_id, "session": "x", "options": [], "tool_call": None}},
            {"chunk": "answered"},
        ]
    )
    child.open()
    prompt = child.prompt()
    asked = child.frame()
    assert asked["id"] == request_id
    assert type(asked["id"]) is type(request_id)
    assert asked["params"] == {"sessionId": "x", "options": [], "toolCall": None}
    child.reply(request_id, {"outcome": {"outcome": "cancelled"}})
    assert text_of(child.until(prompt)) == "answered"


def test_an_answer_with_an_id_of_another_type_is_not_the_answer(play: Play) -> None:
    """Ids are compared with their type; stray answers do no harm."""
    child = play(prompt=[{"permission": {"id": 1}}, {"chunk": "answered"}])
    child.open()
    prompt = child.prompt()
    child.frame()
    child.select("1", "allow")
    child.select(True, "allow")
    child.select(1, "allow")
    child.select(1, "allow")  # twice: the second is to nothing
    assert text_of(child.until(prompt)) == "answered"


@pytest.mark.parametrize(
    ("reply", "text"),
    [({"result": {"content": "abc"}}, "abc"), ({"error": {"code": -32601}}, "failed: -32601")],
)
def test_a_request_branches_on_result_and_error(play: Play, reply: Any, text: str) -> None:
    """The steps for the kind of answer are played, and can use it."""
    ask = {"method": "fs/read_text_file", "params": {"sessionId": "${session}"}, "save": "file"}
    on = {
        "result": [{"chunk": "${file.result.content}"}],
        "error": [{"chunk": "failed: ${file.error.code}"}],
    }
    child = play(prompt=[{"request": {**ask, "on": on}}])
    child.open()
    prompt = child.prompt()
    asked = child.frame()
    assert asked["params"] == {"sessionId": "s-1"}
    child.send({"jsonrpc": "2.0", "id": asked["id"], **reply})
    assert text_of(child.until(prompt)) == text


def test_a_request_need_not_wait_and_can_be_waited_for_later(play: Play) -> None:
    """`wait: false` plays on; `wait_answer` catches up."""
    child = play(
        prompt=[
            {"request": {"method": "_vendor/x", "wait": False, "save": "late"}},
            {"permission": {"wait": False}},
            {"chunk": "first "},
            {"wait_answer": "late"},
            {"chunk": "${late.result.a.1}"},
        ]
    )
    child.open()
    prompt = child.prompt()
    vendor, permission, chunk = child.frame(), child.frame(), child.frame()
    assert (vendor["id"], permission["id"]) == (0, 1)
    assert text_of([chunk]) == "first "
    child.reply(0, {"a": ["x", "y"]})
    assert text_of(child.until(prompt)) == "y"


def test_waiting_for_an_answer_that_was_never_asked_for_is_a_fault(play: Play) -> None:
    """A scenario that can never go on says so and ends."""
    child = play(prompt=[{"wait_answer": "nothing"}])
    child.open()
    child.prompt()
    assert child.wait() == 2
    assert b"cannot go on: wait_answer: no request was sent with `save: nothing`" in child.stderr()
