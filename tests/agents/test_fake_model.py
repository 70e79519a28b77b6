"""The fake model, by which agents that others wrote are tested, does what a script says and ends with its test."""

import json
import threading
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.fake_model import Asked, Call, FakeModel, Unfinished, fake_model, last_result

WAIT_SECONDS = 10.0
USER = {"role": "user", "content": "Do it"}


def connection(model: FakeModel, *messages: Any, tools: tuple[str, ...] = (), stream: bool = False) -> HTTPConnection:
    """A connection on which a request has been made."""
    offered = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
    place = urlsplit(model.base_url)
    made = HTTPConnection(str(place.hostname), place.port, timeout=WAIT_SECONDS)
    body = {"model": "any", "messages": [USER, *messages], "tools": offered, "stream": stream}
    made.request("POST", place.path + "/chat/completions", json.dumps(body))
    return made


def completion(model: FakeModel, *messages: Any, tools: tuple[str, ...] = ()) -> dict[str, Any]:
    """The message of an answer in one piece."""
    made = connection(model, *messages, tools=tools)
    answer = json.loads(made.getresponse().read())
    made.close()
    message: dict[str, Any] = answer["choices"][0]["message"]
    return message


def test_a_list_of_replies_follows_the_conversation_and_not_the_count_of_requests() -> None:
    """A request made anew gets the same reply, and a conversation beside it begins at the first."""
    with fake_model(["one", lambda asked: f"two of {len(asked.messages)}"]) as model:
        first = completion(model)
        assert first["content"] == completion(model)["content"] == "one"
        assert completion(model, first, USER)["content"] == "two of 3"
    assert [asked.answers for asked in model.requests] == [0, 0, 1]


def test_a_tool_is_called_by_the_last_word_of_its_name_and_its_result_can_be_said_back() -> None:
    """Whatever prefix the agent gave it; a longer word that ends alike is another tool."""
    with fake_model([Call("write", {"path": "p"}), last_result]) as model:
        said = completion(model, tools=("todowrite", "host__write", "write"))
        (call,) = said["tool_calls"]
        assert call["function"] == {"name": "host__write", "arguments": '{"path": "p"}'}
        result = {"role": "tool", "tool_call_id": call["id"], "content": [{"type": "text", "text": "written"}]}
        assert completion(model, said, result)["content"] == "written"
    assert model.tools() == {"todowrite", "host__write", "write"}


def test_a_tool_that_is_not_on_offer_is_said_in_the_answer() -> None:
    """So that the test that wanted it shows what there was."""
    with fake_model([Call("write")]) as model:
        assert completion(model, tools=("todowrite",))["content"] == "no tool 'write' among ['todowrite']"


def test_a_streamed_answer_ends_with_the_reason_the_usage_and_the_mark() -> None:
    """As the clients of such servers expect."""
    with fake_model(["PONG"]) as model:
        made = connection(model, stream=True)
        *chunks, mark = made.getresponse().read().decode().split("\n\n")[:-1]
        made.close()
    text, end, usage = (json.loads(chunk.removeprefix("data: ")) for chunk in chunks)
    assert text["choices"][0]["delta"]["content"] == "PONG"
    assert end["choices"][0]["finish_reason"] == "stop"
    assert (usage["choices"], usage["usage"]["total_tokens"], mark) == ([], 14, "data: [DONE]")


def test_an_unfinished_answer_stays_open_until_the_server_ends_and_no_thread_outlives_it() -> None:
    """The client sees what came, then the end."""
    before = threading.active_count()
    with fake_model([Unfinished("word")]) as model:
        made = connection(model, stream=True)
        response = made.getresponse()
        assert b"word" in response.readline()
        assert threading.active_count() == before + 2
    assert response.read().strip() == b""
    made.close()
    assert threading.active_count() == before


def test_a_script_that_fails_fails_the_test() -> None:
    """The agent gets an error; that alone might be taken for its own."""

    def script(asked: Asked) -> str:
        return str(asked.body["what is not there"])

    with pytest.raises(KeyError, match="what is not there"), fake_model(script) as model:  # noqa: PT012  # one thing
        made = connection(model)
        assert made.getresponse().status == 400
        made.close()
