"""The soak: runs drawn from every odd child, many at once, many of them cancelled at random; nothing may be left.

Prints the seed. Checks each result, and at the end processes, zombies, descriptors, threads and memory (resident memory
of the last quarter within 2 % of the second, after the allocator has been asked to give back what it holds).
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from acp_client import AgentSpec, Limits, Runner, RunResult
from acp_client.process.guardian import GUARDIAN, members
from scripts.tools.soak_children import CHILDREN

CONCURRENCY = 64
LIMITS = Limits(
    startup_timeout_seconds=30.0,
    idle_timeout_seconds=4.0,
    run_timeout_seconds=15.0,
    cancel_grace_seconds=0.5,
    eof_grace_seconds=0.5,
    term_grace_seconds=0.5,
    late_update_grace_seconds=0.05,
    max_frame_bytes=300_000,
)
HUNG = {"HANG-3", "HANG-4", "HANG-5"}
"""These wait for the startup limit: a short one, which the others could miss on a busy machine."""
CANCELLED_SHARE = 0.4
"""How many of the runs are cancelled, at a random moment of their first two seconds."""
CANCEL_WITHIN_SECONDS = 2.0
MEMORY_RATIO = 1.02
MEMORY_FLOOR_BYTES = 2 * 1024 * 1024
"""What a Python process drifts by without anything being kept."""


@dataclass
class Tally:
    """What came of the runs."""

    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    started: int = 0


def specs(folder: Path) -> dict[str, AgentSpec]:
    """A spec for each child."""
    found = {}
    for case, (scenario, _) in CHILDREN.items():
        file = folder / f"{case}.json"
        file.write_text(json.dumps(scenario))
        limits = LIMITS.model_copy(update={"startup_timeout_seconds": 2.0}) if case in HUNG else LIMITS
        command = (sys.executable, "-m", "acp_agent", "scripted", str(file))
        found[case] = AgentSpec(command=command, cwd=folder, limits=limits, name=case)
    return found


def resident_bytes() -> int:
    """Resident memory, after giving back what is free."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def one(runner: Runner, spec: AgentSpec, chance: random.Random, tally: Tally) -> None:
    """One run, perhaps cancelled."""
    case = str(spec.name)
    run = await runner.start(spec, "go")
    cancelled = chance.random() < CANCELLED_SHARE
    if cancelled:
        with anyio.move_on_after(chance.random() * CANCEL_WITHIN_SECONDS):
            await run.result()
        await run.cancel()
    check(case, await run.result(), tally, cancelled=cancelled)


def check(case: str, result: RunResult, tally: Tally, *, cancelled: bool) -> None:
    """Each case ends as it must, or as cancelled where it was."""
    tally.reasons[result.reason] += 1
    allowed = CHILDREN[case][1] + (("cancelled",) if cancelled else ())
    if result.reason not in allowed:
        message = result.failure.message if result.failure else ""
        tally.wrong.append(f"{case}: {result.reason}, expected one of {allowed}: {message[:300]}")


async def soak(options: argparse.Namespace, tally: Tally) -> None:
    """Draw and run until enough are done."""
    chance = random.Random(options.seed)  # noqa: S311  # no secret: it must be had again
    end = time.monotonic() + (options.seconds or float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        children = specs(Path(folder))
        names = sorted(children)

        async def worker(runner: Runner) -> None:
            while tally.started < options.runs and time.monotonic() < end:
                number = tally.started
                tally.started += 1
                await one(runner, children[names[number % len(names)]], chance, tally)
                if number % 25 == 0:
                    tally.memory.append(resident_bytes())

        async with Runner(max_concurrency=CONCURRENCY) as runner, anyio.create_task_group() as tasks:
            for _ in range(CONCURRENCY):
                tasks.start_soon(worker, runner)


def descriptors() -> int:
    """How many are open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def left_behind(before: int) -> dict[str, Any]:
    """What is still there that should not be."""
    mine = os.getpid()
    stats = [file.read_text() for file in Path("/proc").glob("[0-9]*/stat") if file.exists()]
    own = [line for line in stats if line.rpartition(")")[2].split()[1] == str(mine)]
    return {
        "processes": len(members(set(), GUARDIAN.token)),
        "children or zombies": len(own),
        "descriptors": descriptors() - before,
    }


def memory_is_flat(samples: list[int]) -> bool:
    """The last quarter against the second; too few samples say nothing."""
    quarter = len(samples) // 4
    if not quarter:
        return True
    second, last = samples[quarter : 2 * quarter], samples[3 * quarter :]
    middle, end = sorted(second)[len(second) // 2], sorted(last)[len(last) // 2]
    print(f"memory: second quarter {middle / 1e6:.1f} MB, last {end / 1e6:.1f} MB")
    return end <= middle * MEMORY_RATIO + MEMORY_FLOOR_BYTES


def main() -> int:
    """Soak and say what came of it; the exit code is 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=None, help="stop starting runs after so long")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--backend", choices=("asyncio", "trio"), default="asyncio")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.backend}", flush=True)
    _ = GUARDIAN.token  # starts it: its pipe is one of ours
    before = descriptors()
    tally = Tally()
    began = time.monotonic()
    anyio.run(soak, options, tally, backend=options.backend)
    left = left_behind(before)
    done = sum(tally.reasons.values())
    print(f"{done} runs in {time.monotonic() - began:.0f} s: {dict(tally.reasons.most_common())}")
    print(f"lost {tally.started - done}, left behind {left}, wrong {len(tally.wrong)}")
    print("\n".join(tally.wrong[:20]))
    clean = done == tally.started and not any(left.values()) and not tally.wrong
    return 0 if memory_is_flat(tally.memory) and clean else 1


if __name__ == "__main__":
    sys.exit(main())
