"""The shipped scenarios do what their first comment says."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_agent.scripted.load import load
from tests.agent.scripted.child import REPO, Child, children_of, text_of, wait_gone
from tests.support.frames import check_frame

Play = Callable[..., Child]

FOLDER = REPO / "fixtures" / "scenarios"
FILES = sorted(FOLDER.glob("*.yaml"))


def cancel(child: Child) -> None:
    """Write session/cancel."""
    child.notify("session/cancel", sessionId="s-1")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_scenario_is_valid_and_says_what_it_shows(path: Path) -> None:
    """A comment first, then words that exist."""
    assert path.read_text().startswith("# ")
    assert load(str(path), {})


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("hello", "Hello, Bob", "end_turn"),
        ("tools", "Done.", "end_turn"),
        ("refusal", "I cannot help with that.", "refusal"),
        ("structured", "The total is 42.", "end_turn"),
    ],
)
def test_a_plain_scenario_says_its_text_in_frames_that_fit_the_schema(
    play: Play, name: str, text: str, reason: str
) -> None:
    """Every frame is one that a strict client accepts."""
    child = play(FOLDER / f"{name}.yaml")
    child.open()
    frames = child.turn("Bob")
    for frame in frames:
        check_frame(frame, direction="agent", method="session/prompt" if "id" in frame else None)
    assert text_of(frames) == text
    assert frames[-1]["result"] == {"stopReason": reason}


@pytest.mark.parametrize(
    ("reply", "text", "reason"),
    [
        ({"result": {"outcome": {"outcome": "selected", "optionId": "once"}}}, "allowed by once", "end_turn"),
        ({"result": {"outcome": {"outcome": "selected", "optionId": "no"}}}, "rejected", "end_turn"),
        ({"result": {"outcome": {"outcome": "cancelled"}}}, "", "cancelled"),
        ({"error": {"code": -32601, "message": "m"}}, "error -32601", "end_turn"),
    ],
)
def test_permission_says_what_it_was_told(play: Play, reply: Any, text: str, reason: str) -> None:
    """One end for each answer."""
    child = play(FOLDER / "permission.yaml")
    child.open()
    prompt = child.prompt()
    child.frame()
    asked = child.frame()
    check_frame(asked, direction="agent")
    child.send({"jsonrpc": "2.0", "id": asked["id"], **reply})
    frames = child.until(prompt)
    assert text_of(frames) == text
    assert frames[-1]["result"] == {"stopReason": reason}


@pytest.mark.parametrize(("name", "reason"), [("slow", "cancelled"), ("cancel_end_turn", "end_turn")])
def test_slow_obeys_a_cancel_and_the_buggy_one_says_end_turn(play: Play, name: str, reason: str) -> None:
    """Both end their turn."""
    child = play(FOLDER / f"{name}.yaml")
    child.open()
    prompt = child.prompt()
    child.frame()
    cancel(child)
    assert child.until(prompt)[-1]["result"] == {"stopReason": reason}


def test_deaf_to_cancel_streams_on(play: Play) -> None:
    """A count of chunks after the cancel was surely read."""
    child = play(FOLDER / "deaf_to_cancel.yaml")
    child.open()
    child.prompt()
    child.frame()
    cancel(child)
    marker = child.request("_vendor/ping")  # answered once the cancel was read
    assert child.until(marker)[-1]["error"]["code"] == -32601
    assert text_of([child.frame() for _ in range(3)]) == "still here " * 3


def test_crash_leaves_half_an_answer_and_a_clue(play: Play) -> None:
    """The signal, the text, the stderr."""
    child = play(FOLDER / "crash.yaml")
    child.open()
    child.prompt()
    assert text_of([json.loads(line) for line in child.rest()]) == "Half of the ans"
    assert child.stderr() == b"fatal: out of memory\n"
    assert child.wait() == -signal.SIGKILL


def test_noise_holds_whole_frames(play: Play) -> None:
    """A reader that looks for frames anywhere in a line finds all of them."""
    child = play(FOLDER / "noise.yaml")
    assert child.line() == b"Loaded cached credentials.\n"
    child.open()
    child.prompt()
    child.close_stdin()
    decoder = json.JSONDecoder()
    found, rest = [], b"".join(child.rest()).decode(errors="replace")
    while (start := rest.find("{")) >= 0:
        frame, end = decoder.raw_decode(rest, start)
        found.append(frame)
        rest = rest[end:]
    assert text_of(found) == "one two three"


def test_late_update_sends_updates_before_and_after_their_time(play: Play) -> None:
    """Before the session's answer, for another session, after the prompt's answer."""
    child = play(FOLDER / "late_update.yaml")
    child.initialize()
    early, _ = child.until(child.request("session/new", cwd="/", mcpServers=[]))
    assert early["params"]["sessionId"] == "s-1"
    frames = child.turn()
    assert [one["params"]["sessionId"] for one in frames[:-1]] == ["s-1", "another"]
    assert text_of([child.frame()]) == "late"


def test_process_tree_leaves_its_helpers(play: Play) -> None:
    """The agent exits, three processes stay, one of them in another session."""
    child = play(FOLDER / "process_tree.yaml")
    child.open()
    child.turn()
    pids = children_of(child.process.pid)
    assert child.end() == 0
    assert [os.getsid(pid) == pid for pid in pids] == [False, False, True]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        wait_gone(pid)


def test_stubborn_hears_neither_the_end_nor_sigterm(play: Play) -> None:
    """It still answers after SIGTERM; after EOF only SIGKILL ends it."""
    child = play(FOLDER / "stubborn.yaml")
    child.open()
    child.process.terminate()
    assert text_of(child.turn()) == "You will have to kill me."
    child.close_stdin()
    child.process.kill()
    assert child.wait() == -signal.SIGKILL


def test_login_needs_a_login(play: Play) -> None:
    """-32000 until authenticate."""
    child = play(FOLDER / "login.yaml")
    child.initialize()
    assert child.call("session/new", cwd="/", mcpServers=[])["error"]["code"] == -32000
    assert child.call("authenticate", methodId="cached_token")["result"] == {}
    child.call("session/new", cwd="/", mcpServers=[])
    assert text_of(child.turn()) == "Welcome."


@pytest.mark.parametrize(
    ("reply", "text"),
    [({"result": {"content": "abc"}}, "abc"), ({"error": {"code": -32601, "message": "m"}}, "no file: -32601")],
)
def test_files_reads_through_the_client(play: Play, reply: Any, text: str) -> None:
    """And says so where the client has none."""
    child = play(FOLDER / "files.yaml")
    child.open()
    prompt = child.prompt()
    asked = child.frame()
    check_frame(asked, direction="agent")
    child.send({"jsonrpc": "2.0", "id": asked["id"], **reply})
    assert text_of(child.until(prompt)) == text
