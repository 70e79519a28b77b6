"""`python -m scripts.benchmarks`: latency of a whole run and updates a second, ours beside the official SDK's client.

Prints medians and ratios, with the versions of what was compared; `--json FILE` writes the same for programs.
"""

import argparse
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio

from acp_client import Limits, Runner
from scripts.benchmarks.contenders import Child, Contender, mock_child, official, ours
from scripts.benchmarks.rounds import Timings, measure

DISTRIBUTIONS = ("acp-subagents", "agent-client-protocol", "anyio", "pydantic", "pydantic-core")
BASE = "official SDK"
MILLI, MICRO = 1e3, 1e6


def main() -> None:
    """Measure, print, and write what was asked for."""
    options = _options()
    report = anyio.run(_measure, options)
    _print(report)
    if options.json is not None:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="rounds of the latency of one run (30)")
    parser.add_argument("--update-rounds", type=int, default=5, help="rounds of the update rate (5)")
    parser.add_argument("--updates", type=int, default=100_000, help="updates in one turn (100000)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    return parser.parse_args()


async def _measure(options: argparse.Namespace) -> dict[str, Any]:
    at_once = Limits(late_update_grace_seconds=0.0)
    with mock_child() as child:
        async with Runner() as runner:
            runs: dict[str, Contender] = {
                BASE: official,
                "result()": ours(runner, "result", Limits()),
                "answer()": ours(runner, "answer", Limits()),
                "result(), no late grace": ours(runner, "result", at_once),
                "answer(), no late grace": ours(runner, "answer", at_once),
            }
            latency = await measure(runs, (*child, "1"), rounds=options.rounds)
            streams: dict[str, Contender] = {BASE: official, "result(), no late grace": runs["result(), no late grace"]}
            rate = await measure(streams, (*child, str(options.updates)), rounds=options.update_rounds)
    return {
        "versions": _versions(child),
        "one_run": _table(latency, MILLI, "ms"),
        "update": {"updates": options.updates, **_table(rate, MICRO / options.updates, "us")},
    }


def _versions(child: Child) -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "child": "C" if len(child) == 1 else "Python",
        **{name: version(name) for name in DISTRIBUTIONS},
    }


def _table(timings: dict[str, Timings], scale: float, unit: str) -> dict[str, Any]:
    """Medians in a unit, and how many times faster than the official SDK's client (above 1: faster)."""
    base = timings[BASE]
    return {
        name: {
            f"wall_{unit}": row.wall_median * scale,
            f"cpu_{unit}": row.cpu_median * scale,
            "times_faster_wall": base.wall_median / row.wall_median,
            "times_faster_cpu": base.cpu_median / row.cpu_median,
            "rounds": len(row.wall),
        }
        for name, row in timings.items()
    }


def _print(report: dict[str, Any]) -> None:
    print(", ".join(f"{name} {number}" for name, number in report["versions"].items()))
    for title, unit, key in (("one whole run", "ms", "one_run"), ("one update", "us", "update")):
        print(f"\n{title:<28}{unit:>9}{'CPU ' + unit:>10}{'times faster':>15}{'by CPU':>9}")
        for name, row in report[key].items():
            if isinstance(row, dict):
                figures = (row[f"wall_{unit}"], row[f"cpu_{unit}"], row["times_faster_wall"], row["times_faster_cpu"])
                print("  {:<26}{:>9.2f}{:>10.2f}{:>15.2f}{:>9.2f}".format(name, *figures))


if __name__ == "__main__":
    main()
