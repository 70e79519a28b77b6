"""One contender in a process of its own: `python -m scripts.benchmarks.worker NAME TIMES AT_ONCE CHILD…`.

Prints a line of JSON: seconds by the clock and of CPU, seconds of each run, the peak of memory over what there was
before the first run, threads, characters. For figures that a shared process would blur.
"""

import json
import resource
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

import anyio

from acp_client import Runner
from scripts.benchmarks.contenders import Child, Contender, Done, official, ours, read_all, stall
from scripts.benchmarks.floors import anyio_client, asyncio_client, decode_only

READERS = {"ours": None, "ours listening": read_all, "ours stalled": stall}
OTHERS: dict[str, Contender] = {
    "official": official,
    "anyio": anyio_client,
    "asyncio": asyncio_client,
    "decode only": decode_only,
}
LOOK_SECONDS = 0.05
WARM_UP = ("1",)


def resident_kib(key: str = "VmRSS") -> int:
    """Of this process: `VmRSS` now, `VmHWM` at its highest."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1])
    return 0


async def measure(contender: Contender, times: int, at_once: int, child: Child) -> dict[str, Any]:
    """`times` rounds of `at_once` runs each."""
    warmed = await contender((*(word for word in child if not word.isdigit()), *WARM_UP))
    if warmed.rest is not None:
        await warmed.rest
    before, threads = resident_kib(), [0]
    seconds: list[float] = []
    resident: list[int] = []
    answered: list[Done] = []
    watcher = threading.Event()
    thread = threading.Thread(target=_watch, args=(watcher, threads), daemon=True)
    thread.start()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        began = time.perf_counter()
        answered = await _together(contender, at_once, child)
        seconds.append(time.perf_counter() - began)
        resident.append(resident_kib())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    watcher.set()
    return {
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "runs": seconds,
        "resident_mib": [kib / 1024 for kib in resident],
        "prompt_seconds": statistics.median(done.prompt_seconds for done in answered),
        "peak_mib": (resident_kib("VmHWM") - before) / 1024,
        "threads": threads[0],
        "answered": sum(done.answered for done in answered),
    }


async def _together(contender: Contender, at_once: int, child: Child) -> list[Done]:
    answered: list[Done] = []

    async def one() -> None:
        done = await contender(child)
        if done.rest is not None:
            await done.rest
        answered.append(done)

    if at_once == 1:
        await one()
        return answered
    async with anyio.create_task_group() as tasks:
        for _ in range(at_once):
            tasks.start_soon(one)
    return answered


def _watch(stop: threading.Event, most: list[int]) -> None:
    while not stop.wait(LOOK_SECONDS):
        tasks = len(list(Path("/proc/self/task").iterdir())) - 1  # not this one
        most[0] = max(most[0], tasks)


async def main(name: str, times: int, at_once: int, child: Child) -> None:
    """Measure and print."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else soft, hard))
    if name in OTHERS:
        report = await measure(OTHERS[name], times, at_once, child)
    else:
        async with Runner(max_concurrency=at_once) as runner:
            report = await measure(ours(runner, reader=READERS[name]), times, at_once, child)
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), tuple(sys.argv[4:]))
