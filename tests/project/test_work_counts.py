"""How much work a run is, in counts that do not depend on how busy the machine is.

What is counted varies with how a pipe fills, by tens; one more of anything per update is a thousand more, and is seen.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from acp_client import AgentSpec, Limits, Run, Runner, RunResult

MOCK = Path(__file__).parents[2] / "scripts" / "benchmarks" / "mock_agent.py"
FEW, MANY = 1_000, 11_000
THOUSANDS = (MANY - FEW) / 1_000
SYSTEM_CALLS = {"posix", "select", "signal", "_socket", "_posixsubprocess", "fcntl"}
"""Modules of C functions of which each call is at least one of the kernel's; and `poll` is a method of select's."""


def test_the_work_for_a_thousand_updates_is_bounded() -> None:
    """They are read as they come, a pipe full at a time, and folded in place: nothing is done for each but its fold."""
    few, many = counted(FEW), counted(MANY)
    for what, bound in (("turns", 60), ("system calls", 120), ("calls", 2_800)):
        assert (many[what] - few[what]) / THOUSANDS <= bound, what


def test_a_live_reader_costs_a_batch_per_read() -> None:
    """An event for each update when it is read, and no more."""
    few, many = counted(FEW, read_all), counted(MANY, read_all)
    for what, bound in (("turns", 60), ("system calls", 120), ("calls", 2_800)):
        assert (many[what] - few[what]) / THOUSANDS <= bound, what


def test_the_work_for_a_run_is_bounded() -> None:
    """Spawn, handshake, a prompt with one update, the end: without polls, and without turns for nothing."""
    counts = counted(1)
    assert counts["turns"] <= 24
    assert counts["system calls"] <= 80
    assert counts["calls"] <= 2_600


def test_what_a_thousand_updates_leave_behind_is_bounded() -> None:
    """Their text, joined in blocks; no object for each."""
    few, many = kept(FEW), kept(MANY)
    assert (many - few) / THOUSANDS <= 100


async def read_all(run: Run) -> None:
    """Look at every event."""
    async for _event in run.events():
        pass


def counted(updates: int, reader: Callable[[Run], Any] | None = None) -> Counter[str]:
    """What this thread does for one run of so many updates, once everything is imported."""
    counts: Counter[str] = Counter()

    async def main() -> None:
        async with Runner() as runner:
            await one_run(runner, 1, None)
            with counting(counts):
                await one_run(runner, updates, reader)

    anyio.run(main)
    return counts


def kept(updates: int) -> int:
    """Blocks of memory that a result of so many updates holds."""
    found = []

    async def main() -> None:
        async with Runner() as runner:
            await one_run(runner, 1, None)
            before = sys.getallocatedblocks()
            result = await one_run(runner, updates, None)
            found.append(sys.getallocatedblocks() - before)
            assert result.text

    anyio.run(main)
    return found[0]


async def one_run(runner: Runner, updates: int, reader: Callable[[Run], Any] | None) -> RunResult:
    """To the result, with a reader if there is one."""
    command = (sys.executable, "-S", str(MOCK), str(updates))
    with anyio.fail_after(60):
        run = await runner.start(AgentSpec(command=command, limits=Limits(late_update_grace_seconds=0)), "go")
        async with anyio.create_task_group() as tasks:
            if reader is not None:
                tasks.start_soon(reader, run)
            result = await run.result()
    assert result.status == "completed", result.failure
    return result


@contextmanager
def counting(counts: Counter[str]) -> Iterator[None]:
    """Count calls of Python functions, and those of C functions that ask the kernel."""

    def note(_frame: Any, event: str, function: Any) -> None:
        if event == "call":
            counts["calls"] += 1
        elif event == "c_call":
            owner = function.__module__ or type(getattr(function, "__self__", None)).__module__
            if owner in SYSTEM_CALLS:
                counts["system calls"] += 1
                counts["turns"] += function.__name__ == "poll"

    assert sys.getprofile() is None, "a profiler of somebody else's would be replaced"
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
