"""The checker of frames that other tests rely on: it passes good frames, and it can fail."""

from typing import Any

import pytest

from tests.support import frames
from tests.support.frames import check_frame

TEXT = {"type": "text", "text": "hi"}


def call(method: str, params: Any = None, **more: Any) -> dict[str, Any]:
    """A notification, or with an id a request."""
    return {"jsonrpc": "2.0", "method": method, "params": {} if params is None else params, **more}


def update(name: str, /, **fields: Any) -> dict[str, Any]:
    """A `session/update`."""
    return call("session/update", {"sessionId": "s", "update": {"sessionUpdate": name, **fields}})


GOOD_FROM_AGENT = [
    call("_acme/do", {"x": 1}, id=1),
    call("_acme/did", {"x": 1}),
    call("$/cancel_request", {"requestId": 1}),
    update("agent_message_chunk", content=TEXT),
    update("tool_call", toolCallId="c", title="t", name="bash", rawInput={"a": None}),
    update("notice", severity="odd", title="T", _meta={}),
    update("compaction_update", compactionId="k", status="completed", summary=[TEXT]),
    update("compaction_summary_chunk", compactionId="k", content=TEXT),
    update("usage_update", used=1, size=2, cost={"amount": 1, "currency": "EUR"}),
    call(
        "elicitation/create",
        {"mode": "url", "message": "?", "requestId": 1, "elicitationId": "e", "url": "https://e.org"},
        id="x",
    ),
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "m", "data": [1]}},
]


@pytest.mark.parametrize("frame", GOOD_FROM_AGENT)
def test_a_good_frame_passes(frame: dict[str, Any]) -> None:
    """Also where the SDK knows less than the protocol."""
    check_frame(frame, direction="agent")


BAD_FROM_AGENT = [
    ({"method": "x"}, "jsonrpc must be"),
    (call("session/update", extra=1), "unexpected root fields"),
    (call("fs/read_text_file", {"sessionId": "s", "path": "/"}, id=True), "the id has a bad type"),
    (call("fs/read_text_file", {"sessionId": "s", "path": "/"}, id=1.0), "the id has a bad type"),
    ({"jsonrpc": "2.0", "result": {}}, "an answer needs an id"),
    ({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}, "exactly one of"),
    ({"jsonrpc": "2.0", "id": 1}, "exactly one of"),
    ({"jsonrpc": "2.0", "id": 1, "result": {}}, "the method is needed"),
    ({"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "m"}}, "says"),
    (call(5), "the method must be a string"),  # type: ignore[arg-type] # what is tested
    (call("session/nothing"), "unknown method"),
    (call("session/cancel", {"sessionId": "s"}), "is not sent by the agent"),
    (call("session/update", {}, id=1), "must be a notification"),
    (call("fs/read_text_file"), "must be a request"),
    (call("fs/read_text_file", [1], id=1), "must be objects"),
    (call("fs/read_text_file", {"sessionId": "s"}, id=1), "path"),
    (call("fs/read_text_file", {"sessionId": "s", "path": "/", "lines": 1}, id=1), r"\.lines: dropped"),
    (call("fs/read_text_file", {"sessionId": "s", "path": "/", "line": "1"}, id=1), "line"),
    (update("dance"), "says"),
    (update("agent_message_chunk", content={"type": "hologram"}), "says"),
    (update("agent_message_chunk", content=TEXT, messageID="m"), r"\.messageID: dropped"),
    (update("tool_call", toolCallId="c", title="t", kind="dance"), "kind"),
    (update("plan", entries=[{"content": "c"}]), "entries"),
    (update("notice", severity="info", title="T", text="x"), "fields of notice"),
    (update("compaction_update", compactionId="k", status="completed", error=5), "error"),
    (update("compaction_summary_chunk", compactionId="k", content={"type": "text"}), "text"),
]


@pytest.mark.parametrize(("frame", "message"), BAD_FROM_AGENT)
@pytest.mark.parametrize("schema", ["with", "without"])
def test_a_bad_frame_is_an_error_that_shows_it(
    frame: dict[str, Any], message: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the SDK alone, and with the JSON schema beside it where that is there."""
    if schema == "without":
        monkeypatch.setattr(frames, "_definition", _no_definition)
    with pytest.raises(AssertionError, match=message) as caught:
        check_frame(frame, direction="agent")
    assert "jsonrpc" in str(caught.value)


def _no_definition(_method: str, *, params: bool) -> None:
    """What is known of a method where there is no schema."""
    del params


RESULTS = [
    ("session/prompt", {"stopReason": "end_turn"}, None),
    ("_acme/do", 5, None),
    ("session/prompt", {"stopReason": "done"}, "says"),
    ("session/prompt", {"stopReason": "end_turn", "text": "x"}, r"\.text: dropped"),
    ("session/prompt", None, "must be objects"),
    ("session/cancel", {}, "has no answer"),
    ("session/nothing", {}, "unknown method"),
    ("fs/read_text_file", {"content": ""}, "is not answered by the agent"),
]


@pytest.mark.parametrize(("method", "result", "message"), RESULTS)
def test_a_result_is_checked_by_the_method_that_it_answers(method: str, result: object, message: str | None) -> None:
    """An answer alone does not say what it is."""
    frame = {"jsonrpc": "2.0", "id": 1, "result": result}
    if message is None:
        check_frame(frame, direction="agent", method=method)
    else:
        with pytest.raises(AssertionError, match=message):
            check_frame(frame, direction="agent", method=method)


def test_capabilities_and_options_that_the_sdk_lacks_pass_from_a_client() -> None:
    """Gated updates are advertised, and an option's category is open."""
    gated: dict[str, Any] = {"session": {"notices": {}, "compaction": {}}}
    check_frame(call("initialize", {"protocolVersion": 1, "clientCapabilities": gated}, id=1), direction="client")
    select = {"type": "select", "id": "a", "name": "A", "currentValue": "x", "options": [], "category": "odd"}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s", "configOptions": [select]}}
    check_frame(answer, direction="agent", method="session/new")


def test_a_frame_of_the_client_is_checked_too() -> None:
    """A boolean option has a form of its own."""
    good = {"sessionId": "s", "configId": "c", "type": "boolean", "value": True}
    check_frame(call("session/set_config_option", good, id=1), direction="client")
    with pytest.raises(AssertionError, match="type"):
        check_frame(call("session/set_config_option", good | {"type": "select"}, id=1), direction="client")
