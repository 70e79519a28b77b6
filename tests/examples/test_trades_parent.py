"""The example that `scripts/run` shows: every file of a folder, each given to a child of its own."""

import json
import subprocess
from pathlib import Path

from tests.cli.command import REPO
from tests.examples.program import example

TRADES = REPO / "fixtures" / "trades"


def run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The example as a program."""
    return example("trades_parent.py", *words, cwd=cwd)


def test_every_file_comes_back_as_trades_and_warnings(tmp_path: Path) -> None:
    """In the tables, and as JSON in the folder that is named at the end."""
    done = run("--out", tmp_path, cwd=tmp_path)
    files = sorted(path.name for path in TRADES.iterdir())
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{name}.json" for name in files]
    assert f"JSON: {tmp_path}" in done.stdout.splitlines()[-2:]
    assert f"{len(files)}/{len(files)} " in done.stdout
    for name in files:
        value = json.loads((tmp_path / f"{name}.json").read_text())
        assert value["trades"], name
        assert f"{name}: {len(value['trades'])} trades, {len(value['warnings'])} warnings" in done.stdout


def test_one_file_that_fails_is_exit_code_1_and_changes_no_other(tmp_path: Path) -> None:
    """It is said why; the JSON of an earlier run does not stay in its place."""
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    (folder / "fills.jsonl").write_bytes((TRADES / "fills.jsonl").read_bytes())
    (folder / "empty.csv").touch()
    (out / "empty.csv.json").touch()
    done = run(folder, "--out", out, cwd=tmp_path)
    assert done.returncode == 1
    assert "empty.csv: failed (agent_error, " in done.stdout
    assert "fills.jsonl: 3 trades" in done.stdout
    assert [path.name for path in out.iterdir()] == ["fills.jsonl.json"]


def test_a_folder_without_files_is_a_usage_error(tmp_path: Path) -> None:
    """Nothing to do is not done well."""
    done = run(tmp_path, cwd=tmp_path)
    assert done.returncode == 2
    assert "name a folder with trade files" in done.stderr


def test_a_file_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Names come from other people too."""
    (tmp_path / "\x1b]0;owned\x07.csv").touch()
    done = run(tmp_path, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "\\x1b]0;owned\\x07.csv: failed" in done.stdout
