"""`subagent run --transcript FILE`: the wire is kept in the file that was asked for, and shown by `trace`."""

from pathlib import Path

import pytest

from acp_client.cli.command import execute
from tests.cli.command import playing, subagent
from tests.record.kept import Kept


def test_the_wire_is_kept_in_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """One of an earlier run is replaced; the answer and the exit code are as ever."""
    (tmp_path / "run.jsonl").write_text("of an earlier run\n")
    agent = playing(tmp_path, prompt=[{"chunk": "Hello"}])
    done = subagent("run", "--agent", agent, "--transcript", "run.jsonl", "hi", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"Hello\n")
    kept = Kept(tmp_path / "run.jsonl")
    assert kept.texts == ["Hello"]
    assert kept.faults() == []
    shown = subagent("trace", "run.jsonl", cwd=tmp_path)
    assert shown.returncode == 0
    assert b"Hello" in shown.stdout


@pytest.mark.parametrize(
    ("file", "fault"),
    [("", "is in no folder that is there"), (".", "is a folder"), ("none/run.jsonl", "is in no folder")],
)
def test_a_file_that_cannot_be_is_wrong_usage(file: str, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is started."""
    assert execute(["run", "--agent", "echo", "--transcript", file, "hi"]) == 2
    said = capsys.readouterr().err
    assert f"--transcript {file!r} {fault}" in said
    assert "name a file in one, such as run.jsonl" in said
