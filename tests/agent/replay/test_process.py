"""`python -m acp_agent replay FILE` as a real process: arguments, exit codes, and how it goes."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_agent.replay.__main__ import Arguments, parse
from acp_agent.replay.engine import serve as serve_over
from acp_agent.replay.recording import load
from acp_agent.scripted.wire import Inlet, LineTooLongError, Outlet, Wire
from tests.agent.replay.playing import answer, lines_of, opening, text, turn
from tests.agent.served import Served, soon

Start = Callable[..., Served]
FACTOR = "the FACTOR of --pace, if that is meant: it is a number above 0, such as 2 for twice as fast"
HEADER = {"acp_transcript": 1, "run_id": "r", "cwd": "/rec/work"}


def write(folder: Path, rows: list[Any]) -> Path:
    """A recording on disk."""
    file = folder / "rec.jsonl"
    file.write_bytes(b"".join(lines_of(rows)))
    return file


def end(reason: str, killed: str | None = None, **diagnostics: Any) -> dict[str, Any]:
    """The last line of a transcript."""
    result = {"reason": reason, "diagnostics": diagnostics, "flags": {"killed": killed}}
    return {"dir": "note", "note": "end", "result": result}


@pytest.fixture
def serve(start: Start, tmp_path: Path) -> Callable[..., Served]:
    """A replay of these rows that has done the handshake."""

    def begun(rows: list[Any], *options: str) -> Served:
        child = start("-m", "acp_agent", "replay", write(tmp_path, rows), *options)
        child.begin()
        return child

    return begun


def code_and_stderr(child: Served) -> tuple[int, str]:
    """How a child that is about to go has gone."""
    stderr = child.stderr().decode()
    return child.wait(), stderr


def test_a_turn_is_served_and_the_process_ends_with_its_input(serve: Start) -> None:
    """Exit code 0, nothing on stderr."""
    child = serve([HEADER, *opening(), *turn(), end("end_turn", exit_code=0)])
    assert child.answer("go")[0] == "gone"
    child.close_stdin()
    with soon():
        assert code_and_stderr(child) == (0, "")


def test_what_differs_makes_the_exit_code_1(serve: Start) -> None:
    """The difference is in the error and on stderr."""
    child = serve([*opening(), *turn()])
    frames = child.turn("stop", child.session)
    assert '+    "text": "stop"' in frames[-1]["error"]["message"]
    child.close_stdin()
    code, stderr = code_and_stderr(child)
    assert code == 1
    assert '+    "text": "stop"' in stderr


def test_a_report_tells_of_the_start_and_of_what_differs(serve: Start, tmp_path: Path) -> None:
    """In a file, for who looks at neither; one that cannot be written changes nothing."""
    out = tmp_path / "out.txt"
    child = serve([*opening(), *turn()], f"--report={out}")
    assert out.read_text() == ""
    child.turn("stop", child.session)
    child.close_stdin()
    assert code_and_stderr(child)[0] == 1
    assert '+    "text": "stop"' in out.read_text()
    child = serve([*opening(), *turn()], f"--report={tmp_path}")
    child.turn("stop", child.session)
    child.close_stdin()
    assert code_and_stderr(child)[0] == 1


def test_lenient_makes_it_a_warning(serve: Start) -> None:
    """The exit code is the recorded one."""
    child = serve([*opening(), *turn(), end("end_turn", exit_code=4)], "--lenient")
    assert child.answer("stop")[0] == "gone"
    child.close_stdin()
    code, stderr = code_and_stderr(child)
    assert code == 4
    assert stderr.startswith("warning: replay of ")


def test_with_a_pace_it_takes_its_time(serve: Start) -> None:
    """A hundred times as fast as recorded."""
    rows = [*opening(), *((*row, t) for row, t in zip(turn(), (0.0, 10.0, 30.0), strict=True))]
    child = serve(rows, "--pace", "100")
    with soon():
        assert child.answer("go")[0] == "gone"
    child.close_stdin()
    assert code_and_stderr(child)[0] == 0


@pytest.mark.parametrize(
    ("note", "code"),
    [(end("agent_exited", exit_code=3), 3), (end("agent_exited", exit_code=None, signal=11), -signal.SIGSEGV)],
)
def test_an_agent_that_went_early_goes_early_again(serve: Start, note: dict[str, Any], code: int) -> None:
    """Without the end of its input, as it went then: with its code, or by its signal."""
    child = serve([HEADER, *opening(), *turn()[:2], ("err", "oops\n"), note])
    child.ask("go")
    assert child.frame() == text("s1", "gone")
    with soon():
        assert code_and_stderr(child) == (code, "oops\n")


def test_a_record_that_just_ends_says_so(serve: Start) -> None:
    """Of a parent that was killed: nobody knows how the agent went."""
    child = serve([HEADER, *opening(), *turn()[:2]])
    child.ask("go")
    code, stderr = code_and_stderr(child)
    assert code == 0
    assert "the record ends here" in stderr


@pytest.mark.parametrize("killed", ["term", "kill"])
def test_an_agent_that_had_to_be_killed_has_to_be_again(serve: Start, killed: str) -> None:
    """By the signal that it took then; SIGTERM alone does not end the other."""
    number = signal.SIGTERM if killed == "term" else signal.SIGKILL
    child = serve([*opening(), *turn(), end("end_turn", killed, signal=int(number))])
    child.answer("go")
    child.close_stdin()
    if killed == "kill":
        _wait_until_term_is_ignored(child.process.pid)
        child.terminate()
    child.process.send_signal(number)
    assert code_and_stderr(child)[0] == -number


def _wait_until_term_is_ignored(pid: int) -> None:
    """The kernel says which signals a process ignores."""
    mask = 1 << (signal.SIGTERM - 1)
    status = Path(f"/proc/{pid}/status")
    while not mask & int(status.read_text().split("SigIgn:")[1].split()[0], 16):
        pass


def test_one_that_was_killed_with_its_output_closed_closes_it(serve: Start) -> None:
    """The client sees the end of the agent, and has to end it."""
    child = serve([*opening(), *turn()[:2], end("agent_exited", "term", signal=15)])
    child.ask("go")
    child.frame()
    assert child.rest() == []
    child.terminate()
    assert code_and_stderr(child)[0] == -signal.SIGTERM


def test_a_long_answer_waits_for_a_slow_client(serve: Start) -> None:
    """Some megabytes in one go: all of it arrives, in order, and it goes early all the same."""
    pieces = [("a>c", text("s1", f"{number} " + "x" * 10_000)) for number in range(400)]
    child = serve([*opening(), turn()[0], *pieces, end("agent_exited", exit_code=0)])
    child.ask("go")
    frames = [child.frame() for _ in pieces]
    assert frames == [piece[1] for piece in pieces]
    assert code_and_stderr(child)[0] == 0


def test_a_client_that_leaves_reads_what_was_still_to_come(serve: Start) -> None:
    """The end of its input is not the end of the output."""
    pieces = [("a>c", text("s1", "x" * 10_000)) for _ in range(400)]
    child = serve([*opening(), turn()[0], *pieces, ("a>c", answer(3, stopReason="end_turn"))])
    child.ask("go")
    child.close_stdin()
    assert len([child.frame() for _ in range(401)]) == 401
    assert code_and_stderr(child)[0] == 0


def test_a_client_that_leaves_early_makes_the_exit_code_1(serve: Start) -> None:
    """What it has not sent is named."""
    child = serve([*opening(), *turn()])
    child.close_stdin()
    code, stderr = code_and_stderr(child)
    assert code == 1
    assert "the client left without sending session/prompt" in stderr


def test_ctrl_c_ends_it_quietly(serve: Start) -> None:
    """As any program."""
    child = serve([*opening(), *turn()])
    child.process.send_signal(signal.SIGINT)
    assert code_and_stderr(child) == (130, "")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["f"], Arguments("f")),
        (["--lenient", "f", "--pace"], Arguments("f", lenient=True, pace=1.0)),
        (["--pace", "f"], Arguments("f", pace=1.0)),
        (["--pace", "0.5", "f"], Arguments("f", pace=0.5)),
        (["--pace=2", "--", "-f"], Arguments("-f", pace=2.0)),
        (["--report=out", "f"], Arguments("f", report="out")),
        ([], "one file is needed, got 0"),
        (["a", "b"], "one file is needed, got 2: 'a', 'b'"),
        (["--fast", "f"], "no option '--fast'"),
        (["--lenien", "f"], "no option '--lenien'; did you mean '--lenient'?"),
        (["--pce=2", "f"], "no option '--pce=2'; did you mean '--pace'?"),
        (["--pace", "0", "f"], "--pace is '0'; it is a number above 0, such as 2 for twice as fast"),
        (["--pace", "-1", "f"], "--pace is '-1'; it is a number above 0, such as 2 for twice as fast"),
        (["--pace", "nan", "f"], "--pace is 'nan'; it is a number above 0, such as 2 for twice as fast"),
        (["--pace=", "f"], "--pace is ''; it is a number above 0, such as 2 for twice as fast"),
        (["--pace", "abc", "f"], f"one file is needed, got 2: 'abc', 'f'; {FACTOR}"),
        (["--pace=0", "f"], "--pace is '0'; it is a number above 0, such as 2 for twice as fast"),
        (["--pace=inf", "f"], "--pace is 'inf'; it is a number above 0, such as 2 for twice as fast"),
    ],
)
def test_arguments(argv: list[str], expected: Arguments | str) -> None:
    """A file, and how it is to be served."""
    assert parse(argv) == expected


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["--help"], 0, "usage: python -m acp_agent replay FILE"),
        (["--x"], 2, "no option '--x'\nusage: "),
        (["none.jsonl"], 2, "none.jsonl: the file cannot be read (No such file or directory); give "),
    ],
)
def test_help_and_faults(start: Start, argv: list[str], code: int, said: str) -> None:
    """Said where they belong."""
    child = start("-m", "acp_agent.replay", *argv)
    stdout = b"".join(child.rest()).decode()
    found, stderr = code_and_stderr(child)
    assert found == code
    assert said in (stdout if code == 0 else stderr)


def test_a_line_that_is_too_long_ends_it(tmp_path: Path) -> None:
    """With a word about it; in this process, for the limit is large."""
    reading, writing = os.pipe()
    os.write(writing, b"x" * 100)
    wire = Wire(Inlet(reading, max_line_bytes=10), Outlet(1), Outlet(2))
    with pytest.raises(LineTooLongError):
        serve_over(load(str(write(tmp_path, opening()))), wire)
    os.close(reading)
    os.close(writing)
