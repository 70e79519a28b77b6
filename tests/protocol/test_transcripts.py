"""Recorded wires, read whole, byte by byte, cut and with a tail: every frame is an event, and nothing is lost."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from acp_client.protocol.link import Link
from acp_client.protocol.states import (
    ErrorReceived,
    Event,
    FrameDropped,
    NoiseReceived,
    RequestReceived,
    ResultReceived,
)
from acp_client.session.turn import Turn

REPO: Final = Path(__file__).resolve().parents[2]
GOLDEN: Final = REPO / "fixtures" / "transcripts"
RECORDED: Final = Path(os.environ.get("ACP_TRANSCRIPTS_DIR", REPO.parent / "shared" / "transcripts"))
KINDS: Final = {*Turn._FOLDS, "agent_message_chunk"}


@dataclass
class Wire:
    """One recording, a row a line: `dir` says who wrote it (`a>c` the agent), `msg`, `raw` or `hex` what."""

    path: Path
    rows: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        with self.path.open(encoding="utf-8") as file:
            self.rows = [json.loads(line) for line in file]

    def messages(self, direction: str) -> list[dict[str, Any]]:
        """The frames of one side that are whole messages."""
        return [row["msg"] for row in self.rows if row["dir"] == direction and "msg" in row]

    def bytes_of_agent(self) -> bytes:
        """What the agent wrote."""
        return b"".join(_line(row) + b"\n" for row in self.rows if row["dir"] == "a>c")

    def expected(self) -> dict[str, Any]:
        """What a golden wire says of itself."""
        return next(row for row in self.rows if row["dir"] == "expect")

    def link(self) -> Link:
        """A connection that has sent what the recorded client asked."""
        link = Link()
        for message in self.messages("c>a"):
            if "method" in message and "id" in message:
                request, _ = link.request(message["method"], message["params"])
                assert request.id == message["id"], "a recording counts its requests from 1"
        return link


def _line(row: dict[str, Any]) -> bytes:
    if "hex" in row:
        return bytes.fromhex(row["hex"])
    text: str = row["raw"] if "raw" in row else json.dumps(row["msg"], ensure_ascii=False)
    return text.encode()


def whole(link: Link, data: bytes) -> list[Event]:
    """In one piece."""
    return link.receive(data)


def byte_by_byte(link: Link, data: bytes) -> list[Event]:
    """As badly cut as can be."""
    return [event for at in range(len(data)) for event in link.receive(data[at : at + 1])]


def in_odd_pieces(link: Link, data: bytes) -> list[Event]:
    """Of a size that fits no frame."""
    return [event for at in range(0, len(data), 997) for event in link.receive(data[at : at + 997])]


def without_the_last_newline(link: Link, data: bytes) -> list[Event]:
    """The end of the stream ends the last frame."""
    return link.receive(data.removesuffix(b"\n")) + link.receive_eof()


def with_a_tail(link: Link, data: bytes) -> list[Event]:
    """A frame that the end cut is one piece of noise, told apart as unfinished."""
    events = link.receive(data + b'{"jsonrpc":"2.0","method":"session/upd') + link.receive_eof()
    tail = [event for event in events if isinstance(event, NoiseReceived) and event.unfinished]
    assert len(tail) == 1
    events.remove(tail[0])
    return events


READINGS: Final[list[Callable[[Link, bytes], list[Event]]]] = [
    whole,
    byte_by_byte,
    in_odd_pieces,
    without_the_last_newline,
    with_a_tail,
]


def recordings() -> list[Any]:
    """The recordings of real agents, or one skip that says why there are none."""
    paths = sorted(RECORDED.glob("*.jsonl")) if RECORDED.is_dir() else []
    if not paths:
        reason = f"no recordings in {RECORDED}; ACP_TRANSCRIPTS_DIR names their folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="none")]
    return [pytest.param(path, id=path.stem) for path in paths]


def raw_of(event: Event) -> dict[str, Any]:
    """What of a frame its event still holds."""
    match event:
        case dict():
            return event
        case RequestReceived():
            return event.request.raw
        case ResultReceived():
            return {"jsonrpc": "2.0", "id": event.request.id, "result": event.result}
        case ErrorReceived():
            error = {"code": event.code, "message": event.message}
            return {"jsonrpc": "2.0", "id": event.request.id, "error": error | _data(event.data)}
        case _:
            raise AssertionError(f"a frame of a real agent that is no message: {event!r}")


def _data(data: Any) -> dict[str, Any]:
    return {} if data is None else {"data": data}


def updates(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The updates of all sessions, in order."""
    return [
        event["params"]["update"] for event in events if isinstance(event, dict) and event["method"] == "session/update"
    ]


def fold(events: list[Event]) -> Turn:
    """One turn of all updates, permissions and answers."""
    turn = Turn(10**9)
    turn.phase = "running"
    for event in events:
        match event:
            case RequestReceived():
                turn.note_asked(event.request.params.get("toolCall", {}).get("toolCallId"))
            case ResultReceived(result=dict()):
                turn.fold_prompt_usage(event.result.get("usage"))
            case _:
                for update in updates([event]):
                    turn.fold(update)
    return turn


@pytest.mark.parametrize("read", READINGS)
@pytest.mark.parametrize("path", recordings())
def test_every_frame_of_a_real_agent_is_one_event_with_all_that_it_said(
    path: Path, read: Callable[[Link, bytes], list[Event]]
) -> None:
    """In order, however the stream is cut."""
    wire = Wire(path)
    link = wire.link()
    events = read(link, wire.bytes_of_agent())
    lost = {f"{event.request.id}" for event in link.receive_eof() if hasattr(event, "request")}
    assert [raw_of(event) for event in events if not _is_lost(event)] == wire.messages("a>c")
    answered = {f"{message['id']}" for message in wire.messages("a>c") if "method" not in message}
    assert not lost & answered


def _is_lost(event: Event) -> bool:
    return type(event).__name__ == "RequestLost"


@pytest.mark.parametrize("path", recordings())
def test_every_update_of_a_real_agent_is_folded_or_kept_raw(path: Path) -> None:
    """The text is the chunks' text, each call is there in its last state, and nothing is counted as useless."""
    wire = Wire(path)
    events = wire.link().receive(wire.bytes_of_agent())
    turn = fold(events)
    sent = updates(events)
    chunks = [one["content"] for one in sent if one["sessionUpdate"] == "agent_message_chunk"]
    assert turn.answer.text() == "".join(chunk["text"] for chunk in chunks if chunk["type"] == "text")
    assert sum(len(message.blocks) for message in turn.answer.messages()) == len(
        [chunk for chunk in chunks if chunk["type"] != "text"]
    )
    assert turn.unknown == [one for one in sent if one["sessionUpdate"] not in KINDS]
    assert (turn.malformed, turn.truncated) == (0, False)
    calls = [one for one in sent if one["sessionUpdate"] in ("tool_call", "tool_call_update")]
    assert [call.id for call in turn.tool_calls()] == list(dict.fromkeys(one["toolCallId"] for one in calls))
    last = {one["toolCallId"]: one["status"] for one in calls if one.get("status")}
    assert {call.id: call.status for call in turn.tool_calls() if call.status} == last


@pytest.mark.parametrize("read", READINGS)
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_golden_wire_gives_what_it_says(path: Path, read: Callable[[Link, bytes], list[Event]]) -> None:
    """Noise, drops, text, messages, calls and usage, however the stream is cut."""
    wire = Wire(path)
    expected = wire.expected()
    events = read(wire.link(), wire.bytes_of_agent())
    turn = fold(events)
    seen = {
        "dir": "expect",
        "text": turn.answer.text(),
        "messages": [message.text for message in turn.answer.messages()],
        "calls": {call.id: call.status for call in turn.tool_calls()},
        "asked": sum(isinstance(event, RequestReceived) for event in events),
        "noise": sum(isinstance(event, NoiseReceived) for event in events),
        "dropped": sum(isinstance(event, FrameDropped) for event in events),
        "unknown": len(turn.unknown),
        "source": turn.usage().source,
        "unasked": list(turn.completed_without_asking()),
    }
    assert seen == {"unasked": []} | expected
    results = [event for event in events if isinstance(event, ResultReceived)]
    assert [event.request.method for event in results] == ["initialize", "session/new", "session/prompt"]
    assert results[-1].result["stopReason"] == "end_turn"


def test_there_are_golden_wires() -> None:
    """So that a folder that has moved is not taken for a success."""
    assert {path.stem for path in GOLDEN.glob("*.jsonl")} >= {"simple_turn", "permission", "odd_frames"}
