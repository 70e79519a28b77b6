"""Whole runs: how long one takes, a permission on its way, a warm start, and a thousand of them."""

import statistics
import sys
import time

from acp_client import AgentSpec, Runner
from scripts.benchmarks.contenders import AT_ONCE, PROMPT, Child, Contender, Done, official, ours
from scripts.benchmarks.floors import anyio_client, asyncio_client
from scripts.benchmarks.rounds import measure, worker
from scripts.benchmarks.table import Finding, Sizes

ASKS = 200
ECHO = (sys.executable, "-m", "acp_agent", "echo")
HUNDRED = 100
FLAT_MIB = 2.0
"""What the allocator may keep between the 200th run and the 1,000th: less than 3 KiB a run."""
MILLI = 1e3


async def run(child: Child, sizes: Sizes) -> list[Finding]:
    """One run in a warm parent, all guards on."""
    finding = Finding("one run, warm parent", "ms")
    async with Runner() as runner:
        contenders: dict[str, Contender] = {
            "answer()": ours(runner, "answer"),
            "result()": ours(runner, "result"),
            "official SDK": official,
            "minimal anyio client": anyio_client,
            "minimal asyncio client": asyncio_client,
        }
        timings = await measure(contenders, (*child, "1"), rounds=sizes.times(100))
    finding.figures = {name: MILLI * statistics.median(row.wall) for name, row in timings.items()}
    for until in ("answer()", "result()"):
        finding.ratio(until, "official SDK", 1.0)
        finding.ratio(until, "minimal anyio client", 1.5)
    return [finding]


async def permission(child: Child, sizes: Sizes) -> list[Finding]:
    """Many permissions one after another: the time for one, to there and back."""
    asks = sizes.of(ASKS)
    finding = Finding(f"permission round trip ({asks} in a turn)", "ms")
    async with Runner() as runner:
        contenders: dict[str, Contender] = {"ours": ours(runner), "official SDK": official}
        timings = await measure(contenders, (*child, "1", "0", str(asks)), rounds=sizes.times(10))
    finding.figures = {name: MILLI / asks * statistics.median(row.prompt) for name, row in timings.items()}
    finding.ratio("ours", "official SDK", 1.5)
    return [finding]


async def warm(_child: Child, sizes: Sizes) -> list[Finding]:
    """From the request to the prompt written, with a process that waits and without."""
    spec = AgentSpec(command=ECHO, limits=AT_ONCE)
    finding = Finding("request to prompt written, our echo agent", "ms")
    async with Runner() as cold_runner, Runner(warm={spec: 1}) as warm_runner:

        def start(runner: Runner, *, warmed: bool) -> Contender:
            async def contender(_: Child) -> Done:
                if warmed:
                    await runner.prewarm(spec)
                began = time.perf_counter()
                started = await runner.start(spec, PROMPT)
                answer = await started.answer()
                seconds = time.perf_counter() - began - (answer.timings.prompt or 0.0)
                return Done(len(answer.text), seconds, started.result())

            return contender

        contenders = {"cold": start(cold_runner, warmed=False), "warm": start(warm_runner, warmed=True)}
        timings = await measure(contenders, (), rounds=sizes.times(10))
    finding.figures = {name: MILLI * statistics.median(row.prompt) for name, row in timings.items()}
    finding.ratio("warm", "cold", 0.1)
    return [finding]


async def thousand(child: Child, sizes: Sizes) -> list[Finding]:
    """Runs one after another in one parent: neither time nor memory grows."""
    times = sizes.of(10 * HUNDRED)
    part = times // 10
    report = worker("ours", (*child, "1"), times=times)
    runs, resident = report["runs"], report["resident_mib"]
    second, last = statistics.median(runs[part : 2 * part]), statistics.median(runs[-part:])
    finding = Finding(f"{times} runs one after another", "")
    finding.figures = {
        "second tenth, ms": MILLI * second,
        "last tenth, ms": MILLI * last,
        "resident after two tenths, MiB": resident[2 * part - 1],
        "resident at the end, MiB": resident[-1],
    }
    finding.at_most("time of a run, last tenth / second tenth", last / second, 1.05)
    finding.at_most("resident memory gained after two tenths, MiB", resident[-1] - resident[2 * part - 1], FLAT_MIB)
    return [finding]
