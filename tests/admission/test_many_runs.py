"""Many runs in little room: all of them complete, and each says how long it waited."""

import threading
from pathlib import Path

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner
from tests.support.kernel import nothing_left, run_parent
from tests.support.tiny import tiny
from tests.support.warm.agent import noted, warm_spec

LITTLE_ROOM = """
import os, resource, sys
from pathlib import Path
import anyio
from acp_client import Runner, run_subagent
from acp_client.admission.descriptors import RESERVE, STARTING
from tests.support.tiny import tiny

loop, way = sys.argv[1:]
results = []

async def alone():
    results.append(await run_subagent(tiny(), "go"))

async def main():
    await alone()  # what is loaded late is there, and the guardian
    results.clear()
    used = len(os.listdir("/dev/fd"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + RESERVE + 3 * STARTING - 1, hard))
    if way == "each":
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(alone)
    else:
        async with Runner(max_concurrency=20, warm={tiny(): 2} if way == "warm" else None) as runner:
            if way == "warm":
                await runner.prewarm(tiny(), 2)
            async for _, result in runner.run_many([(tiny("true;"), "go")] * 20):
                results.append(result)
    assert [result.reason for result in results] == ["end_turn"] * 20, results
    assert max(result.timings.queued for result in results) > min(result.timings.spawn for result in results)

anyio.run(main, backend=loop)
"""


@pytest.mark.parametrize("way", ["one runner", "each", "warm"])
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_twenty_runs_with_room_for_two_or_three_all_complete(loop: str, way: str) -> None:
    """In one runner, or each in its own; and what is kept warm gives way."""

    async def main() -> None:
        with anyio.fail_after(60):
            await run_parent(LITTLE_ROOM, loop, way)

    anyio.run(main)


async def test_a_run_says_how_long_it_was_queued(tmp_path: Path) -> None:
    """Next to nothing where there is room; until the other's end where there is not; also where it never came in."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(30):
        async with Runner(max_concurrency=1) as runner:
            first, second, third = [await runner.start(spec, "go") for _ in range(3)]
            await third.cancel()
            cancelled = await third.result()
            results = [await run.result() for run in (first, second)]
    (queued, waited) = (result.timings.queued for result in results)
    assert queued is not None
    assert waited is not None
    assert queued < waited
    assert cancelled.reason == "cancelled"
    assert cancelled.timings.queued is not None
    assert cancelled.timings.spawn is None
    assert len(noted(tmp_path, "start")) == 2


async def test_the_wait_for_a_place_is_not_the_agents_time() -> None:
    """A limit that is shorter than all of them together."""
    limits = Limits(run_timeout_seconds=5.0, cancel_grace_seconds=0.2, late_update_grace_seconds=0.0)
    spec = tiny("sleep 1;", limits=limits)
    with nothing_left(), anyio.fail_after(60):
        async with Runner(max_concurrency=1) as runner:
            runs = [await runner.start(spec, "go") for _ in range(6)]
            results = [await run.result() for run in runs]
    assert [result.reason for result in results] == ["end_turn"] * 6
    assert (results[-1].timings.queued or 0) >= 5


async def test_a_hundred_children_at_once_cost_no_thread_each() -> None:
    """A few workers start them; no watcher waits in a thread."""
    before = threading.active_count()
    most = 0
    spec: AgentSpec = tiny()
    with nothing_left(), anyio.fail_after(60):
        async with Runner(max_concurrency=100) as runner:
            async for _, result in runner.run_many([(spec, "go")] * 100):
                most = max(most, threading.active_count())
                assert result.reason == "end_turn"
    assert most - before <= 10
