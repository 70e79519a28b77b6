"""`python -m scripts.benchmarks`: our runner beside the official SDKs, other clients and hand-written floors.

Every figure is a median of alternating rounds in this one run, and every bound a ratio or an amount; names choose
single benchmarks. `--check` exits with 1 when a bound is missed, `--json FILE` writes all of it for programs.
"""

import argparse
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio

from scripts.benchmarks import typescript
from scripts.benchmarks.contenders import Child, mock_child
from scripts.benchmarks.rows import many, runs, starting, streams
from scripts.benchmarks.table import Finding, Row, Sizes

DISTRIBUTIONS = ("acp-subagents", "agent-client-protocol", "anyio", "pydantic", "pydantic-core")
ROWS: dict[str, Row] = {
    "updates": streams.updates,
    "stalled": streams.stalled,
    "frames": streams.frames,
    "memory": streams.memory,
    "run": runs.run,
    "permission": runs.permission,
    "warm": runs.warm,
    "thousand": runs.thousand,
    "cold": starting.cold,
    "child": starting.child,
    "import": starting.importing,
    "many": many.many,
}


def main() -> int:
    """Measure, print, and write what was asked for; returns the exit code."""
    options = _options()
    sizes = Sizes(quick=options.quick, rounds=options.rounds)
    with mock_child() as child:
        report: dict[str, Any] = {"versions": _versions(child), "quick": options.quick, "benchmarks": {}}
        sys.stdout.write(", ".join(f"{name} {number}" for name, number in report["versions"].items()) + "\n")
        missed = []
        for name in options.names or ROWS:
            findings = anyio.run(_one, name, child, sizes)
            report["benchmarks"][name] = [finding.to_json() for finding in findings]
            missed += [check.what for finding in findings for check in finding.checks if not check.holds]
    if options.json is not None:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")
    return 1 if options.check and missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(ROWS)}")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the sizes and of the rounds: the way, no proof"
    )
    parser.add_argument("--rounds", type=int, help="so many rounds of each")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a bound is missed")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in ROWS]:
        parser.error(f"no benchmark {unknown[0]!r}; there are: {', '.join(ROWS)}")
    return options


async def _one(name: str, child: Child, sizes: Sizes) -> list[Finding]:
    findings = await ROWS[name](child, sizes)
    for finding in findings:
        first, *rest = finding.lines()
        sys.stdout.write("\n".join((f"\n{name}: {first}", *rest)) + "\n")
    sys.stdout.flush()
    return findings


def _versions(child: Child) -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "child": "C" if len(child) == 1 else "Python",
        **{name: version(name) for name in DISTRIBUTIONS},
        "typescript-sdk": typescript.SDK,
        "node": typescript.NODE,
    }


if __name__ == "__main__":
    sys.exit(main())
