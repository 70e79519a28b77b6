"""The benchmark runs, in small; its figures are for people to read, never for a test."""

import json
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).parents[2]


def test_the_benchmark_compares_whole_runs_and_updates(tmp_path: Path) -> None:
    """Each contender has done each run, and the figures are there for programs too."""
    out = tmp_path / "bench.json"
    sizes = ["--rounds", "1", "--update-rounds", "1", "--updates", "50"]
    done = subprocess.run(
        [sys.executable, "-m", "scripts.benchmarks", *sizes, "--json", str(out)],
        cwd=REPO,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(out.read_text())
    rows = {name: row for key in ("one_run", "update") for name, row in report[key].items() if isinstance(row, dict)}
    assert {"official SDK", "result()", "answer()", "result(), no late grace", "answer(), no late grace"} == set(rows)
    assert all(row["rounds"] == 1 and row["times_faster_wall"] > 0 for row in rows.values())
    assert report["versions"]["agent-client-protocol"] in done.stdout
    assert all(name in done.stdout for name in rows)
