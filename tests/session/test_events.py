"""Live events: what a raw update becomes, and a stream that loses rather than holds."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_client.outcome.result import PermissionRecord, RunResult
from acp_client.policy.permission import PermissionRequest
from acp_client.session.events import (
    Event,
    EventsLost,
    OtherUpdate,
    PermissionAnswered,
    PermissionAsked,
    PlanUpdated,
    RunEnded,
    RunStarted,
    SessionStarted,
    StderrOutput,
    TextChunk,
    ThoughtChunk,
    ToolCallUpdated,
    UsageUpdated,
    to_event,
)
from acp_client.session.stream import EARLY_EVENTS, EventHub, EventStream

SECONDS = 5.0
RESULT = RunResult(status="completed", reason="end_turn", run_id="r")
ENDED = RunEnded("completed", "end_turn")


def update(kind: Any, /, **fields: Any) -> dict[str, Any]:
    """A raw update."""
    return {"sessionUpdate": kind, **fields}


def text(words: Any, kind: str = "agent_message_chunk", **more: Any) -> dict[str, Any]:
    """A piece of a message."""
    return update(kind, content={"type": "text", "text": words}, **more)


COST = {"amount": 1, "currency": "EUR"}
CALL = update("tool_call", toolCallId="c", title="T", kind="edit", status="pending")
BARE = update("tool_call_update", toolCallId="c", title=5, kind=None, status=["x"])

TYPED: list[tuple[dict[str, Any], Event]] = [
    (text("a"), TextChunk("a")),
    (text("a", messageId="m"), TextChunk("a", "m")),
    (text("a", messageId=5), TextChunk("a")),
    (text("a", "agent_thought_chunk"), ThoughtChunk("a")),
    (CALL, ToolCallUpdated("c", "T", "edit", "pending", CALL)),
    (BARE, ToolCallUpdated("c", None, None, None, BARE)),
    (update("plan", entries=[1]), PlanUpdated([1])),
    (update("plan", entries=None), PlanUpdated([])),
    (update("usage_update", used=1, size=2, cost=COST), UsageUpdated(1, 2, COST)),
    (update("usage_update", used=True, size="2", cost=5), UsageUpdated(None, None, None)),
]


@pytest.mark.parametrize(("raw", "event"), TYPED)
def test_a_known_update_becomes_its_event(raw: dict[str, Any], event: Event) -> None:
    """With what it says and nothing more."""
    assert to_event(raw) == event


OTHERS = [
    update("current_mode_update", currentModeId="x"),
    update("totally_new"),
    update(None),
    update(["plan"]),
    {},
    text(None),
    text(5, "agent_thought_chunk"),
    update("agent_message_chunk", content={"type": "image", "data": ""}),
    update("agent_message_chunk", content="text"),
    update("tool_call", toolCallId=None),
]


@pytest.mark.parametrize("raw", OTHERS)
def test_any_other_update_is_told_as_it_came(raw: dict[str, Any]) -> None:
    """Also one that does not fit the kind that it names."""
    assert to_event(raw) == OtherUpdate(str(raw.get("sessionUpdate")), raw)


REQUEST = PermissionRequest("s", "c", "Delete x", "rm", "delete", (), {})
RECORD = PermissionRecord(tool_call_id="c", action="reject", outcome="cancelled", decided_by="preset", seconds=0.5)

WIRE: list[tuple[Event, dict[str, Any]]] = [
    (RunStarted("r", "echo", 7), {"event": "run_started", "run_id": "r", "agent": "echo", "pid": 7}),
    (SessionStarted("s", None), {"event": "session_started", "session_id": "s", "agent_info": None}),
    (TextChunk("a"), {"event": "text", "text": "a", "message_id": None}),
    (ThoughtChunk("a"), {"event": "thought", "text": "a"}),
    (PlanUpdated([]), {"event": "plan", "entries": []}),
    (UsageUpdated(1, None, None), {"event": "usage", "used": 1, "size": None, "cost": None}),
    (OtherUpdate("k", {}), {"event": "update", "kind": "k", "raw": {}}),
    (StderrOutput("x"), {"event": "stderr", "text": "x"}),
    (EventsLost(3), {"event": "events_lost", "count": 3}),
    (ENDED, {"event": "run_ended", "status": "completed", "reason": "end_turn"}),
    (
        PermissionAsked(REQUEST),
        {"event": "permission_asked", "tool_call_id": "c", "title": "Delete x", "kind": "delete"},
    ),
    (PermissionAnswered(RECORD), {"event": "permission_answered"} | RECORD.model_dump(mode="json")),
]


@pytest.mark.parametrize(("event", "expected"), WIRE, ids=lambda one: getattr(one, "type", ""))
def test_an_event_is_a_line_of_json(event: Event, expected: dict[str, Any]) -> None:
    """Named by its type."""
    assert event.to_json() == expected
    json.dumps(event.to_json())


async def read(stream: AsyncIterator[Event]) -> list[Event]:
    """All events to the end."""
    with anyio.fail_after(SECONDS):
        return [event async for event in stream]


def texts(events: list[Event]) -> list[str]:
    """The text of those that are text."""
    return [event.text for event in events if isinstance(event, TextChunk)]


async def test_the_first_reader_gets_what_came_before_and_a_second_what_comes() -> None:
    """Both end with the run, and telling it twice is not possible."""
    hub = EventHub(100)
    hub.put(text("early"))
    first = hub.stream()
    hub.put(text("middle"))
    second = hub.stream()
    hub.put(TextChunk("late"))
    hub.close(RESULT)
    events = await read(first)
    assert texts(events) == ["early", "middle", "late"]
    assert events[-1] == ENDED
    assert texts(await read(second)) == ["late"]
    assert await read(first) == []


async def test_a_reader_that_comes_after_the_end_gets_what_there_was() -> None:
    """It never waits."""
    hub = EventHub(100)
    hub.put(text("a"))
    hub.close(RESULT)
    assert await read(hub.stream()) == [TextChunk("a"), ENDED]
    assert await read(hub.stream()) == [ENDED]


async def test_a_reader_waits_until_it_is_woken() -> None:
    """Once for all that a read brought."""
    hub = EventHub(100)
    stream = hub.stream()
    seen: list[Event] = []

    async def follow() -> None:
        seen.extend([event async for event in stream])

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await anyio.wait_all_tasks_blocked()
            hub.put(text("a"))
            hub.put(text("b"))
            hub.wake()
            await anyio.wait_all_tasks_blocked()
            hub.wake()
            await anyio.wait_all_tasks_blocked()
            hub.close(RESULT)
    assert seen == [TextChunk("a"), TextChunk("b"), ENDED]


async def test_a_cancelled_reader_can_go_on() -> None:
    """Nothing is lost with it."""
    hub = EventHub(100)
    stream = hub.stream()
    with anyio.move_on_after(0):
        await anext(stream)
    hub.put(text("a"))
    hub.close(RESULT)
    assert await read(stream) == [TextChunk("a"), ENDED]


async def test_a_reader_that_is_too_slow_is_told_how_much_it_lost_and_where() -> None:
    """The run is never held; the count is also in the hub."""
    hub = EventHub(2)
    stream = hub.stream()
    for word in "abcde":
        hub.put(text(word))
    assert hub.dropped == 3
    with anyio.fail_after(SECONDS):
        assert await anext(stream) == TextChunk("a")
        assert await anext(stream) == TextChunk("b")
        hub.put(text("f"))
        assert await anext(stream) == EventsLost(3)
        assert await anext(stream) == TextChunk("f")


async def test_losses_at_the_very_end_are_told_before_it() -> None:
    """With nothing after them."""
    hub = EventHub(1)
    stream = hub.stream()
    for word in "abc":
        hub.put(text(word))
    hub.close(RESULT)
    assert await read(stream) == [TextChunk("a"), EventsLost(2), ENDED]


async def test_early_events_are_bounded_and_what_is_lost_of_them_is_told() -> None:
    """Nobody may ever read."""
    hub = EventHub(10_000)
    for number in range(EARLY_EVENTS + 5):
        hub.put(text(str(number)))
    hub.close(RESULT)
    events = await read(hub.stream())
    assert len(texts(events)) == EARLY_EVENTS
    assert events[-2:] == [EventsLost(5), ENDED]


async def test_a_stream_never_holds_more_than_its_bound_and_one_note() -> None:
    """However many events there are."""
    stream = EventStream(3, [], 0)
    for number in range(100):
        stream.offer(text(str(number)))
    assert len(stream._buffer) == 3


@pytest.mark.parametrize("room", [1, 2, 5, 100])
@pytest.mark.parametrize("reader_comes", ["before", "after"])
async def test_texts_of_one_read_are_the_same_events_as_one_after_another(room: int, reader_comes: str) -> None:
    """In their order, with the same losses at the same places, for a reader that comes at any time."""
    told = []
    for at_once in (False, True):
        hub = EventHub(room)
        stream = hub.stream() if reader_comes == "before" else None
        seen = []
        for batch in (["a", "b"], ["c"], [], ["d", "e", "f"]):
            if at_once:
                hub.put_texts(batch, "m")
            else:
                for word in batch:
                    hub.put({**text(word), "messageId": "m"})
            hub.wake(10)
            if stream is not None and batch == ["c"]:
                with anyio.fail_after(SECONDS):
                    seen.append(await anext(stream))
        hub.close(RESULT)
        told.append((seen + await read(stream or hub.stream()), hub.dropped, hub.early_lost))
    assert told[0] == told[1]
    assert TextChunk("a", "m") in told[0][0]


async def test_two_tasks_may_read_one_stream() -> None:
    """Each event goes to one of them, and both end with the run."""
    hub = EventHub(10)
    stream = hub.stream()
    seen: list[Event] = []

    async def read() -> None:
        seen.extend([event async for event in stream])

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(read)
            await anyio.lowlevel.checkpoint()
            for text in "abc":
                hub.put({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
                hub.wake()
                await anyio.lowlevel.checkpoint()
            hub.close(RunResult(status="completed", reason="end_turn", run_id="r"))
    assert sorted(event.text for event in seen if isinstance(event, TextChunk)) == ["a", "b", "c"]
    assert [event.type for event in seen].count("run_ended") == 1


def test_events_compare_and_show_themselves_by_kind_and_fields() -> None:
    """As dataclasses do."""
    assert TextChunk("a", "m") == TextChunk("a", "m")
    assert TextChunk("a") != TextChunk("b")
    assert TextChunk("a") != ThoughtChunk("a")
    assert len({TextChunk("a"), TextChunk("a"), EventsLost(1)}) == 2
    assert repr(EventsLost(2)) == "EventsLost(count=2)"
