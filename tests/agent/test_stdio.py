"""An agent's stdio: the wire belongs to the protocol, whatever the agent's code does with it."""

import json
import os
import stat
from collections.abc import Callable

import pytest

from tests.agent.served import Served, soon, text_of

CAPACITY = 1024 * 1024


@pytest.mark.row("NOISE-7")
def test_stray_prints_of_the_agent_and_of_its_children_go_to_stderr(odd: Served) -> None:
    """`print`, a raw write to descriptor 1 and a child's stdout; the wire stays clean, the child's stdin is empty."""
    odd.begin()
    text, response = odd.answer("pollute the wire")
    assert text == "''"
    assert response["result"] == {"stopReason": "end_turn"}
    assert odd.end() == 0
    assert odd.rest() == []
    stderr = odd.stderr()
    assert all(said in stderr for said in (b"print the wire", b"raw the wire", b"child"))


@pytest.mark.row("LIMIT-1")
def test_a_prompt_of_five_megabytes_is_read_and_can_be_answered(start: Callable[..., Served]) -> None:
    """On one line each way."""
    echo = start("-m", "acp_agent", "echo")
    echo.begin()
    text = "é" * 2_500_000
    assert echo.answer(text) == (text, {"jsonrpc": "2.0", "id": 103, "result": {"stopReason": "end_turn"}})


BAD_LINES = [
    (b"not json", -32700),
    (b"\xff\xfe", -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": ', -32700),
    (b"[]", -32600),
    (b"5", -32600),
    (b"null", -32600),
    (b'"str"', -32600),
    (b"{}", -32600),
]


@pytest.mark.odd_frames
@pytest.mark.row("NOISE-6")
def test_each_bad_line_is_answered_once_with_a_null_id(odd: Served) -> None:
    """And the next frame is served as if nothing had been."""
    odd.initialize()
    for line, code in BAD_LINES:
        odd.send_bytes(line + b"\n\n  \n")
        answer = odd.frame()
        assert (answer["id"], answer["error"]["code"]) == (None, code), line
        assert "result" in odd.call("session/new", cwd="/", mcpServers=[]), line


@pytest.mark.odd_frames
@pytest.mark.row("NOISE-6")
def test_answers_to_nothing_are_never_answered(odd: Served) -> None:
    """Two peers that answer each other's errors would never end."""
    odd.initialize()
    odd.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "not JSON"}})
    odd.send({"jsonrpc": "2.0", "id": 7, "result": {}})
    odd.send({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}})
    assert "result" in odd.call("session/new", cwd="/", mcpServers=[])
    assert odd.end() == 0
    assert odd.rest() == []


@pytest.mark.row("DEATH-6")
def test_a_client_that_hangs_up_in_mid_stream_ends_the_agent_quietly(odd: Served) -> None:
    """No traceback, exit code 0, though its stdin stays open."""
    odd.begin_turn("stream")
    with soon():
        odd.hang_up()
        assert odd.wait() == 0
    assert odd.stderr() == b""


@pytest.mark.row("DEATH-6")
def test_a_client_that_hangs_up_while_the_agent_waits_for_it_ends_the_agent(odd: Served) -> None:
    """It notices at its next write, at the latest when stdin ends."""
    odd.begin_turn("ask")
    with soon():
        odd.hang_up()
        odd.close_stdin()
        assert odd.wait() == 0
    assert b"Traceback" not in odd.stderr()


@pytest.mark.row("DEATH-6")
def test_a_client_that_does_not_read_holds_the_agent_back_and_not_its_memory(odd: Served) -> None:
    """A full pipe stops the stream; what is cancelled meanwhile ends."""
    odd.begin_turn("stream")
    odd.cancel()
    with soon():
        odd.close_stdin()
        assert odd.wait() == 0
    unread = sum(map(len, odd.rest()))
    assert unread < CAPACITY


def test_the_client_s_end_of_a_pipe_is_left_as_it_was(start: Callable[..., Served]) -> None:
    """Others hold the same open file: it is blocking again once the agent has gone."""
    echo = start("-m", "acp_agent", "echo")
    assert echo.process.stdin is not None
    echo.begin()
    assert echo.answer("hello")[0] == "hello"
    fd = echo.process.stdin.fileno()
    assert stat.S_ISFIFO(os.fstat(fd).st_mode)
    assert os.get_blocking(fd)
    assert echo.end() == 0


@pytest.mark.row("DEATH-5")
def test_stdin_may_be_a_file(start: Callable[..., Served]) -> None:
    """`agent < requests` is answered in full and exits."""
    echo = start("-m", "acp_agent", "echo")
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
    ]
    echo.send_bytes(b"\n".join(json.dumps(one).encode() for one in requests))
    assert echo.end() == 0
    answers = [json.loads(line) for line in echo.rest()]
    assert [one["id"] for one in answers] == [1, 2]
    assert all("result" in one for one in answers)
    assert text_of(answers) == ""
