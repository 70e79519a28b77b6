"""On a terminal: live progress, and nothing that an agent says can steer the screen."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import REPO, playing, playing_file
from tests.cli.terminal import Terminal

SCENARIOS = REPO / "fixtures" / "scenarios"
TITLE = "\x1b]0;owned\x07"
CLEAR = "\x1b[2J"
EVIL = f"{TITLE}{CLEAR}\u202eabc\x9b2J\x7f"
STEPS = [
    {"stderr": EVIL},
    {"thought": EVIL},
    {"plan": [{"content": EVIL, "priority": "low", "status": "in_progress"}]},
    {"tool_call": {"toolCallId": "c", "title": EVIL, "kind": "edit", "status": "completed"}},
    {"permission": {"tool_call": {"toolCallId": "d", "title": EVIL}}},
    {"chunk": EVIL},
    {"chunk": "\x1b"},
    {"chunk": "]0;owned\x07"},
    {"error": {"message": EVIL}},
]


def harmful(screen: bytes) -> list[str]:
    """What of the agent's words reached the screen as a terminal would act on it."""
    text = screen.decode()
    return [part for part in (TITLE, CLEAR, "\x1b]", "\u202e", "\x9b", "\x7f", "\x07") if part in text]


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "quiet"])
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_no_escape_sequence_of_an_agent_reaches_the_screen(form: str, term: str, tmp_path: Path) -> None:
    """Not in its text, also cut in two; not in titles, plans, errors or on its stderr."""
    agent = playing(tmp_path, prompt=STEPS, session_ids=["s-\x1b[2J"])
    terminal = Terminal("run", "--agent", agent, "--format", form, "go", cwd=tmp_path, term=term)
    assert terminal.end() == 1
    assert harmful(terminal.screen) == []
    assert b"owned" in terminal.screen


def test_stdout_on_a_terminal_is_nothing_but_safe_text(tmp_path: Path) -> None:
    """Without progress there is no escape sequence at all."""
    agent = playing(tmp_path, prompt=[{"chunk": EVIL}, {"chunk": "\r"}, {"chunk": "\nnext"}])
    terminal = Terminal("run", "--agent", agent, "go", cwd=tmp_path, stderr=False)
    assert terminal.end() == 0
    assert terminal.screen == b"\\x1b]0;owned\\x07\\x1b[2J\\u202eabc\\x9b2J\\x7f\r\nnext\r\n"


def test_json_on_a_terminal_is_still_json(tmp_path: Path) -> None:
    """What is dangerous is escaped as JSON does."""
    agent = playing(tmp_path, prompt=[{"chunk": f"Z\u00fcrich {EVIL}"}])
    terminal = Terminal("run", "--agent", agent, "--format", "json", "go", cwd=tmp_path, stderr=False)
    assert terminal.end() == 0
    assert json.loads(terminal.screen)["text"] == f"Z\u00fcrich {EVIL}"
    assert harmful(terminal.screen) == []


def plain(screen: bytes) -> list[str]:
    """The lines that stay on the screen: without escape sequences, and without what was erased."""
    text = re.sub(r"\x1b\[2K", "\x00", screen.decode())
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return [line.rpartition("\x00")[2].rpartition("\r")[2].rstrip() for line in text.replace("\r\n", "\n").split("\n")]


def test_progress_on_a_terminal_keeps_what_is_done_and_how_it_ended(tmp_path: Path) -> None:
    """The text is there once; the moving line has gone, and the cursor is back."""
    terminal = Terminal("run", "--agent", playing_file(SCENARIOS / "tools.yaml"), "go", cwd=tmp_path)
    assert terminal.end() == 0
    lines = plain(terminal.screen)
    assert "tool     Edit notes.txt: completed" in lines
    assert "Done." in lines
    assert [line for line in lines if line.startswith("done     end_turn after ")]
    assert terminal.screen.rindex(b"\x1b[?25h") > terminal.screen.rindex(b"\x1b[?25l")


def test_a_line_of_progress_does_not_stand_in_the_middle_of_the_text(tmp_path: Path) -> None:
    """Though both go to one screen."""
    call = {"tool_call": {"toolCallId": "c", "title": "Look", "status": "completed"}}
    terminal = Terminal(
        "run", "--agent", playing(tmp_path, prompt=[{"chunk": "one"}, call, {"chunk": "two"}]), "go", cwd=tmp_path
    )
    assert terminal.end() == 0
    lines = plain(terminal.screen)
    assert lines.index("one") < lines.index("tool     Look: completed") < lines.index("two")


def test_the_moving_line_says_what_is_going_on(tmp_path: Path) -> None:
    """While the agent is silent."""
    call = {"tool_call": {"toolCallId": "c", "title": "Dig a hole", "kind": "execute", "status": "in_progress"}}
    agent = playing(tmp_path, prompt=[call, {"wait_cancel": True}])
    terminal = Terminal("run", "--agent", agent, "go", cwd=tmp_path, stdout=False)
    terminal.read_until(b"Dig a hole (execute): in_progress (")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert b"SIGINT" in terminal.screen


def call(call_id: str, status: str, title: str | None = None) -> dict[str, Any]:
    """A step: a tool call begins, where it has a title, or changes."""
    if title is None:
        return {"tool_update": {"toolCallId": call_id, "status": status}}
    return {"tool_call": {"toolCallId": call_id, "title": title, "status": status}}


def test_the_moving_line_never_names_a_tool_call_that_has_ended(tmp_path: Path) -> None:
    """Also where calls begin and end faster than it is redrawn."""
    ends = [call("a", "completed"), call("b", "completed", "Resolve")]
    agent = playing(tmp_path, prompt=[call("a", "in_progress", "Parse"), {"wait_cancel": True}, *ends])
    terminal = Terminal("run", "--agent", agent, "go", cwd=tmp_path, stdout=False)
    terminal.read_until(b"Parse: in_progress (")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert b"Resolve: completed" in terminal.screen
    assert b"Parse: in_progress" not in terminal.screen.partition(b"Parse: completed")[2]


def test_the_moving_line_names_the_open_tool_call_that_was_opened_last(tmp_path: Path) -> None:
    """Once a later one has ended."""
    steps = [call("a", "in_progress", "Dig"), call("b", "in_progress", "Fill"), call("b", "completed")]
    agent = playing(tmp_path, prompt=[*steps, {"wait_cancel": True}])
    terminal = Terminal("run", "--agent", agent, "go", cwd=tmp_path, stdout=False)
    terminal.read_until(b"Fill: completed")
    terminal.read_until(b"Dig: in_progress (")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert b"Fill: in_progress" not in terminal.screen.partition(b"Fill: completed")[2]


def test_the_moving_line_comes_back_below_text_that_does_not_end_its_line(tmp_path: Path) -> None:
    """While a tool call takes its time; the last of the text is a line of its own then."""
    steps = [{"chunk": "Let me look."}, call("a", "in_progress", "Dig"), {"wait_cancel": True}]
    terminal = Terminal("run", "--agent", playing(tmp_path, prompt=steps), "go", cwd=tmp_path)
    terminal.read_until(b"Dig: in_progress (")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "Let me look." in plain(terminal.screen)


def test_text_that_goes_on_after_a_tool_call_began_takes_the_place_of_the_moving_line(tmp_path: Path) -> None:
    """With nothing of it left, and no empty line."""
    steps = [{"chunk": "Let me look."}, call("a", "in_progress", "Dig"), {"chunk": "Found "}, {"chunk": "it."}]
    terminal = Terminal("run", "--agent", playing(tmp_path, prompt=steps), "go", cwd=tmp_path)
    assert terminal.end() == 0
    lines = plain(terminal.screen)
    assert lines.index("Let me look.") < lines.index("Found it.")
    assert re.search(rb"\x1b\[1A\x1b\[2KFound it\.\r\n", terminal.screen)
