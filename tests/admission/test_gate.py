"""The gate: first come, first served; a place, a turn at starting, and descriptors."""

import anyio
import anyio.lowlevel
import pytest

from acp_client.admission import gate as gates
from acp_client.admission.descriptors import Descriptors
from acp_client.admission.gate import Gate, Ticket
from acp_client.process.host import TaskHost


class Room(Descriptors):
    """Descriptors as the test wants them."""

    def __init__(self) -> None:
        super().__init__()
        self.free = 1000
        self.shorts = 0

    def take(self, *, spare: bool = False) -> bool:
        """True while there are free ones."""
        assert not spare
        self.free -= 1
        if self.free < 0:
            self.free = 0
            return False
        return True

    def give_back(self) -> None:
        """One more."""
        self.free += 1

    def note_short(self) -> None:
        """What the gate tells while a run waits."""
        self.shorts += 1


def _admitted(tickets: list[Ticket]) -> list[bool]:
    return [ticket.admitted.is_set() for ticket in tickets]


async def _gate(most: int) -> tuple[Gate, Room, TaskHost]:
    room = Room()
    gate = Gate(most, room.note_short, room)
    tasks = TaskHost()
    gate.open(tasks)
    return gate, room, tasks


async def test_places_are_given_in_the_order_of_the_queue() -> None:
    """One leaves, the first that waits comes in; who gives up is passed over."""
    gate, _, tasks = await _gate(2)
    tickets = [gate.enter() for _ in range(5)]
    assert _admitted(tickets) == [True, True, False, False, False]
    tickets[2].leave()
    tickets[0].leave()
    assert _admitted(tickets) == [True, True, False, True, False]
    tickets[0].leave()  # again: no second place
    assert _admitted(tickets) == [True, True, False, True, False]
    for ticket in tickets[1:]:
        ticket.leave()
    assert _admitted([gate.enter(), gate.enter(), gate.enter()]) == [True, True, False]
    await tasks.close(lambda: None)


async def test_only_so_many_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one when a session exists, or a start has failed."""
    monkeypatch.setattr(gates, "_cores", lambda: 1)
    gate, _, tasks = await _gate(100)
    tickets = [gate.enter() for _ in range(gates.STARTS_PER_CORE + 3)]
    assert sum(_admitted(tickets)) == gates.STARTS_PER_CORE
    tickets[0].started()
    tickets[0].started()
    tickets[1].leave()
    assert sum(_admitted(tickets)) == gates.STARTS_PER_CORE + 2
    for ticket in tickets:
        ticket.leave()
    await tasks.close(lambda: None)


async def test_a_start_that_takes_long_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for a download, say."""
    monkeypatch.setattr(gates, "_cores", lambda: 1)
    monkeypatch.setattr(gates, "START_SECONDS", 0.05)
    gate, _, tasks = await _gate(100)
    tickets = [gate.enter() for _ in range(gates.STARTS_PER_CORE + 1)]
    assert not tickets[-1].admitted.is_set()
    with anyio.fail_after(10):
        await tickets[-1].admitted.wait()
    for ticket in tickets:
        ticket.leave()
    await tasks.close(lambda: None)


async def test_a_start_that_only_waits_needs_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process sleeps."""
    monkeypatch.setattr(gates, "_cores", lambda: 1)
    gate, _, tasks = await _gate(100)
    tickets = [gate.enter() for _ in range(gates.STARTS_PER_CORE + 1)]
    async with await anyio.open_process(["sleep", "600"]) as process:
        tickets[0].spawned(process.pid)
        with anyio.fail_after(10):
            await tickets[-1].admitted.wait()
        process.kill()
    for ticket in tickets:
        ticket.leave()
    await tasks.close(lambda: None)


async def test_descriptors_are_waited_for_whoever_gives_them_back() -> None:
    """Also where nobody tells the gate; and who can spare some is asked for them."""
    gate, room, tasks = await _gate(100)
    room.free = 1
    tickets = [gate.enter() for _ in range(3)]
    assert _admitted(tickets) == [True, False, False]
    assert room.shorts
    room.free = 1
    with anyio.fail_after(10):
        await tickets[1].admitted.wait()
    assert not tickets[2].admitted.is_set()
    tickets[0].leave()
    assert tickets[2].admitted.is_set()
    for ticket in tickets:
        ticket.leave()
    await tasks.close(lambda: None)


async def test_who_gives_up_while_descriptors_are_waited_for_leaves_no_task_behind() -> None:
    """The host of the tasks can be closed."""
    gate, room, tasks = await _gate(100)
    room.free = 0
    ticket = gate.enter()
    await anyio.lowlevel.checkpoint()
    ticket.leave()
    with anyio.fail_after(10):
        await tasks.close(lambda: None)


def test_the_cores_are_counted_where_the_system_does_not_say_which_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """MacOS."""
    monkeypatch.delattr("os.sched_getaffinity")
    assert gates._cores() >= 1  # the one branch that this system does not take
