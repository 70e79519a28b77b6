"""Holds the coverage of the packages against what the project promises.

Line and branch coverage together, as coverage.py counts them. Owns the thresholds; measuring is
left to `pytest --cov`.
"""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

REPO = Path(__file__).resolve().parents[2]
OVERALL_PERCENT = 95.0
COMPLETE = (  # decided in pure code: nothing excuses an untested branch there
    "acp_client/protocol/*",
    "acp_client/session/turn*.py",
    "acp_client/process/environment.py",
    "acp_client/outcome/*",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Lines and branches of one file: how many there are, how many ran."""

    total: int
    covered: int

    def __add__(self, other: "Count") -> "Count":
        return Count(total=self.total + other.total, covered=self.covered + other.covered)

    @property
    def percent(self) -> float:
        """Of an empty file, all has run."""
        return 100.0 * self.covered / self.total if self.total else 100.0


NOTHING = Count(total=0, covered=0)


def main() -> None:
    """Judge the data file named on the command line (default: `.coverage`)."""
    data = Path(sys.argv[1]) if sys.argv[1:] else REPO / ".coverage"
    sys.exit(0 if holds(data) else 1)


def holds(data: Path) -> bool:
    """Print the report of the data file, then what falls short; True if nothing does."""
    coverage = [sys.executable, "-m", "coverage"]
    subprocess.run([*coverage, "report", f"--data-file={data}"], check=True, cwd=REPO)
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        json_report = [*coverage, "json", "-q", f"--data-file={data}", "-o", report.name]
        subprocess.run(json_report, check=True, cwd=REPO)
        files = counts(Path(report.name).read_text())
    short = shortfalls(files)
    print("\n".join(short) or "coverage: every threshold holds")
    return not short


def counts(report: str) -> dict[str, Count]:
    """Path → count, from coverage.py's JSON report."""
    summaries = {
        PurePosixPath(path).as_posix(): entry["summary"] for path, entry in json.loads(report)["files"].items()
    }
    return {
        path: Count(
            total=summary["num_statements"] + summary["num_branches"],
            covered=summary["covered_lines"] + summary["covered_branches"],
        )
        for path, summary in summaries.items()
    }


def shortfalls(files: dict[str, Count]) -> list[str]:
    """What is below its threshold: complete files, then packages at every depth, then overall."""
    short = [
        f"coverage: {path} has {count.percent:.1f} %, and must have 100 %"
        for path, count in sorted(files.items())
        if is_complete(path) and count.covered < count.total
    ]
    packages: dict[str, Count] = defaultdict(lambda: NOTHING)
    for path, count in files.items():
        for package in PurePosixPath(path).parents:
            packages[package.as_posix()] += count
    short += [
        f"coverage: {'all' if package == '.' else package} has {count.percent:.1f} %,"
        f" and must have {OVERALL_PERCENT:.0f} %"
        for package, count in sorted(packages.items())
        if count.percent < OVERALL_PERCENT
    ]
    return short


def is_complete(path: str) -> bool:
    """True if a file is promised to be covered without a gap. `*` reaches into sub-folders."""
    return any(fnmatchcase(path, pattern) for pattern in COMPLETE)


if __name__ == "__main__":
    main()
