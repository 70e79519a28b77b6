"""`subagent run --transcript FILE`: the wire is kept in the file that was asked for, and shown by `trace`."""

from pathlib import Path

import pytest

from acp_client.cli.command import execute
from acp_client.record.format.lines import Header, encode_line
from tests.cli.command import playing, subagent
from tests.record.kept import Kept


def test_the_wire_is_kept_in_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """One of an earlier run is replaced; the answer and the exit code are as ever."""
    (tmp_path / "run.jsonl").write_bytes(encode_line(Header(run_id="an earlier one")))
    agent = playing(tmp_path, prompt=[{"chunk": "Hello"}])
    done = subagent("run", "--agent", agent, "--transcript", "run.jsonl", "hi", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"Hello\n")
    kept = Kept(tmp_path / "run.jsonl")
    assert kept.texts == ["Hello"]
    assert kept.faults() == []
    shown = subagent("trace", "run.jsonl", cwd=tmp_path)
    assert shown.returncode == 0
    assert b"Hello" in shown.stdout


def test_a_file_that_is_no_transcript_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong usage, before anything is started; an empty file, as mktemp makes one, may be."""
    notes = tmp_path / "notes.txt"
    notes.write_text("a week of work\n")
    assert execute(["run", "--agent", "echo", "--transcript", str(notes), "hi"]) == 2
    assert "is there already and is no transcript, so it is not overwritten; remove it first" in capsys.readouterr().err
    assert notes.read_text() == "a week of work\n"
    (tmp_path / "empty.jsonl").touch()
    done = subagent("run", "--agent", playing(tmp_path), "--transcript", "empty.jsonl", "hi", cwd=tmp_path)
    assert done.returncode == 0
    assert Kept(tmp_path / "empty.jsonl").faults() == []


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
