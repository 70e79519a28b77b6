"""The benchmarks run, in small; their figures are for people to read, never for a test."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.benchmarks.__main__ import ROWS
from scripts.benchmarks.table import Check, Finding, Sizes

REPO = Path(__file__).parents[2]


def bench(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """One of the two programs, to its end."""
    argv = [sys.executable, "-m", module, *words]
    return subprocess.run(argv, cwd=REPO, check=False, capture_output=True, text=True, timeout=110)


def test_chosen_benchmarks_compare_whole_runs_side_by_side(tmp_path: Path) -> None:
    """Each contender has done each run, and figures, checks and versions are there for programs too."""
    out = tmp_path / "bench.json"
    done = bench("scripts.benchmarks", "run", "permission", "--quick", "--rounds", "1", "--json", str(out))
    assert done.returncode == 0, done.stderr
    report = json.loads(out.read_text())
    (run,), (permission,) = report["benchmarks"]["run"], report["benchmarks"]["permission"]
    assert {"answer()", "result()", "official SDK", "minimal anyio client"} <= run["figures"].keys()
    assert {check["bound"] for check in run["checks"]} == {1.0, 1.5}
    assert all(value > 0 for one in (run, permission) for value in one["figures"].values())
    assert report["versions"]["agent-client-protocol"] in done.stdout
    assert all(name in done.stdout for name in run["figures"])


def test_every_row_that_must_be_shown_has_a_benchmark() -> None:
    """By the names that choose them."""
    must = {"updates", "stalled", "frames", "memory", "run", "permission", "warm", "thousand", "cold", "child", "many"}
    assert must <= ROWS.keys()


def test_an_unknown_benchmark_is_told_the_names() -> None:
    """A usage error, before anything is measured."""
    done = bench("scripts.benchmarks", "speed")
    assert done.returncode == 2
    assert "there are: updates" in done.stderr


@pytest.mark.parametrize(("value", "holds"), [(1.0, True), (1.01, False)])
def test_a_bound_holds_or_is_missed(value: float, holds: bool) -> None:  # noqa: FBT001  # a case
    """A contender that was skipped is not checked; what is missed is said."""
    finding = Finding("work", "s", figures={"ours": value, "theirs": 1.0})
    finding.ratio("ours", "theirs", 1.0)
    finding.ratio("ours", "nobody", 1.0)
    written: dict[str, Any] = finding.to_json()
    assert [check["holds"] for check in written["checks"]] == [holds]
    assert ("MISSED" in "\n".join(finding.lines())) is not holds


def test_a_lower_bound_is_one() -> None:
    """Times faster: more is better."""
    finding = Finding("work", "s", figures={"ours": 1.0, "theirs": 9.0})
    finding.faster("ours", "theirs", 10.0)
    assert finding.checks == [Check("ours, times faster than theirs", 9.0, ">=", 10.0)]
    assert not finding.checks[0].holds


def test_quick_is_a_tenth() -> None:
    """Of sizes and of rounds, one at the least; given rounds count as they are."""
    assert (Sizes(quick=True).of(1000), Sizes(quick=True).times(5), Sizes(quick=True, rounds=3).times(50)) == (
        100,
        1,
        3,
    )


def test_the_profile_prints_the_top_functions_and_writes_a_file(tmp_path: Path) -> None:
    """Of our part of a benchmark."""
    out = tmp_path / "run.prof"
    done = bench("scripts.benchmarks.profiling", "permission", "--top", "5", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "tottime" in done.stdout
    assert out.stat().st_size > 0
