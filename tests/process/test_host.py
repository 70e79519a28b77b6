"""Tasks in a host: they end with what they help, and a fault of theirs ends it."""

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import pytest

from acp_client.process.host import Helpers, TaskHost

SECONDS = 10.0


def never() -> None:
    """Nobody cancels these hosts."""
    raise AssertionError("cancelled")


async def test_closing_waits_for_the_tasks_and_tells_the_first_fault() -> None:
    """A fault of one ends no other."""
    host, done = TaskHost(), []
    gate = anyio.Event()

    async def fail(text: str) -> None:
        raise LookupError(text)

    async def work() -> None:
        await gate.wait()
        done.append("work")

    with anyio.fail_after(SECONDS):
        host.start_soon(fail, "first", name="one")
        host.start_soon(work, name="two", on_end=lambda: done.append("its end"))
        await anyio.wait_all_tasks_blocked()
        host.start_soon(fail, "second", name="three")
        gate.set()
        with pytest.raises(LookupError, match="first"):
            await host.close(never)
    assert done == ["work", "its end"]


async def test_a_cancelled_close_is_told_and_waits_all_the_same() -> None:
    """Then the cancellation goes on."""
    host, told = TaskHost(), []
    gate = anyio.Event()

    async def work() -> None:
        await gate.wait()
        told.append("done")

    def cancelled() -> None:
        told.append("cancelled")
        gate.set()

    with anyio.fail_after(SECONDS):
        host.start_soon(work, name="work")
        with anyio.CancelScope() as scope:
            scope.cancel()
            await host.close(cancelled)
        assert scope.cancelled_caught
    assert told == ["cancelled", "done"]


async def helped(work: Callable[[Helpers], Awaitable[None]]) -> None:
    """Attend to some work, in a host that is closed after it."""
    host = TaskHost()
    with anyio.fail_after(SECONDS):
        helpers = Helpers(host)
        try:
            await helpers.attend(work(helpers))
        finally:
            await host.close(never)


async def test_helpers_end_with_the_work() -> None:
    """They are waited for, whatever they still do."""
    ended = []

    async def help_on() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            await anyio.lowlevel.cancel_shielded_checkpoint()
            ended.append("helper")

    async def work(helpers: Helpers) -> None:
        helpers.start(help_on)
        await anyio.wait_all_tasks_blocked()

    await helped(work)
    assert ended == ["helper"]


async def test_a_helper_that_begins_when_the_work_is_over_ends_too() -> None:
    """Else nobody would end it, and the work would never be done."""
    ended = []

    async def late() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("late")

    async def work(helpers: Helpers) -> None:
        async def help_on() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                helpers.start(late)

        helpers.start(help_on)
        await anyio.wait_all_tasks_blocked()

    await helped(work)
    assert ended == ["late"]


async def test_the_fault_of_a_helper_ends_the_work_and_is_raised() -> None:
    """Also one that comes before the work waits for anything."""

    async def fail() -> None:
        raise LookupError("a fault of ours")

    async def work(helpers: Helpers) -> None:
        helpers.start(fail)
        await anyio.sleep_forever()

    with pytest.raises(LookupError, match="a fault of ours"):
        await helped(work)


async def test_what_the_work_raises_counts_before_what_a_helper_does() -> None:
    """And the helpers end."""

    async def fail_late() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise LookupError("late")

    async def work(helpers: Helpers) -> None:
        helpers.start(fail_late)
        await anyio.wait_all_tasks_blocked()
        raise KeyError("the work")

    with pytest.raises(KeyError, match="the work"):
        await helped(work)
