"""Waits without a task: what they tell, in which order, and that they end. Ordered by bytes, never by time."""

import asyncio
import math
import os
from collections.abc import Callable, Iterator

import anyio
import anyio.lowlevel
import pytest

from acp_client.loop.waits import Alarm, LazyEvent, Readable, Rest

SECONDS = 10.0


@pytest.fixture(name="pipe")
def _pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield reading, writing
    for fd in (reading, writing):
        try:
            os.close(fd)
        except OSError:
            continue


def reader(fd: int, got: list[bytes], more: Callable[[bytes], Rest | None] = lambda _data: None) -> Readable:
    """Reads three bytes at each call; closes itself at EOF."""

    def read() -> Rest | None:
        try:
            data = os.read(fd, 3)
        except BlockingIOError:
            data = b"-"
        got.append(data)
        if not data:
            readable.close()
        return more(data)

    readable = Readable(fd, read)
    return readable


async def until(condition: Callable[[], bool]) -> None:
    """Turns of the loop, until it is so."""
    with anyio.fail_after(SECONDS):
        while not condition():
            await anyio.lowlevel.checkpoint()


async def test_each_time_there_is_something_the_callback_is_called_until_it_closes(pipe: tuple[int, int]) -> None:
    """In pieces as it reads them, to EOF."""
    got: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        reader(pipe[0], got).open(tasks.start_soon)
        os.write(pipe[1], b"abcd")
        await until(lambda: len(got) == 2)
        os.close(pipe[1])
        await until(lambda: got == [b"abc", b"d", b""])


async def test_nothing_is_told_after_close(pipe: tuple[int, int]) -> None:
    """Not even of what is there already."""
    got: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        readable = reader(pipe[0], got)
        readable.open(tasks.start_soon)
        os.write(pipe[1], b"x")
        readable.close()
        readable.close()
        await anyio.wait_all_tasks_blocked()
    assert got == []


async def test_from_now_on_at_every_turn(pipe: tuple[int, int]) -> None:
    """Though nothing is there: whoever asks so reads to the end, and closes."""
    got: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        readable = reader(pipe[0], got)
        readable.open(tasks.start_soon)
        await anyio.wait_all_tasks_blocked()
        readable.always()
        readable.always()
        await until(lambda: len(got) > 2)
        assert set(got) == {b"-"}
        readable.close()
    before = len(got)
    await anyio.lowlevel.checkpoint()
    assert len(got) == before


async def test_what_the_callback_returns_is_awaited_before_the_next_call(pipe: tuple[int, int]) -> None:
    """So nothing more is read while somebody is behind."""
    got: list[bytes] = []
    room = anyio.Event()
    async with anyio.create_task_group() as tasks:
        reader(pipe[0], got, lambda data: room.wait if data == b"abc" else None).open(tasks.start_soon)
        os.write(pipe[1], b"abcdef")
        await until(lambda: bool(got))
        await anyio.wait_all_tasks_blocked()
        assert got == [b"abc"]
        room.set()
        await until(lambda: len(got) == 2)
        os.close(pipe[1])
        await until(lambda: got == [b"abc", b"def", b""])


async def test_closed_while_it_rests_it_stays_so(pipe: tuple[int, int]) -> None:
    """Nothing begins anew when the rest is over."""
    got: list[bytes] = []
    room = anyio.Event()
    async with anyio.create_task_group() as tasks:
        readable = reader(pipe[0], got, lambda _data: room.wait)
        readable.open(tasks.start_soon)
        os.write(pipe[1], b"abcdef")
        await until(lambda: bool(got))
        readable.close()
        room.set()
    await anyio.lowlevel.checkpoint()
    assert got == [b"abc"]


async def test_what_the_callback_raises_ends_the_group(pipe: tuple[int, int]) -> None:
    """And no other call comes."""
    got: list[bytes] = []

    def fail(_data: bytes) -> None:
        raise LookupError("a fault of ours")

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            reader(pipe[0], got, fail).open(tasks.start_soon)
            os.write(pipe[1], b"abcdef")
            await anyio.sleep_forever()

    with anyio.fail_after(SECONDS), pytest.raises(ExceptionGroup) as caught:
        await work()
    assert caught.group_contains(LookupError, match="a fault of ours")
    assert got == [b"abc"]


async def test_it_goes_on_with_another_group_where_the_first_was_cancelled(pipe: tuple[int, int]) -> None:
    """As a process does that a run takes from who kept it warm."""
    got: list[bytes] = []
    readable = reader(pipe[0], got)
    async with anyio.create_task_group() as tasks:
        readable.open(tasks.start_soon)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    async with anyio.create_task_group() as tasks:
        readable.open(tasks.start_soon)
        os.write(pipe[1], b"x")
        os.close(pipe[1])
        await until(lambda: got == [b"x", b""])


def test_a_callback_may_use_anyio_where_asyncio_was_started_by_somebody_else(pipe: tuple[int, int]) -> None:
    """A callback is in no task, so sniffio would not know the loop."""
    found: list[float] = []

    def note() -> None:
        found.append(anyio.current_time())

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            readable = Readable(pipe[0], note)
            readable.open(tasks.start_soon)
            os.write(pipe[1], b"x")
            await until(lambda: bool(found))
            readable.close()
            found.clear()
            Alarm(note).set(anyio.current_time(), tasks.start_soon)
            await until(lambda: bool(found))

    asyncio.run(main())


async def test_an_alarm_rings_once_at_its_time() -> None:
    """And after those that are due before it."""
    rung: list[str] = []
    async with anyio.create_task_group() as tasks:
        late, early = Alarm(lambda: rung.append("late")), Alarm(lambda: rung.append("early"))
        late.set(anyio.current_time() + 0.02, tasks.start_soon)
        early.set(anyio.current_time() + 0.01, tasks.start_soon)
        await until(lambda: len(rung) == 2)
        await anyio.wait_all_tasks_blocked()
    assert rung == ["early", "late"]


async def test_an_alarm_is_set_anew_or_cancelled_or_never() -> None:
    """Only the last time counts; one that is infinite never comes."""
    rung: list[str] = []
    async with anyio.create_task_group() as tasks:
        one, two, three = (Alarm(lambda name=name: rung.append(name)) for name in ("one", "two", "three"))  # type: ignore[misc]
        one.set(anyio.current_time(), tasks.start_soon)
        one.set(anyio.current_time() + 3600, tasks.start_soon)
        two.set(anyio.current_time(), tasks.start_soon)
        two.cancel()
        two.cancel()
        three.set(math.inf, tasks.start_soon)
        last = Alarm(lambda: rung.append("last"))
        last.set(anyio.current_time() + 0.01, tasks.start_soon)
        await until(lambda: rung == ["last"])
        one.cancel()


async def test_what_an_alarm_raises_ends_the_group() -> None:
    """As what a task raises."""

    def fail() -> None:
        raise LookupError("a fault of ours")

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            Alarm(fail).set(anyio.current_time(), tasks.start_soon)
            await anyio.sleep_forever()

    with anyio.fail_after(SECONDS), pytest.raises(ExceptionGroup) as caught:
        await work()
    assert caught.group_contains(LookupError, match="a fault of ours")


async def test_an_event_wakes_all_who_wait_and_whoever_comes_later() -> None:
    """Whoever was cancelled is passed over, also in the turn in which it is set."""
    event = LazyEvent()
    woken: list[str] = []
    scopes: list[anyio.CancelScope] = []

    async def wait(name: str) -> None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await event.wait()
            woken.append(name)

    looks = [event.is_awaited]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait, "cancelled")
        await anyio.wait_all_tasks_blocked()
        looks.append(event.is_awaited)
        scopes[0].cancel()
        await anyio.wait_all_tasks_blocked()
        looks.append(event.is_awaited)
        tasks.start_soon(wait, "cancelled as it is set")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(wait, "one")
        tasks.start_soon(wait, "two")
        await anyio.wait_all_tasks_blocked()
        scopes[1].cancel()
        event.set()
        event.set()
    await wait("later")
    assert sorted({*woken} - {"cancelled as it is set"}) == ["later", "one", "two"]
    assert looks == [False, True, False]
    assert event.is_set()
