"""Measures contenders in alternating rounds, so that what else the machine does meets all of them alike.

Owns the order and the medians. Absolute times say little on a busy machine; ratios within one run do.
"""

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from scripts.benchmarks.contenders import Child, Contender


@dataclass(slots=True)
class Timings:
    """Of one contender: seconds by the clock and of this process's CPU, a value a round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def wall_median(self) -> float:
        """Seconds."""
        return statistics.median(self.wall)

    @property
    def cpu_median(self) -> float:
        """Seconds."""
        return statistics.median(self.cpu)


async def measure(contenders: Mapping[str, Contender], child: Child, *, rounds: int) -> dict[str, Timings]:
    """Each contender once a round, another one first in each; one round before, to warm up, does not count."""
    timings = {name: Timings() for name in contenders}
    names = list(contenders)
    for number in range(-1, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            wall, cpu, answered = await _once(contenders[name], child)
            if not answered:
                raise RuntimeError(f"{name}: the run brought no text; what it measured is not a run")
            if number >= 0:
                timings[name].wall.append(wall)
                timings[name].cpu.append(cpu)
    return timings


async def _once(contender: Contender, child: Child) -> tuple[float, float, int]:
    wall, cpu = time.perf_counter(), time.process_time()
    done = await contender(child)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if done.rest is not None:
        await done.rest  # not this contender's time, nor the next one's
    return wall, cpu, done.answered
