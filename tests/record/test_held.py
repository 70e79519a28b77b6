"""Lines on their way to the file: in order, held only while a text is open, and never for long."""

from typing import Any

import pytest

from acp_client.process.redaction import REDACTED, Redactor
from acp_client.record import held as module
from acp_client.record.cleaner import Cleaner
from acp_client.record.format.lines import Frame, decode_object, from_object
from acp_client.record.held import Held

SECRET = "Zq9x8w7v6u5t4s3r2q1p"
FIRST, SECOND = SECRET[:9], SECRET[9:]


def held() -> Held:
    """For a run with one secret."""
    return Held(Cleaner(Redactor([SECRET])))


def chunk(text: str, kind: str = "agent_message_chunk", session: str = "s") -> dict[str, Any]:
    """A piece of a message."""
    return update(session, sessionUpdate=kind, content={"type": "text", "text": text})


def tool(call: str, session: str = "s", **members: Any) -> dict[str, Any]:
    """What a tool says."""
    return update(session, **{"sessionUpdate": "tool_call_update", "toolCallId": call, **members})


def update(session: str, **members: Any) -> dict[str, Any]:
    """A session/update."""
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": members}}


def output(text: str) -> list[Any]:
    """A tool call's content."""
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def put(lines: Held, *frames: dict[str, Any]) -> list[Any]:
    """The frames that come out when these have gone in."""
    for message in frames:
        lines.put_frame("a>c", message, 0.5, 100)
    return messages(lines)


def messages(lines: Held) -> list[Any]:
    """What comes out now."""
    read = [from_object(decode_object(line) or {}) for line in lines.take()]
    return [line.message if isinstance(line, Frame) and line.message else line for line in read]


def test_a_secret_in_two_chunks_is_in_no_line() -> None:
    """The first of them waits for the second, and what came between waits with it, in order."""
    lines = held()
    between = update("s", sessionUpdate="usage_update", used=1, size=2)
    assert put(lines, chunk("plain")) == [chunk("plain")]
    assert put(lines, chunk(f"it is {FIRST}"), between) == []
    assert len(lines) == 2
    assert put(lines, chunk(f"{SECOND}!")) == [chunk(f"it is {REDACTED}"), between, chunk("!")]


def test_texts_are_apart_by_kind_and_session() -> None:
    """What one of them says is no part of another."""
    lines = held()
    assert put(lines, chunk(FIRST), chunk(SECOND, session="t"), chunk(SECOND, kind="agent_thought_chunk")) == []
    assert put(lines, chunk("x")) == [
        chunk(FIRST),
        chunk(SECOND, session="t"),
        chunk(SECOND, kind="agent_thought_chunk"),
        chunk("x"),
    ]


@pytest.mark.parametrize(
    "members",
    [
        lambda text: {"content": output(text)},
        lambda text: {"rawOutput": text},
        lambda text: {"rawOutput": {"stdout": text}},
        lambda text: {"_meta": {"terminal_output": {"data": text}}},
    ],
    ids=["content", "text", "member", "meta"],
)
def test_a_secret_in_two_updates_of_a_tool_call_is_in_no_line(members: Any) -> None:
    """Wherever a tool's output stands."""
    lines = held()
    assert put(lines, tool("c", **members(FIRST))) == []
    assert put(lines, tool("c", **members(SECOND))) == [tool("c", **members(REDACTED)), tool("c", **members(""))]


def test_a_secret_in_two_blocks_of_one_update_is_in_no_line() -> None:
    """A frame is decided as a whole."""
    blocks = [*output(FIRST), *output(f"{SECOND} x")]
    assert put(held(), tool("c", content=blocks)) == [tool("c", content=[*output(REDACTED), *output(" x")])]


@pytest.mark.parametrize(
    "end",
    [
        update("s", sessionUpdate="tool_call", toolCallId="c", title="Look"),
        {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}},
        {"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": {}},
    ],
)
def test_what_ends_a_message_decides_it(end: dict[str, Any]) -> None:
    """A URL is no login then; the rest of a secret would be masked all the same."""
    lines = held()
    assert put(lines, chunk("see https://example.com"), end) == [chunk("see https://example.com"), end]
    lines = held()
    assert put(lines, chunk(FIRST), end, chunk(SECOND)) == [chunk(REDACTED), end, chunk("")]


@pytest.mark.parametrize(
    "end", [tool("c", status="completed"), chunk("Done."), {"jsonrpc": "2.0", "id": 3, "result": {}}]
)
def test_what_ends_a_tool_decides_its_output(end: dict[str, Any]) -> None:
    """Its own end, the agent's next word, the answer."""
    lines = held()
    said = tool("c", content=output("at https://example.com"))
    assert put(lines, said) == []
    assert put(lines, end) == [said, end]


def test_the_end_decides_all() -> None:
    """Nothing more comes."""
    lines = held()
    assert put(lines, chunk("it is Zq9x")) == []
    lines.finish()
    assert messages(lines) == [chunk("it is Zq9x")]


def test_no_more_is_held_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The open end is masked then, and so is what it goes on with."""
    monkeypatch.setattr(module, "MAX_HELD_LINES", 3)
    lines = held()
    other = update("s", sessionUpdate="plan", entries=[])
    assert put(lines, chunk("it is Zq9x"), other, other) == []
    assert put(lines, other) == [chunk(f"it is {REDACTED}"), other, other, other]
    assert put(lines, chunk("8w7v6u5t4s3r2q1p, x")) == [chunk(", x")]
    monkeypatch.setattr(module, "MAX_HELD_BYTES", 150)
    assert put(lines, chunk(FIRST), other) == [chunk(REDACTED), other]


def test_no_more_texts_are_followed_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was quiet longest is decided."""
    monkeypatch.setattr(module, "MAX_TEXTS", 2)
    lines = held()
    assert put(lines, chunk("a Zq9x", session="1"), chunk("x", session="2")) == []
    assert put(lines, chunk("x", session="3")) == [
        chunk("a Zq9x", session="1"),
        chunk("x", session="2"),
        chunk("x", session="3"),
    ]


def test_raw_lines_are_one_text_with_line_ends() -> None:
    """A private key goes over several of them."""
    lines = held()
    key = ["-----BEGIN " + "PRIVATE KEY-----", "MIIEvQIBADAN" * 5, "AbCd==", "-----END PRIVATE KEY-----", "after", ""]
    for line in key:
        lines.put_raw("a>c", line, 0.5)
    raws = [line.raw for line in messages(lines)]
    assert raws == [REDACTED, "", "", "", "after", ""]


def test_a_long_text_is_looked_at_in_slices() -> None:
    """A secret across two slices is one all the same; keys, odd members and the client's frames are looked at too."""
    lines = held()
    long = "x " * 8190 + SECRET + " y" * 9000
    assert put(lines, chunk(long)) == [chunk(long.replace(SECRET, REDACTED))]
    lines.put_frame("c>a", {"id": 1, SECRET: [long, 1.5, None], "apiKey": "short"}, 0.5, 10)
    assert messages(lines) == [{"id": 1, REDACTED: [long.replace(SECRET, REDACTED), 1.5, None], "apiKey": REDACTED}]


@pytest.mark.parametrize(
    "odd",
    [
        {"method": "session/update", "params": {"update": {"sessionUpdate": "agent_message_chunk"}}},
        {
            "method": "session/update",
            "params": {"update": {"sessionUpdate": "agent_message_chunk", "content": {"text": 3}}},
        },
        {"method": "session/update", "params": {"sessionId": 3, "update": {"sessionUpdate": "tool_call_update"}}},
        {"method": "session/update", "params": []},
        {"method": "session/update", "params": {"update": {"sessionUpdate": None}}},
        {"method": "session/update", "params": {"update": {"sessionUpdate": ["agent_message_chunk"]}}},
        {"method": "session/update", "params": {"update": {"sessionUpdate": {}}}},
        {"id": 1},
    ],
)
def test_frames_of_an_odd_shape_pass(odd: dict[str, Any]) -> None:
    """They are redacted and written as they are."""
    assert put(held(), odd) == [odd]


def test_deep_values_are_replaced_unseen_and_deep_outputs_are_looked_at_alone() -> None:
    """As the redactor does it."""
    deep: Any = SECRET
    for _ in range(12):
        deep = {"a": deep}
    (got,) = put(held(), tool("c", rawOutput=deep))
    assert SECRET not in str(got)
    for _ in range(110):
        deep = [deep]
    assert REDACTED in str(put(held(), {"id": 1, "result": deep}))
