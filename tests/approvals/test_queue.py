"""The queue as an approver, in one process: it waits without work, and leaves no request open behind it."""

import asyncio
import math
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from acp_client import ApprovalQueue, Decision
from acp_client.approvals.desk import HOLD_SECONDS, Desk
from acp_client.approvals.errors import ApprovalQueueError, QueueBusy, QueueUnusable
from acp_client.approvals.store import Store
from acp_client.policy.approval import ApprovalRequest
from tests.approvals.questions import NO, YES, approval, question, rejection, state_of, until_state, until_waiting

WAIT_SECONDS = 30.0


class Asked:
    """Calls of an approver that go on in a task group; what became of each."""

    def __init__(self, queue: ApprovalQueue) -> None:
        self.queue = queue
        self.decisions: dict[str, Decision] = {}
        self.errors: dict[str, BaseException] = {}
        self.scopes: dict[str, anyio.CancelScope] = {}

    async def ask(self, request: ApprovalRequest) -> None:
        """One call; its errors are kept."""
        with anyio.CancelScope() as self.scopes[request.id]:
            try:
                self.decisions[request.id] = await self.queue(request)
            except (ApprovalQueueError, TimeoutError) as error:
                self.errors[request.id] = error


async def test_the_decision_names_the_person(path: Path, store: Store) -> None:
    """Who, in which role, why, and what was picked; and the row says that it arrived."""
    asked = Asked(ApprovalQueue(path))
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asked.ask, question("a", options=(YES, NO)))
            tasks.start_soon(asked.ask, question("b"))
            await until_waiting(store, 2)
            store.answer("a", approval(role="admin", why="a copy", option_id="yes"))
            store.answer("b", rejection(why="not today"))
    assert asked.decisions == {
        "a": Decision("allow", "a copy", "alice", "admin", "yes"),
        "b": Decision("reject", "not today", "bob", "standard"),
    }
    assert [store.find(name).delivered for name in "ab"] == [True, True]


async def test_a_form_comes_back_filled_in(path: Path, store: Store) -> None:
    """The values as they were typed."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    asked = Asked(ApprovalQueue(path))
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asked.ask, question(subject="elicitation", schema=schema))
            await until_waiting(store, 1)
            store.answer("q-1", approval(content={"name": "Zoë \ud800"}))
    assert asked.decisions["q-1"].content == {"name": "Zoë \ud800"}


async def test_a_cancelled_call_withdraws_its_request_and_no_other(path: Path, store: Store) -> None:
    """Also when it was the one that looked for all."""
    asked = Asked(ApprovalQueue(path))
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            for name in "abc":
                tasks.start_soon(asked.ask, question(name))
                await until_waiting(store, "abc".index(name) + 1)
            for name in "ab":
                asked.scopes[name].cancel()
            await until_state(store, "b", "withdrawn")
            store.answer("c", approval())
    assert [state_of(store, name) for name in "abc"] == ["withdrawn", "withdrawn", "approved"]
    assert set(asked.decisions) == {"c"}


async def test_a_call_that_is_cancelled_at_the_end_of_its_time_has_expired(path: Path, store: Store) -> None:
    """Its caller has a deadline of its own for it."""
    request = question(timeout_seconds=0.05)
    with anyio.fail_after(WAIT_SECONDS), anyio.move_on_after(0.05):
        await ApprovalQueue(path)(request)
    await until_state(store, "q-1", "expired")


async def test_a_call_whose_time_is_up_says_so(path: Path, store: Store) -> None:
    """That is no rejection."""
    with anyio.fail_after(WAIT_SECONDS), pytest.raises(TimeoutError, match=r"nobody answered .* q-1 within 0.05 s"):
        await ApprovalQueue(path)(question(timeout_seconds=0.05))
    assert state_of(store, "q-1") == "expired"


async def test_a_deployment_caps_how_long_a_request_waits(path: Path, store: Store) -> None:
    """Whatever the request says."""
    queue = ApprovalQueue(path, max_timeout_seconds=0.05)
    with anyio.fail_after(WAIT_SECONDS), pytest.raises(TimeoutError, match=r"within 0.05 s"):
        await queue(question(timeout_seconds=math.inf))
    assert state_of(store, "q-1") == "expired"


async def test_a_wall_clock_that_is_set_back_keeps_nobody_waiting(path: Path) -> None:
    """The request was made an hour ahead of what the clock shows now; the time that passes is measured elsewhere."""
    request = question(asked_at=time.time() + 3600, timeout_seconds=0.05)
    with anyio.fail_after(WAIT_SECONDS), pytest.raises(TimeoutError):
        await ApprovalQueue(path)(request)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_native_cancel_leaves_no_request_open(path: Path, store: Store) -> None:
    """Nor the file. It breaks through a shield, at any moment of the call, and a second one follows."""
    queue = ApprovalQueue(path)
    before = open_logs(path)
    with anyio.fail_after(WAIT_SECONDS):
        for turns in range(12):
            await cancel_natively(asyncio.ensure_future(queue(question(f"q-{turns}"))), turns)
        for turns in range(12):
            if any(entry.id == f"q-{turns}" for entry in store.everything()):
                await until_state(store, f"q-{turns}", "withdrawn")
        while open_logs(path) != before:  # noqa: ASYNC110  # a thread closes it
            await asyncio.sleep(0.001)


async def cancel_natively(task: asyncio.Future[Any], turns: int = 0) -> None:
    """Twice, after so many turns of the loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_native_cancel_while_a_thread_adds_the_request_withdraws_it(path: Path, store: Store) -> None:
    """The thread is held up by the file, and is done when nobody waits for it any more."""
    desk = Desk(path, hold_seconds=WAIT_SECONDS)  # it does not give up before
    with anyio.fail_after(WAIT_SECONDS), closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        before = open_logs(path)
        task = asyncio.ensure_future(desk.ask(question(), 60.0))
        while open_logs(path) == before:  # noqa: ASYNC110  # a thread opens it
            await asyncio.sleep(0.001)
        await cancel_natively(task)
        assert store.everything() == []
        holder.execute("ROLLBACK")
        while not store.everything():  # noqa: ASYNC110  # a thread adds it
            await asyncio.sleep(0.001)
        await until_state(store, "q-1", "withdrawn")
        while open_logs(path) != before:  # noqa: ASYNC110  # a thread closes it
            await asyncio.sleep(0.001)


async def test_answers_are_seen_one_after_the_other(path: Path, store: Store) -> None:
    """A look that found nothing new is followed by one that does."""
    asked = Asked(ApprovalQueue(path))
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            for name in "cba":
                tasks.start_soon(asked.ask, question(name))
            await until_waiting(store, 3)
            for name in "abc":
                store.answer(name, approval())
                while not store.find(name).delivered:  # noqa: ASYNC110  # a thread writes it
                    await anyio.sleep(0.001)
    assert list(asked.decisions) == ["a", "b", "c"]


async def test_nothing_is_held_open_while_nothing_waits(path: Path, store: Store) -> None:
    """No connection to the file, that is."""
    asked = Asked(ApprovalQueue(path))
    before = open_logs(path)
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asked.ask, question())
            await until_waiting(store, 1)
            assert len(open_logs(path)) > len(before)
            store.answer("q-1", approval())
    assert open_logs(path) == before


def open_logs(path: Path) -> list[str]:
    """The logs of this queue that this process has open: one a connection (SQLite keeps the file itself for reuse)."""
    links = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            links.append(str(link.readlink()))
        except OSError:
            continue
    return [name for name in links if name == f"{path}-wal"]


async def test_a_file_that_vanishes_ends_the_wait(path: Path, store: Store) -> None:
    """Reviewers would look at another one until the request expired."""
    asked = Asked(ApprovalQueue(path))
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            for name in "ab":
                tasks.start_soon(asked.ask, question(name))
            await until_waiting(store, 2)
            path.rename(path.with_name("elsewhere.db"))  # noqa: ASYNC240  # at once
    assert {name: type(error) for name, error in asked.errors.items()} == {"a": QueueUnusable, "b": QueueUnusable}


async def test_an_id_that_waits_already_is_refused_and_the_first_goes_on(path: Path, store: Store) -> None:
    """Two questions with one answer would be an approval by accident."""
    queue = ApprovalQueue(path)
    first, again = Asked(queue), Asked(queue)
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.ask, question())
            await until_waiting(store, 1)
            await again.ask(question())
            other = Asked(ApprovalQueue(path))
            await other.ask(question())
            assert state_of(store, "q-1") == "waiting"
            store.answer("q-1", approval())
    assert ["q-1" in asked.errors for asked in (first, again, other)] == [False, True, True]
    assert first.decisions["q-1"].action == "allow"


async def test_a_file_that_is_held_for_long_holds_up_an_answer_and_fails_nothing(path: Path, store: Store) -> None:
    """Longer than a call of ours waits for it: neither adding nor expiring fails, both are done when it is free."""
    asked = Asked(ApprovalQueue(path))
    holder = sqlite3.connect(path, isolation_level=None)
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asked.ask, question("brief", timeout_seconds=0.5))
            await until_waiting(store, 1)
            holder.execute("BEGIN IMMEDIATE")
            tasks.start_soon(asked.ask, question())
            await anyio.to_thread.run_sync(fail_to_add, path)
            assert asked.errors == {}
            holder.execute("ROLLBACK")
            await until_state(store, "brief", "expired")
            await until_waiting(store, 1)
            store.answer("q-1", approval())
    holder.close()
    assert asked.decisions["q-1"].action == "allow"
    assert isinstance(asked.errors["brief"], TimeoutError)


def fail_to_add(path: Path) -> None:
    """Wait for the file more than twice as long as the queue does in one call."""
    store = Store(path, busy_seconds=2.2 * HOLD_SECONDS)
    with pytest.raises(QueueBusy):
        store.add(question("other"), math.inf)
    store.close()


async def test_two_event_loops_of_a_process_share_a_queue(path: Path, store: Store) -> None:
    """Each waits for itself."""
    queue = ApprovalQueue(path)
    here = Asked(queue)
    elsewhere: list[Decision] = []
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here.ask, question("here"))
            tasks.start_soon(anyio.to_thread.run_sync, lambda: elsewhere.append(anyio.run(queue, question("there"))))
            await until_waiting(store, 2)
            store.answer("there", rejection())
            store.answer("here", approval())
    assert (here.decisions["here"].decided_by, elsewhere[0].decided_by) == ("alice", "bob")


@pytest.mark.parametrize("cap", [0, -1, math.nan, math.inf])
def test_a_cap_is_a_finite_time(cap: Any, tmp_path: Path) -> None:
    """The field and the rule are named."""
    with pytest.raises(ValueError, match=r"max_timeout_seconds is .* finite number of seconds above 0"):
        ApprovalQueue(tmp_path / "q.db", max_timeout_seconds=cap)


def test_a_queue_says_where_it_is_and_that_it_lasts(tmp_path: Path) -> None:
    """Its path is made absolute once."""
    queue = ApprovalQueue(tmp_path / "q", max_timeout_seconds=5)
    assert (repr(queue), queue.durable) == (f"ApprovalQueue({str(tmp_path / 'q')!r}, max_timeout_seconds=5)", True)


async def test_many_that_wait_look_as_often_as_one(path: Path, store: Store) -> None:
    """One call looks for all: no task and no thread for each."""
    desk = Desk(path)
    threads = threading.active_count()
    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            for index in range(40):
                tasks.start_soon(desk.ask, question(f"q-{index}"), 60.0)
            await until_waiting(store, 40)
            assert threading.active_count() - threads <= 2
            for index in range(40):
                store.answer(f"q-{index}", approval())
    assert [entry.delivered for entry in store.everything()] == [True] * 40
