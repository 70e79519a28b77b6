"""What the agent's words and the wire's errors mean as the end of a run."""

from typing import Any, get_args

import pytest

from acp_client.outcome.reasons import REASONS
from acp_client.outcome.result import Stage
from acp_client.protocol.errors import ConnectionClosed, FrameTooLong, MalformedAnswer, RemoteError, RequestFailed
from acp_client.session.ending import Ending, EndRun, ending_of, ending_of_timeout, ending_of_turn
from acp_client.spec import Limits

WORDS: dict[Any, tuple[str, str]] = {
    "end_turn": ("end_turn", "completed"),
    "max_tokens": ("max_tokens", "error"),
    "max_turn_requests": ("max_turn_requests", "error"),
    "refusal": ("refusal", "error"),
    "cancelled": ("cancelled_by_agent", "aborted"),
}


@pytest.mark.parametrize("word", WORDS)
def test_only_end_turn_is_completed(word: str) -> None:
    """Every other word of ACP has its own reason; a failure says something."""
    ending = ending_of_turn(word)
    assert (ending.reason, REASONS[ending.reason].status) == WORDS[word]
    assert bool(ending.message) == (word != "end_turn")
    assert (ending.stage, ending.request) == ("prompt", "session/prompt")


NO_WORDS: list[Any] = [None, "", "END_TURN", "end_turn ", "pause", 5, True, [], ["end_turn"], {}]


@pytest.mark.parametrize("word", NO_WORDS)
def test_any_other_stop_reason_is_unknown(word: Any) -> None:
    """Missing and malformed ones too; the message shows what came and what is known."""
    ending = ending_of_turn(word)
    assert ending.reason == "unknown_stop_reason"
    assert repr(word) in ending.message
    assert "max_turn_requests" in ending.message


DATA: list[Any] = [None, {}, {"details": "model X not supported"}, "text", ["a"]]


@pytest.mark.parametrize("data", DATA)
def test_an_error_answer_keeps_code_message_and_data(data: Any) -> None:
    """The message alone rarely says what was wrong."""
    ending = ending_of(RequestFailed("session/prompt", -32603, "Internal error", data), "prompt", "session/prompt")
    assert ending.reason == "agent_error"
    assert (ending.rpc_code, ending.rpc_message, ending.rpc_data) == (-32603, "Internal error", data)
    assert "session/prompt" in ending.message
    assert "Internal error" in ending.message


AUTH: list[tuple[int | None, str, str]] = [
    (-32000, "session/new", "auth_required"),
    (-32000, "session/prompt", "agent_error"),
    (-32000, "authenticate", "agent_error"),
    (-32001, "session/new", "agent_error"),
    (None, "session/new", "agent_error"),
]


@pytest.mark.parametrize(("code", "request_", "reason"), AUTH)
def test_a_login_is_wanted_only_where_acp_says_so(code: int | None, request_: str, reason: str) -> None:
    """Agents use the code for other errors as well."""
    assert ending_of(RequestFailed(request_, code, "m"), "session", request_).reason == reason


ERRORS: list[tuple[RemoteError, str, str]] = [
    (MalformedAnswer("m", "it has both"), "protocol_error", "it has both"),
    (FrameTooLong(10, b""), "limit_exceeded", "max_frame_bytes = 10"),
    (ConnectionClosed("m"), "agent_exited", "went away"),
]


@pytest.mark.parametrize(("error", "reason", "says"), ERRORS)
@pytest.mark.parametrize("stage", get_args(Stage))
def test_an_error_of_the_wire_names_the_request_that_was_open(
    error: RemoteError, reason: str, says: str, stage: Stage
) -> None:
    """And the stage that it belongs to."""
    ending = ending_of(error, stage, "session/new")
    assert (ending.reason, ending.stage, ending.request) == (reason, stage, "session/new")
    assert says in ending.message
    assert "session/new" in ending.message


def test_one_that_goes_before_it_has_said_a_word_is_asked_whether_it_speaks_acp() -> None:
    """Later it has shown that it does."""
    asked = "is it an ACP agent, and does it need an argument such as `acp` for that?"
    assert ending_of(ConnectionClosed("initialize"), "initialize", "initialize").message.endswith(asked)
    assert asked not in ending_of(ConnectionClosed("session/new"), "session", "session/new").message


@pytest.mark.parametrize("reason", ["startup_timeout", "idle_timeout", "run_timeout"])
@pytest.mark.parametrize("request_", ["session/new", None])
def test_a_timeout_names_its_limit_and_what_was_waited_for(reason: Any, request_: str | None) -> None:
    """And says how to raise it."""
    limits = Limits(startup_timeout_seconds=1.5, idle_timeout_seconds=1.5, run_timeout_seconds=1.5)
    ending = ending_of_timeout(reason, limits, "session", request_)
    assert (ending.reason, ending.stage, ending.request) == (reason, "session", request_)
    assert f"{reason}_seconds = 1.5" in ending.message
    assert f"limits.{reason}_seconds" in ending.message
    assert (request_ or "no request was open") in ending.message


def test_an_ending_can_be_raised() -> None:
    """It carries itself."""
    ending = Ending("refusal", "no")
    error = EndRun(ending)
    assert (error.ending, str(error)) == (ending, "no")
