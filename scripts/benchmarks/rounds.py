"""Measures contenders in alternating rounds, so that what else the machine does meets all of them alike.

Owns the order and the medians. Absolute times say little on a busy machine; ratios within one run do.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from scripts.benchmarks.contenders import Child, Contender

REPO = Path(__file__).parents[2]
WORKER_SECONDS = 1200.0
_Name = TypeVar("_Name")


@dataclass(slots=True)
class Timings:
    """Of one contender: seconds by the clock, of this process's CPU, and of the prompt; a value a round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    prompt: list[float] = field(default_factory=list)


def alternating(names: Sequence[_Name], rounds: int, warm_up: int = 1) -> Iterator[tuple[_Name, bool]]:
    """Each name once a round, another one first in each; and whether the round counts: those to warm up do not."""
    for number in range(-warm_up, rounds):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            yield name, number >= 0


async def measure(contenders: Mapping[str, Contender], child: Child, *, rounds: int) -> dict[str, Timings]:
    """Whole runs in this process."""
    timings = {name: Timings() for name in contenders}
    for name, counts in alternating(list(contenders), rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        done = await contenders[name](child)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if done.rest is not None:
            await done.rest  # not this contender's time, nor the next one's
        if not done.answered:
            raise RuntimeError(f"{name}: the run brought no text; what it measured is not a run")
        if counts:
            timings[name].wall.append(wall)
            timings[name].cpu.append(cpu)
            timings[name].prompt.append(done.prompt_seconds)
    return timings


def measure_calls(calls: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of what blocking calls return, seconds of a program of its own, say."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for name, counts in alternating(list(calls), rounds):
        value = calls[name]()
        if counts:
            found[name].append(value)
    return {name: statistics.median(values) for name, values in found.items()}


def worker(name: str, child: Child, *, times: int = 1, at_once: int = 1) -> dict[str, Any]:
    """One contender in a process of its own, see `worker`."""
    argv = [sys.executable, "-m", "scripts.benchmarks.worker", name, str(times), str(at_once), *child]
    done = subprocess.run(argv, cwd=REPO, check=False, capture_output=True, text=True, timeout=WORKER_SECONDS)
    if done.returncode:
        raise RuntimeError(f"{name} failed with {done.returncode}: {done.stderr[-2000:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def workers(names: Sequence[str], child: Child, *, rounds: int, at_once: int = 1) -> dict[str, dict[str, float]]:
    """Medians of each figure of contenders in processes of their own, in alternating rounds."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for name, _ in alternating(names, rounds, warm_up=0):
        found[name].append(worker(name, child, at_once=at_once))
    keys = ("wall_seconds", "cpu_seconds", "prompt_seconds", "peak_mib", "threads", "answered")
    return {name: {key: statistics.median(row[key] for row in rows) for key in keys} for name, rows in found.items()}
