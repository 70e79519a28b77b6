"""stdout holds the answer and nothing else, in the format that was asked for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import REPO, environment, playing, playing_file, subagent

SCENARIOS = REPO / "fixtures" / "scenarios"
EVIL = "\x1b]0;owned\x07\x1b[2J\u202e\x9b3m"


def test_text_is_the_answer_and_a_final_newline(tmp_path: Path) -> None:
    """One is added only where there is none."""
    for text in ("hello", "hello\n"):
        done = subagent("run", "--agent", "echo", text, cwd=tmp_path)
        assert (done.stdout, done.returncode) == (b"hello\n", 0)


def test_progress_is_on_stderr_in_plain_lines(tmp_path: Path) -> None:
    """Tool calls, plans, permissions, how it ended; no escape sequences where it is no terminal."""
    done = subagent("run", "--agent", playing_file(SCENARIOS / "tools.yaml"), "go", cwd=tmp_path)
    lines = done.stderr.decode().splitlines()
    assert "tool     Edit notes.txt (edit): pending" in lines
    assert "tool     Edit notes.txt: completed" in lines
    assert "plan     2 of 2 done" in lines
    assert "warning  1 tool call that changes something was made without asking" in lines
    assert lines[-1].startswith("done     end_turn after ")
    assert (done.stdout, "\x1b" in done.stderr.decode()) == (b"Done.\n", False)


def test_a_permission_is_told_with_the_title_of_its_call(tmp_path: Path) -> None:
    """The request itself names only the id."""
    done = subagent("run", "--agent", playing_file(SCENARIOS / "permission.yaml"), "go", cwd=tmp_path)
    assert b"answer   Write notes.txt: denied by preset reject\n" in done.stderr
    assert (done.stdout, done.returncode) == (b"rejected\n", 5)


def test_a_pipe_gets_the_text_verbatim(tmp_path: Path) -> None:
    """It is a program's input, not a person's screen; what the words of an agent do to a terminal is not said there."""
    agent = playing(tmp_path, prompt=[{"chunk": EVIL}, {"chunk": "\r\nZ\u00fcrich \U0001f469"}])
    done = subagent("run", "--agent", agent, "go", cwd=tmp_path)
    assert done.stdout == f"{EVIL}\r\nZ\u00fcrich \U0001f469\n".encode()


def test_lone_surrogates_are_replaced(tmp_path: Path) -> None:
    """No encoding has them; agents that cut an emoji in two send them."""
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "half \ud83d"}}
    params = {"sessionId": "s-1", "update": update}
    frame = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})
    agent = playing(tmp_path, prompt=[{"raw": f"{frame}\n"}])
    for form in ("text", "quiet"):
        assert (
            subagent("run", "--agent", agent, "--format", form, "go", cwd=tmp_path).stdout == "half \ufffd\n".encode()
        )
    result = json.loads(subagent("run", "--agent", agent, "--format", "json", "go", cwd=tmp_path).stdout)
    assert result["text"] == "half \ufffd"


def test_stderr_is_safe_even_where_it_is_a_file(tmp_path: Path) -> None:
    """Somebody will `cat` it."""
    steps = [
        {"stderr": EVIL},
        {"tool_call": {"toolCallId": EVIL, "title": EVIL, "status": EVIL}},
        {"plan": [{"content": EVIL, "priority": "low", "status": "in_progress"}]},
        {"permission": {"tool_call": {"toolCallId": "x", "title": EVIL}}},
        {"error": {"message": EVIL}},
    ]
    done = subagent("run", "--agent", playing(tmp_path, prompt=steps, session_ids=[EVIL]), "go", cwd=tmp_path)
    shown = done.stderr.decode()
    assert set(shown) & set(EVIL) - set("]0;owned[2J3m") == set()
    assert "\\x1b]0;owned" in shown


def test_logs_are_safe_lines_on_stderr(tmp_path: Path) -> None:
    """Warnings and worse; a traceback under its line."""
    program = f"""
from acp_client.cli import logs
from acp_client.logs import get_logger
logs.configure()
log = get_logger("acp_client.test")
log.info("not shown")
try:
    raise ValueError({EVIL!r})
except ValueError:
    log.exception({EVIL!r}, said={EVIL!r})
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, cwd=tmp_path, env=environment(), capture_output=True, timeout=60
    )
    shown = done.stderr.decode()
    assert ("Traceback" in shown, "not shown" in shown, done.stdout) == (True, False, b"")
    assert set(shown) & {"\x1b", "\x07", "\u202e", "\x9b"} == set()


def test_json_is_the_result_as_one_document(tmp_path: Path) -> None:
    """With all of its fields."""
    done = subagent("run", "--agent", "echo", "--format", "json", "hi", cwd=tmp_path)
    result = json.loads(done.stdout)
    assert (result["status"], result["reason"], result["text"]) == ("completed", "end_turn", "hi")
    assert result["diagnostics"]["exit_code"] == 0


def test_json_of_a_failure_holds_the_partial_text_and_why(tmp_path: Path) -> None:
    """The document is there however it ends."""
    agent = playing_file(SCENARIOS / "crash.yaml")
    done = subagent("run", "--agent", agent, "--format", "json", "go", cwd=tmp_path)
    result = json.loads(done.stdout)
    assert (done.returncode, result["reason"], result["text"]) == (1, "agent_exited", "Half of the ans")
    assert result["failure"]["stage"] == "prompt"


def test_jsonl_is_the_events_and_then_the_result(tmp_path: Path) -> None:
    """A line each; stderr has nothing to add."""
    done = subagent("run", "--agent", playing_file(SCENARIOS / "tools.yaml"), "--format", "jsonl", "go", cwd=tmp_path)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [line["event"] for line in lines]
    assert kinds[:2] == ["run_started", "session_started"]
    assert kinds[-2:] == ["run_ended", "result"]
    assert {"thought", "plan", "tool_call", "usage", "text"} < set(kinds)
    assert (lines[-1]["text"], done.stderr) == ("Done.", b"")


def test_quiet_is_the_last_message_only(tmp_path: Path) -> None:
    """What an agent says on its way is left out; stderr is empty."""
    steps = [{"chunk": "Let me look."}, {"tool_call": {"toolCallId": "c", "title": "Look"}}, {"chunk": "It is 42."}]
    done = subagent("run", "--agent", playing(tmp_path, prompt=steps), "--format", "quiet", "go", cwd=tmp_path)
    assert (done.stdout, done.stderr) == (b"It is 42.\n", b"")


def test_quiet_still_says_why_a_run_failed(tmp_path: Path) -> None:
    """After what there was of the answer."""
    done = subagent("run", "--agent", playing_file(SCENARIOS / "refusal.yaml"), "--format", "quiet", "go", cwd=tmp_path)
    assert (done.stdout, done.returncode) == (b"I cannot help with that.\n", 8)
    assert done.stderr.startswith(b"failed   refusal after ")


@pytest.mark.parametrize("form", ["text", "quiet"])
def test_a_structured_value_is_the_answer_where_there_is_no_text(form: str, tmp_path: Path) -> None:
    """As JSON."""
    agent = playing(tmp_path, prompt=[{"complete": {"total": 42}}])
    done = subagent("run", "--agent", agent, "--format", form, "go", cwd=tmp_path)
    assert json.loads(done.stdout) == {"total": 42}


def test_text_beside_a_structured_value_is_what_is_printed(tmp_path: Path) -> None:
    """The value is in the JSON formats."""
    agent = playing_file(SCENARIOS / "structured.yaml")
    assert subagent("run", "--agent", agent, "go", cwd=tmp_path).stdout == b"The total is 42.\n"


def test_a_file_is_given_to_the_extractor_as_it_was_typed(tmp_path: Path) -> None:
    """The whole task is a path, seen from the working directory."""
    (tmp_path / "fills of today.csv").write_bytes((REPO / "fixtures" / "trades" / "us_blotter.tsv").read_bytes())
    words = ["run", "--agent", "trade_file_extractor", "--format", "json", "fills of today.csv"]
    done = subagent(*words, cwd=tmp_path)
    assert len(json.loads(done.stdout)["structured"]["trades"]) == 7, done.stderr


def test_the_task_can_come_from_stdin(tmp_path: Path) -> None:
    """By `-f -`, and by `-` as the only word."""
    for words in (["-f", "-"], ["-"]):
        done = subagent("run", "--agent", "echo", "--format", "quiet", *words, cwd=tmp_path, stdin=b"from stdin")
        assert done.stdout == b"from stdin\n"
