"""How progress is told: in order, bounded, and never so that the request could fail by it."""

from typing import Any

import anyio
import pytest

from acp_client import SubAgentEvent, SubAgentStarted, SubAgentStopped, TextChunk
from acp_client.delegate.progress import Reporter

STARTED = SubAgentStarted("risk_judge", "id", "Trades Agent")
EVENT = SubAgentEvent("risk_judge", "id", TextChunk("hi"))
STOPPED = SubAgentStopped("risk_judge", "id", "Trades Agent", "completed", "end_turn")


def test_a_start_has_a_label_for_people() -> None:
    """As words."""
    assert STARTED.label == "Consulting risk judge…"


def test_each_is_json_with_its_type() -> None:
    """As the events of a run are."""
    assert STARTED.to_json() == {
        "event": "sub_agent_start",
        "name": "risk_judge",
        "call_id": "id",
        "parent": "Trades Agent",
    }
    assert EVENT.to_json()["of"] == {"event": "text", "text": "hi", "message_id": None}
    assert (STOPPED.to_json()["event"], STOPPED.to_json()["status"]) == ("sub_agent_stop", "completed")


async def test_a_function_that_fails_is_logged_and_told_the_next_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Plain or async."""
    told: list[Any] = []

    def fail(one: Any) -> None:
        told.append(one)
        raise ZeroDivisionError

    async def fail_later(one: Any) -> None:
        await anyio.lowlevel.checkpoint()
        fail(one)

    for function in (fail, fail_later):
        told.clear()
        caplog.clear()
        reporter = Reporter(function)
        for one in (STARTED, EVENT, STOPPED):
            await reporter.tell(one)
        assert told == [STARTED, EVENT, STOPPED]
        assert len(caplog.records) == 3
        assert "ZeroDivisionError" in caplog.text


async def test_a_function_that_never_returns_hears_no_more_live_events(caplog: pytest.LogCaptureFixture) -> None:
    """It is given up after a bounded time, and said once; a start and its stop are told whatever happens."""
    told: list[Any] = []

    async def hang(one: Any) -> None:
        told.append(one)
        await anyio.sleep_forever()

    reporter = Reporter(hang, told_seconds=0.01)
    with anyio.fail_after(10):
        await reporter.tell(STARTED)
        wanted = reporter.wants_events
        await reporter.tell(STOPPED)
    assert wanted is False
    assert told == [STARTED, STOPPED]
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_without_a_function_nothing_is_told() -> None:
    """And no live event wanted."""
    reporter = Reporter(None)
    await reporter.tell(STARTED)
    assert not reporter.wants_events
