"""The trace of a request: in order, with breadcrumbs, bounded, and nobody speaks for another."""

import json
from typing import Any

from acp_client import (
    Event,
    EventsLost,
    Failure,
    PermissionAnswered,
    RunResult,
    TextChunk,
    ToolCallUpdated,
)
from acp_client.delegate import trace as traces
from acp_client.delegate.trace import Trace
from acp_client.outcome.result import PermissionRecord, ToolCallState

CRUMB = "Trades Agent › judge"


def traced(*events: Event, **fields: Any) -> list[dict[str, Any]]:
    """The trace of a run that told these events and ended so."""
    trace = Trace(CRUMB, "Judge it")
    for event in events:
        trace.see(event)
    return trace.finish(RunResult(**{"status": "completed", "reason": "end_turn", "run_id": "r", **fields}))


def call(call_id: str = "c", status: str = "pending") -> ToolCallUpdated:
    """An update of a call."""
    return ToolCallUpdated(call_id, "Look up", "search", status, {})


def test_what_was_said_and_done_stands_in_its_order() -> None:
    """Text in whole messages, a call where it began and as it ended, each entry with its agent."""
    record = PermissionRecord(
        tool_call_id="c", title="Look up", action="allow", outcome="selected", decided_by="preset allow", seconds=0.1
    )
    state = ToolCallState(
        id="c", title="Look up", kind="search", status="completed", raw={"rawInput": {"q": 1}, "rawOutput": "found"}
    )
    entries = traced(
        TextChunk("I "),
        TextChunk("look."),
        call(),
        PermissionAnswered(record),
        call(status="completed"),
        TextChunk("a", "m1"),
        TextChunk("b", "m2"),
        EventsLost(3),
        tool_calls=(state,),
    )
    assert {entry["agent"] for entry in entries} == {CRUMB}
    told = [{key: value for key, value in entry.items() if key != "agent"} for entry in entries]
    assert told[0] == {"type": "task", "text": "Judge it"}
    assert told[1] == {"type": "message", "text": "I look."}
    assert told[2] == {
        "type": "tool_call",
        "id": "c",
        "title": "Look up",
        "kind": "search",
        "status": "completed",
        "input": {"q": 1},
        "output": "found",
    }
    assert (told[3]["type"], told[3]["action"], told[3]["decided_by"]) == ("permission", "allow", "preset allow")
    assert [one.get("text", one["type"]) for one in told[4:]] == ["a", "b", "lost", "end"]
    assert json.loads(json.dumps(entries)) == entries


def test_a_failed_run_says_so_at_its_end() -> None:
    """With what it had said by then."""
    entries = traced(
        TextChunk("so far"), status="error", reason="agent_exited", failure=Failure(stage="prompt", message="gone")
    )
    assert [entry["type"] for entry in entries] == ["task", "message", "end"]
    assert entries[-1] == {
        "agent": CRUMB,
        "type": "end",
        "status": "error",
        "reason": "agent_exited",
        "message": "gone",
    }


def test_nested_entries_come_under_the_breadcrumb_of_who_handed_them_up() -> None:
    """Whatever they call themselves: an agent speaks for what is below it only."""
    nested = (
        {"agent": "trade_file_extractor › resolver", "type": "message", "text": "hi"},
        {"agent": "Trades Agent", "type": "end", "status": "completed"},
        {"agent": "x › a › b", "type": "tool_call"},
        {"agent": "x › \x1b[2J", "type": "message"},
        {"agent": 5, "type": "message"},
        {"agent": "x"},
        "no entry",
    )
    entries = traced(nested_trace=nested)
    assert [entry["agent"] for entry in entries[1:-1]] == [
        f"{CRUMB} › resolver",
        CRUMB,
        f"{CRUMB} › a › b",
        rf"{CRUMB} › \x1b[2J",
    ]


class Measured(str):
    """Text that counts how often its length is asked for."""

    __slots__ = ()
    looks = 0

    def __len__(self) -> int:
        """As of any text."""
        Measured.looks += 1
        return super().__len__()


def test_a_message_in_many_pieces_costs_no_more_than_its_pieces() -> None:
    """A child chooses how small they are; an empty one is none."""
    pieces = [TextChunk(Measured(text)) for text in ["x", ""] * 1000]
    entries = traced(*pieces)
    assert entries[1]["text"] == "x" * 1000
    assert Measured.looks <= 3 * len(pieces)


def test_a_trace_is_bounded_and_says_what_it_lacks() -> None:
    """In the length of each text, in entries, and in all; the end is always there."""
    many = [call(f"c{number}") for number in range(traces.MAX_ENTRIES + 5)]
    entries = traced(*many)
    assert len(entries) == traces.MAX_ENTRIES + 2
    assert entries[-2] == {"agent": CRUMB, "type": "cut", "count": 6}
    assert entries[-1]["type"] == "end"
    long = "x" * (2 * traces.MAX_TEXT_CHARS)
    state = ToolCallState(id="c", raw={"rawInput": {"long": long}})
    texts = traced(TextChunk(long), TextChunk("more"), call(), tool_calls=(state,))
    assert [len(texts[1]["text"]), len(texts[2]["input"])] == [traces.MAX_TEXT_CHARS] * 2
    flood = tuple({"agent": "x", "type": "message", "text": long} for _ in range(100))
    assert len(json.dumps(traced(nested_trace=flood))) < traces.MAX_TRACE_CHARS + 4096
