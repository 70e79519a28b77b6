from collections.abc import Callable
from typing import Any

import pytest

from tests.agent.scripted.child import Child, text_of
from tests.support.frames import check_frame

Play = Callable[..., Child]


@pytest.mark.parametrize("request_id", [1, "x", None, 2**53 + 1])
def test_an_id_is_echoed_with_its_type(play: Play, request_id: Any) -> None:
    """Whole numbers, texts and null are ids."""
    child = play()
    child.send({"jsonrpc": "2.0", "id": request_id, "method": "initialize", "params": {"protocolVersion": 1}})
    found = child.frame()
    assert found["id"] == request_id
    assert type(found["id"]) is type(request_id)
    assert "result" in found


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not json", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"5", -32600),
        (b"null", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', -32600),
        (b"{}", -32600),
        (b'{"id":1}', -32600),
        (b'{"id":true,"method":"initialize"}', -32600),
        (b'{"id":1.5,"method":"initialize"}', -32600),
        (b'{"id":[1],"method":"initialize"}', -32600),
        (b'{"id":1,"method":5}', -32600),
    ],
)
def test_what_is_no_message_is_answered_once_and_survived(play: Play, line: bytes, code: int) -> None:
    """One error with id null for a bad line; the next request is answered."""
    child = play()
    child.send_bytes(line + b"\n")
    found = child.frame()
    assert (found["id"], found["error"]["code"]) == (None, code)
    assert child.initialize()["protocolVersion"] == 1


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b'{"jsonrpc":"2.0","method":"_vendor/happened"}',
        b'{"jsonrpc":"2.0","method":"$/cancel_request","params":[1]}',
        b'{"jsonrpc":"2.0","id":99,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
    ],
)
def test_what_needs_no_answer_gets_none(play: Play, line: bytes) -> None:
    """Blank lines, unknown notifications, answers to nothing."""
    child = play()
    child.send_bytes(line + b"\n")
    child.initialize()
    assert child.end() == 0


def test_an_unknown_method_is_not_found_and_harms_nothing(play: Play) -> None:
    """Custom requests get an answer too."""
    child = play()
    child.initialize()
    for method in ("_vendor/x", "session/unknown"):
        assert child.call(method)["error"]["code"] == -32601
    assert child.call("session/new", cwd="/", mcpServers=[])["result"] == {"sessionId": "s-1"}


def test_params_that_are_no_mapping_are_none(play: Play) -> None:
    """Positional params are not part of the protocol."""
    child = play()
    child.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": [1]})
    assert child.frame()["error"]["code"] == -32602


def test_a_large_frame_in_many_reads_is_one_frame(play: Play) -> None:
    """A prompt of two megabytes, echoed while the client still writes."""
    child = play(prompt=[{"chunk": "${prompt}"}])
    child.open()
    text = "é" * 1_000_000
    assert text_of(child.turn(text)) == text


def test_a_second_prompt_is_refused_and_the_first_unharmed(play: Play) -> None:
    """One prompt at a time in a session, several sessions at a time."""
    child = play(prompts=[[{"permission": {}}, {"chunk": "first"}], [{"chunk": "other"}]])
    child.open()
    child.call("session/new", cwd="/", mcpServers=[])
    first = child.prompt()
    asked = child.frame()
    second = child.prompt()
    assert child.frame()["error"]["code"] == -31001
    assert text_of(child.turn(session="s-2")) == "other"
    child.select(asked["id"], "allow")
    assert text_of(child.until(first)) == "first"
    assert second != first


def test_a_prompt_for_an_unknown_session_is_refused(play: Play) -> None:
    """No step of the scenario is played for it."""
    child = play(prompt=[{"chunk": "a"}])
    child.open()
    (refused,) = child.turn(session="other")
    assert refused["error"]["code"] == -32002


def test_a_hook_plays_before_and_after_its_answer(play: Play) -> None:
    """Updates for a session before its id is known, and after."""
    child = play(new_session={"before": [{"chunk": "early"}], "add": {"x": 1}, "after": [{"chunk": "late"}]})
    child.initialize()
    opened = child.request("session/new", cwd="/", mcpServers=[])
    early, answer = child.until(opened)
    late = child.frame()
    assert early["params"]["sessionId"] == late["params"]["sessionId"] == "s-1"
    assert answer["result"] == {"sessionId": "s-1", "x": 1}
    assert text_of([early, late]) == "earlylate"


@pytest.mark.parametrize("session_id", ["own", 5, ""])
def test_a_session_id_of_the_scenario_s_own_is_known(play: Play, session_id: Any) -> None:
    """What the answer names is a session, and placeholders know it before."""
    child = play(
        new_session={"before": [{"chunk": "a"}], "result": {"sessionId": session_id}},
        prompt=[{"chunk": "b"}],
    )
    child.initialize()
    early, _ = child.until(child.request("session/new", cwd="/", mcpServers=[]))
    assert early["params"]["sessionId"] == session_id
    assert text_of(child.turn(session=session_id)) == "b"


def test_a_step_can_answer_a_hook_and_open_the_session(play: Play) -> None:
    """`respond` is the answer there too."""
    child = play(new_session=[{"respond": {"sessionId": "own"}}, {"chunk": "after"}], prompt=[{"chunk": "b"}])
    assert child.open() == "own"
    assert child.frame()["params"]["sessionId"] == "own"
    assert text_of(child.turn(session="own")) == "b"


def test_an_agent_that_says_nothing_special_passes_the_checks_of_frames(play: Play) -> None:
    """All answers of the default agent fit the protocol's schema."""
    capabilities = {"loadSession": True, "sessionCapabilities": {"list": {}, "close": {}}}
    child = play(capabilities=capabilities, prompt=[{"thought": "t"}, {"plan": ["p"]}, {"chunk": "c"}])
    calls: list[tuple[str, dict[str, Any]]] = [
        ("initialize", {"protocolVersion": 1}),
        ("session/new", {"cwd": "/", "mcpServers": []}),
        ("session/list", {}),
        ("session/load", {"sessionId": "s-9", "cwd": "/", "mcpServers": []}),
        ("session/prompt", {"sessionId": "s-9", "prompt": [{"type": "text", "text": "a"}]}),
        ("session/close", {"sessionId": "s-1"}),
    ]
    for method, params in calls:
        for frame in child.until(child.request(method, **params)):
            check_frame(frame, direction="agent", method=method if "id" in frame else None)
