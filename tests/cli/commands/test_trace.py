"""`subagent trace`: a file, a folder, a check, a page, a running one; and an exit code for each."""

import json
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_client.cli.command import execute
from acp_client.record.format.lines import Line, encode_line
from tests.cli.command import Subagent
from tests.cli.terminal import Terminal
from tests.record.tree.wire import ask as asking
from tests.record.tree.wire import decided, end, ended, header, pick, prompt, said


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and we in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUN: tuple[Line, ...] = (header(), prompt(0.1, "go"), said(0.2, "hi \x1b[31mthere"), ended(0.3), end(0.4))


def written(name: str, *lines: Line) -> Path:
    """A transcript."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(encode_line, lines)))
    return path


def traced(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    code = execute(["trace", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_file_is_shown_as_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Into a pipe; the child's escape is spelled out."""
    written("r1.jsonl", *RUN)
    code, out, err = traced(capsys, "r1.jsonl")
    assert (code, err) == (0, "")
    assert out.startswith("          run        child: completed, end_turn, 0.40 s\n")
    assert "message    hi \\x1b[31mthere\n" in out


def test_a_folder_is_a_tree_by_parent_links(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """Wherever the files lie; the same file given twice is shown once; what is none is told and left out."""
    written("t/p.jsonl", header("p", agent="desk"), prompt(0.1, "go"), end(2))
    written("t/p/c.jsonl", header("c", "p", "extractor"), asking(1, title="Write"), pick(2, "n"), decided(2, why="no"))
    (here / "t/notes.jsonl").write_text("no json\n")
    code, out, err = traced(capsys, "t", "t/p.jsonl")
    assert code == 0
    assert out.count("run        desk") == 1
    assert "run        extractor: unfinished" in out
    assert "desk › extractor: Write: denied by rule 1: allow (no) with 'No' after 0.50 s" in out
    assert "warning  't/notes.jsonl' is no transcript" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["gone.jsonl"], "the file cannot be read (No such file or directory)"),
        (["empty"], "'empty' holds no transcript; they are files called *.jsonl"),
        (["odd.txt"], "'odd.txt' is no transcript: none of its lines is one"),
        (["blank.jsonl"], "'blank.jsonl' is no transcript"),
        (["folder"], "no file here is a transcript"),
        (["--check", "gone.jsonl"], "the file cannot be read"),
        (["--follow", "folder"], "--follow shows one run; give the file of one"),
        (["--follow", "a", "b"], "--follow shows one run"),
        (["--follow", "odd.txt"], "'odd.txt' is no transcript"),
        (["--check", "--follow", "a"], "three ways to look; give one of them"),
        (["--html", "x", "--check", "a"], "three ways to look"),
        (["--html", "r1.jsonl", "r1.jsonl"], "'r1.jsonl' is there already and is no page of subagent trace, so it is"),
        ([], "Missing argument 'PATH...'"),
    ],
)
def test_what_cannot_be_shown_is_said_clearly(
    capsys: pytest.CaptureFixture[str], here: Path, words: list[str], told: str
) -> None:
    """Exit code 2, and nothing on stdout."""
    written("r1.jsonl", *RUN)
    (here / "empty").mkdir()
    (here / "folder").mkdir()
    for name in ("odd.txt", "folder/odd.jsonl"):
        (here / name).write_bytes(b"\x00\xff binary\n{}\n[1]\n")
    (here / "blank.jsonl").touch()
    code, out, err = traced(capsys, *words)
    assert (code, out) == (2, "")
    assert told in err


def test_a_file_that_may_not_be_read_is_said(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """A folder in its place stands for it here: root may read everything."""
    (here / "x").mkdir()
    (here / "x" / "f.jsonl").mkdir()
    code, _, err = traced(capsys, "x")
    assert code == 2
    assert "cannot be read (Is a directory)" in err


def test_the_check_says_what_is_wrong_and_where(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """0 for good files, 1 with findings; a half-written last line alone is what a killed parent leaves."""
    good = written("good.jsonl", *RUN)
    assert traced(capsys, "--check", "good.jsonl")[:2] == (0, "good.jsonl: good\n")
    (here / "bad.jsonl").write_bytes(good.read_bytes() + b"no json\n")
    code, out, _ = traced(capsys, "--check", "good.jsonl", "bad.jsonl")
    assert code == 1
    assert "bad.jsonl: line 6:" in out
    (here / "half.jsonl").write_bytes(b"".join(map(encode_line, RUN[:3])) + b'{"t":0.3,"dir')
    code, out, _ = traced(capsys, "--check", "half.jsonl")
    assert code == 0
    assert "half written" in out


def test_a_killed_parents_record_is_shown_up_to_its_last_whole_line(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    """As unfinished."""
    (here / "half.jsonl").write_bytes(b"".join(map(encode_line, RUN[:3])) + b'{"t":0.3,"dir')
    code, out, _ = traced(capsys, "half.jsonl")
    assert code == 0
    assert "child: unfinished" in out
    assert "hi " in out


def test_lines_that_were_passed_over_are_told(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """On stderr; the rest is shown."""
    data = b"".join(map(encode_line, RUN))
    (here / "bad.jsonl").write_bytes(data + b"no json\n")
    code, out, err = traced(capsys, "bad.jsonl")
    assert code == 0
    assert "child: completed" in out
    assert err.startswith("warning  'bad.jsonl': one line is passed over (line 6: a line must be one JSON object);")
    (here / "bad.jsonl").write_bytes(b"odd\n[]\n" + data)
    assert "'bad.jsonl': 2 lines are passed over (line 1" in traced(capsys, "bad.jsonl")[2]


def test_a_page_is_written_for_its_owner_alone(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """The record is secret too; the page's name is printed."""
    written("r1.jsonl", *RUN)
    assert traced(capsys, "r1.jsonl", "--html", "out.html") == (0, "out.html\n", "")
    page = (here / "out.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<title>r1.jsonl</title>" in page
    assert stat.S_IMODE((here / "out.html").stat().st_mode) == 0o600


def test_a_page_replaces_a_page_alone(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """Whoever could read the old one; what is no page of ours stays as it is."""
    written("r1.jsonl", *RUN)
    assert traced(capsys, "r1.jsonl", "--html", "out.html")[0] == 0
    (here / "out.html").chmod(0o644)
    page = (here / "out.html").read_bytes()
    (here / "out.html").write_bytes(page + b"longer")
    assert traced(capsys, "r1.jsonl", "--html", "out.html")[0] == 0
    assert stat.S_IMODE((here / "out.html").stat().st_mode) == 0o600
    assert (here / "out.html").read_bytes() == page
    (here / "thesis.html").write_text("<!doctype html>\n<title>Thesis</title>")
    code, out, err = traced(capsys, "r1.jsonl", "--html", "thesis.html")
    assert (code, out) == (2, "")
    assert "--html 'thesis.html' is there already and is no page of subagent trace, so it is not overwritten" in err
    assert "Thesis" in (here / "thesis.html").read_text()


def test_a_page_can_go_to_stdout(start: Callable[..., Subagent]) -> None:
    """For a pipe; a folder's page is called by how much is in it."""
    written("t/a.jsonl", *RUN)
    written("t/b.jsonl", *RUN)
    one = start("trace", "t", "--html", "-")
    assert one.end() == 0
    assert b"<title>2 runs</title>" in one.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")  # noqa: PTH110  # at import
def test_a_full_disk_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """It is no wrong usage."""
    written("r1.jsonl", *RUN)
    code, _, err = traced(capsys, "r1.jsonl", "--html", "/dev/full")
    assert code == 1
    assert "cannot be written to: No space left on device" in err


@pytest.mark.parametrize(
    ("out", "why"),
    [("gone/x.html", "No such file or directory"), ("folder", "Is a directory"), ("r1.jsonl/x", "Not a")],
)
def test_a_page_that_cannot_be_written_is_no_wrong_usage_either(
    capsys: pytest.CaptureFixture[str], here: Path, out: str, why: str
) -> None:
    """Exit code 1, as the help says."""
    written("r1.jsonl", *RUN)
    (here / "folder").mkdir()
    code, _, err = traced(capsys, "r1.jsonl", "--html", out)
    assert code == 1
    assert f"failed   {out} cannot be written to: {why}" in err
    assert "give a file in a folder of yours" in err


def test_the_check_of_what_is_no_transcript_has_found_something(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """Exit code 1; each rule once, with how many lines break it and the first of them."""
    (here / "log.jsonl").write_text('{"level": "info"}\n' * 3 + "text\n" * 2 + '{"level": "info"}\n')
    code, out, _ = traced(capsys, "--check", "log.jsonl")
    assert code == 1
    first, second, third = out.splitlines()
    assert first.startswith("log.jsonl: line 1 and 3 more, up to line 6: an object must be a header, have ")
    assert second.startswith("log.jsonl: line 4 and 1 more, up to line 5: a line must be one JSON object; ")
    assert third == "log.jsonl: there is no line of a transcript in it; give a file that a run has left"


def test_on_a_terminal_it_has_colours(tmp_path: Path) -> None:
    """And still none of the child's escapes."""
    written("r1.jsonl", *RUN)
    terminal = Terminal("trace", "r1.jsonl", cwd=tmp_path)
    assert terminal.end() == 0
    assert b"\x1b[" in terminal.screen
    assert b"\x1b[31mthere" not in terminal.screen
    assert b"\\x1b[31mthere" in terminal.screen


def test_a_running_one_is_followed_to_its_end(here: Path, start: Callable[..., Subagent]) -> None:
    """From before its file is there, over a restart of the file, until the end note: exit code 0."""
    one = start("trace", "--follow", "r1.jsonl")
    one.read_until(b"is not there yet", on="stderr")
    with (here / "r1.jsonl").open("wb", buffering=0) as file:
        file.write(encode_line(RUN[0]))
        one.read_until(b"child: running")
        file.write(encode_line(RUN[1]) + encode_line(RUN[2])[:20])
        one.read_until(b"prompt     go")
        file.write(encode_line(RUN[2])[20:])
        one.read_until(b"there")
        file.truncate(0)
        file.seek(0)
        file.write(encode_line(header(agent="again")))
        one.read_until(b"cut or replaced", on="stderr")
        one.read_until(b"again: running")
        file.write(encode_line(RUN[1]) + encode_line(RUN[4]))
        assert one.end() == 0
    assert b"again: completed, end_turn" in one.stdout


def test_following_ends_with_an_interrupt(start: Callable[..., Subagent]) -> None:
    """130, quietly."""
    written("r1.jsonl", *RUN[:3])
    one = start("trace", "--follow", "r1.jsonl")
    one.read_until(b"there")
    one.send(signal.SIGINT)
    assert one.end() == 130
    assert one.stderr == b""


def test_a_finished_one_is_followed_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """And what stands behind its end is left."""
    written("r1.jsonl", *RUN, said(9, "more"))
    code, out, _ = traced(capsys, "--follow", "r1.jsonl")
    assert code == 0
    assert "more" not in out
    assert out.rstrip().endswith("in all     1 run, 0 tool calls, 0 permissions asked")


def test_frames_of_other_tools_are_followed_to_their_last_answer(here: Path, start: Callable[..., Subagent]) -> None:
    """They have no end note; while a prompt is open more is waited for."""

    def lines(*frames: dict[str, Any]) -> bytes:
        return b"".join(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n" for frame in frames)

    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello"}}
    asked = {
        "id": 1,
        "method": "session/prompt",
        "params": {"sessionId": "s", "prompt": [{"type": "text", "text": "go"}]},
    }
    said = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    with (here / "wire.jsonl").open("wb", buffering=0) as file:
        file.write(lines(asked))
        one = start("trace", "--follow", "wire.jsonl")
        one.read_until(b"prompt     go")
        file.write(lines(said, {"id": 1, "result": {"stopReason": "end_turn"}}))
        assert one.end() == 0
    assert b"wire.jsonl: completed, end_turn" in one.stdout
    assert one.stdout.rstrip().endswith(b"in all     1 run, 0 tool calls, 0 permissions asked")


def test_wires_of_other_tools_are_shown(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """Plain frames, one a line."""
    frames = [{"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}]
    (here / "wire.jsonl").write_text("".join(json.dumps(frame) + "\n" for frame in frames))
    code, out, _ = traced(capsys, "wire.jsonl")
    assert code == 0
    assert "wire.jsonl: unfinished" in out
