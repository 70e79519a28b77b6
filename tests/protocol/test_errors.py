"""Errors say what failed and whose fault it was."""

import pytest

from acp_client.protocol import errors
from acp_client.protocol.errors import (
    AcpError,
    ConnectionClosed,
    FrameTooLong,
    LocalError,
    MalformedAnswer,
    RemoteError,
    RequestFailed,
    RpcError,
)

REMOTE = {
    "an error answer": (
        RequestFailed("session/new", -32603, "Internal error", {"a": 1}),
        "session/new: Internal error",
    ),
    "an answer of no use": (MalformedAnswer("session/new", "it is null"), "answer to session/new: it is null"),
    "a frame that is too long": (FrameTooLong(10, b"{"), "max_frame_bytes = 10"),
    "a lost request": (ConnectionClosed("session/prompt"), "closed before session/prompt was answered"),
    "a lost connection": (ConnectionClosed(), "the connection is closed"),
}


@pytest.mark.parametrize("name", REMOTE)
def test_what_the_other_side_did_is_a_remote_error_that_names_it(name: str) -> None:
    """One `except RemoteError` catches all of them, and nothing that is our own fault."""
    error, says = REMOTE[name]
    assert isinstance(error, RemoteError)
    assert isinstance(error, AcpError)
    assert not isinstance(error, LocalError)
    assert says in str(error)


def test_an_error_keeps_what_it_was_made_of() -> None:
    """Callers look at fields, not at messages."""
    failed = RequestFailed("m", None, "no message", [1])
    assert (failed.method, failed.code, failed.message, failed.data) == ("m", None, "no message", [1])
    malformed = MalformedAnswer("m", "why")
    assert (malformed.method, malformed.detail) == ("m", "why")
    long = FrameTooLong(5, b"head")
    assert (long.limit_bytes, long.head) == (5, b"head")


def test_a_closed_connection_says_whether_a_byte_can_have_gone() -> None:
    """Assume that it was sent unless it is known that it was not."""
    assert ConnectionClosed("m").sent
    assert not ConnectionClosed("m", sent=False).sent


def test_what_a_handler_raises_for_the_wire_is_neither_side_s_fault() -> None:
    """It is an answer, with code, message and data as given."""
    error = RpcError(-1, "no", {"why": "x"})
    assert (error.code, error.message, error.data) == (-1, "no", {"why": "x"})
    assert str(error) == "no (-1)"
    assert not isinstance(error, LocalError | RemoteError)


def test_our_own_codes_are_none_that_json_rpc_or_acp_define() -> None:
    """A client must not mistake "busy" for "log in"."""
    ours = {errors.SESSION_BUSY, errors.TOO_MANY_REQUESTS, errors.NOT_INITIALIZED}
    taken = {-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002}
    assert len(ours) == 3
    assert not ours & taken
    assert all(-32099 <= code <= -32000 for code in ours)
