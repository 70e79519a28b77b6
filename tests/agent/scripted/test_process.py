import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agent.scripted.child import Child, is_running, text_of, wait_for, wait_gone

Play = Callable[..., Child]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"start": [{"exit": 1}]}, 1),
        ({"initialize": [{"stderr": "npm error 403"}, {"exit": 3}]}, 3),
        ({"initialize": {"after": [{"exit": 4}]}}, 4),
        ({"initialize": [{"signal": "SIGKILL"}]}, -signal.SIGKILL),
        ({"initialize": [{"signal": "SIGSEGV"}]}, -signal.SIGSEGV),
        ({"ignore": "SIGTERM", "initialize": [{"signal": "SIGTERM"}]}, -signal.SIGTERM),
    ],
)
def test_the_agent_can_end_at_any_stage(play: Play, words: Any, code: int) -> None:
    """By an exit code or by a signal."""
    child = play(**words)
    if "start" not in words:
        child.request("initialize", protocolVersion=1)
    assert child.wait() == code
    assert len(child.rest()) == ("after" in words.get("initialize", {}))


def test_what_was_written_before_a_crash_arrives(play: Play) -> None:
    """A signal is sent once the pipes are drained."""
    child = play(prompt=[{"chunk": {"text": "x", "size": 300_000}}, {"stderr": "why"}, {"signal": "SIGABRT"}])
    child.open()
    child.prompt()
    assert len(text_of([child.frame()])) == 300_000
    assert child.rest() == []
    assert child.stderr() == b"why\n"
    assert child.wait() == -signal.SIGABRT


def test_an_exit_does_not_wait_for_a_client_that_does_not_read(play: Play, tmp_path: Path) -> None:
    """The time for the last output is bounded."""
    child = play(start=[{"flood": {"forever": True}}], on_signal={"SIGTERM": "exit"}, facts="facts")
    wait_for(tmp_path / "facts")
    child.process.terminate()
    assert child.wait() == 0


def test_stdin_s_end_is_the_agent_s_end_also_in_a_turn(play: Play) -> None:
    """The turn is answered `cancelled` on the way out."""
    child = play(prompt=[{"chunk": "a"}, "hang"])
    child.open()
    child.prompt()
    child.frame()
    child.close_stdin()
    (answer,) = child.rest()
    assert json.loads(answer)["result"] == {"stopReason": "cancelled"}
    assert child.wait() == 0


def test_stdin_s_end_is_seen_by_steps_that_play_before_it_is_read(play: Play) -> None:
    """An agent that hangs at its start is no orphan either."""
    assert play(start=["hang"]).end() == 0


def test_all_that_was_sent_before_the_end_is_answered(play: Play, tmp_path: Path) -> None:
    """A client may write everything and close at once, even before we read."""
    child = play(start=[{"wait_for": "closed"}], prompt=[{"chunk": "a"}])
    child.request("initialize", protocolVersion=1)
    child.request("session/new", cwd="/", mcpServers=[])
    child.prompt()
    child.close_stdin()
    (tmp_path / "closed").touch()
    assert [json.loads(line).get("id") for line in child.rest()] == [101, 102, None, 103]
    assert child.wait() == 0


def test_the_end_of_stdin_can_be_ignored(play: Play, tmp_path: Path) -> None:
    """By `on_eof`, by `ignore: eof` and by `ignore: stdin`; the turn goes on."""
    ways: list[dict[str, Any]] = [{"on_eof": "ignore"}, {"ignore": ["eof"]}, {}]
    for number, words in enumerate(ways):
        steps = [{"touch": f"up-{number}"}, {"wait_for": f"closed-{number}"}, {"chunk": "on"}, {"exit": 5}]
        child = play(prompt=steps if words else [{"ignore": "stdin"}, *steps], **words)
        child.open()
        child.prompt()
        wait_for(tmp_path / f"up-{number}")
        child.close_stdin()
        (tmp_path / f"closed-{number}").touch()
        assert text_of([child.frame()]) == "on"
        assert child.wait() == 5


def test_steps_can_be_played_at_the_end_of_stdin(play: Play) -> None:
    """`on_eof` steps come before the exit, a `wait_eof` takes the end for itself."""
    child = play(on_eof=[{"noise": "bye"}], prompt=["wait_eof", {"chunk": "late"}])
    child.open()
    child.prompt()
    child.close_stdin()
    late, answer, bye = child.rest()
    assert text_of([json.loads(late)]) == "late"
    assert json.loads(answer)["result"] == {"stopReason": "end_turn"}
    assert bye == b"bye\n"
    assert child.wait() == 0


def test_last_steps_that_wait_are_waited_for(play: Play, tmp_path: Path) -> None:
    """The exit comes after the marker."""
    child = play(on_eof=[{"touch": "leaving"}, {"wait_for": "go"}, {"exit": 6}])
    child.close_stdin()
    wait_for(tmp_path / "leaving")
    (tmp_path / "go").touch()
    assert child.wait() == 6


def test_a_client_that_no_longer_reads_ends_the_agent_quietly(play: Play) -> None:
    """No traceback, no endless turn."""
    child = play(prompt=[{"repeat": {"forever": True, "steps": [{"chunk": "x"}]}}])
    child.open()
    child.prompt()
    assert child.process.stdout is not None
    child.process.stdout.close()
    assert child.wait() == 0
    assert child.stderr() == b""


def test_signals_can_be_ignored_or_answered_with_steps(play: Play, tmp_path: Path) -> None:
    """A marker says that the signal came; an ignored one changes nothing."""
    on_signal = {"SIGTERM": [{"touch": "termed"}, {"exit": 9}], "SIGHUP": "ignore"}
    child = play(on_signal=on_signal, ignore=["SIGINT"])
    child.initialize()
    child.process.send_signal(signal.SIGHUP)
    child.process.send_signal(signal.SIGINT)
    child.call("initialize", protocolVersion=1)
    child.process.send_signal(signal.SIGTERM)
    assert child.wait() == 9
    assert (tmp_path / "termed").exists()


def test_a_caught_signal_ends_the_agent_after_its_steps(play: Play) -> None:
    """Without an exit of their own the steps end in a polite one."""
    child = play(on_signal={"SIGTERM": [{"noise": "bye"}]})
    child.initialize()
    child.process.terminate()
    assert child.rest() == [b"bye\n"]
    assert child.wait() == 0


def test_an_interrupt_ends_the_agent_without_a_traceback(play: Play) -> None:
    """As Ctrl-C in a terminal."""
    child = play()
    child.initialize()
    child.process.send_signal(signal.SIGINT)
    assert child.wait() == 130
    assert child.stderr() == b""


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_an_output_can_be_closed_by_an_agent_that_lives_on(play: Play, tmp_path: Path, name: str) -> None:
    """The client sees EOF; steps go on; what is written there is lost."""
    child = play(prompt=[{"stderr": "a"}, {"close": name}, {"touch": "on"}, {"stderr": "b"}, {"chunk": "c"}, "hang"])
    child.open()
    child.prompt()
    if name == "stdout":
        assert child.rest() == []
    else:
        assert child.stderr() == b"a\n"
        assert text_of([child.frame()]) == "c"
    wait_for(tmp_path / "on")
    assert child.end() == 0


def test_stdin_can_be_closed_by_an_agent_that_lives_on(play: Play) -> None:
    """The client's writes fail."""
    child = play(prompt=[{"close": ["stdin"]}, {"chunk": "closed"}, "hang"])
    child.open()
    child.prompt()
    assert text_of([child.frame()]) == "closed"
    with pytest.raises(BrokenPipeError):
        child.send_bytes(b"x")


def test_an_agent_tells_facts_of_itself(play: Play, tmp_path: Path) -> None:
    """At the start and by a step; the step knows what was spawned."""
    steps = [{"spawn": {"pid_file": "pid"}}, {"facts": "later"}]
    child = play(facts="${WHERE}", prompt=steps, env={"WHERE": "facts"})
    child.open()
    child.turn()
    facts = json.loads((tmp_path / "facts").read_text())
    assert facts["pid"] == facts["pgid"] == facts["sid"] == child.process.pid
    assert facts["ppid"] == os.getpid()
    assert facts["cwd"] == str(tmp_path.resolve())
    assert facts["env"]["WHERE"] == "facts"
    assert facts["argv"][1:3] == ["-m", "acp_agent.scripted"]
    assert facts["spawned"] == []
    assert json.loads((tmp_path / "later").read_text())["spawned"] == [int((tmp_path / "pid").read_text())]


@pytest.mark.parametrize("where", [{}, {"session": True}, {"group": True}])
def test_what_was_spawned_dies_with_a_polite_agent(play: Play, tmp_path: Path, where: dict[str, bool]) -> None:
    """In its group, in a group or in a session of its own."""
    child = play(prompt=[{"spawn": {"pid_file": "pid", "ignore_term": True, **where}}])
    child.open()
    child.turn()
    pid = int((tmp_path / "pid").read_text())
    assert is_running(pid)
    assert (os.getpgid(pid) == pid) is bool(where)
    assert (os.getsid(pid) == pid) is ("session" in where)
    assert child.end() == 0
    wait_gone(pid)


def test_what_died_by_itself_is_no_trouble_at_the_exit(play: Play, tmp_path: Path) -> None:
    """A helper that has ended is not killed, only reaped."""
    child = play(prompt=[{"spawn": {"argv": ["sh", "-c", "echo $$ > pid"], "group": True}}, {"wait_for": "pid"}])
    child.open()
    child.turn()
    wait_gone(int(wait_for(tmp_path / "pid")))
    assert child.end() == 0


def test_what_is_left_lives_on_and_can_be_deaf_to_sigterm(play: Play, tmp_path: Path) -> None:
    """`leave` survives the exit; `ignore_term` survives a SIGTERM, and only with it."""
    deaf = {"leave": True, "ignore_term": True, "pid_file": "deaf"}
    child = play(ignore="SIGTERM", prompt=[{"spawn": deaf}, {"spawn": {"leave": True, "pid_file": "soft"}}])
    child.open()
    child.turn()
    assert child.end() == 0
    deaf_pid, soft_pid = (int((tmp_path / name).read_text()) for name in ("deaf", "soft"))
    os.kill(deaf_pid, signal.SIGTERM)
    os.kill(soft_pid, signal.SIGTERM)
    wait_gone(soft_pid)
    assert is_running(deaf_pid)
    os.kill(deaf_pid, signal.SIGKILL)
    wait_gone(deaf_pid)


def test_a_grandchild_can_hold_a_pipe_and_has_its_own_environment(play: Play, tmp_path: Path) -> None:
    """Its output is on our stdout; it lives on after us and holds the pipe."""
    script = 'echo "$A-$B"; read line; echo "$line"'
    spawn = {"argv": ["sh", "-c", script], "inherit": ["stdin", "stdout"], "env": {"A": "${n}", "B": None}}
    steps = [{"ignore": "stdin"}, {"spawn": {**spawn, "leave": True, "pid_file": "pid"}}, {"exit": 0}]
    child = play(prompt=steps, env={"B": "b"})
    child.open()
    child.prompt()
    assert child.wait() == 0
    assert child.line() == b"0-\n"
    child.send_bytes(b"still here\n")
    assert child.rest() == [b"still here\n"]
    wait_gone(int((tmp_path / "pid").read_text()))


def test_a_program_that_is_not_there_is_a_fault_of_the_scenario(play: Play) -> None:
    """The message names it."""
    child = play(start=[{"spawn": {"argv": ["/no/such/program"]}}])
    assert child.wait() == 2
    assert b"cannot go on: spawn: /no/such/program cannot be started: No such file" in child.stderr()


def test_a_file_that_cannot_be_written_is_a_fault_of_the_scenario(play: Play) -> None:
    """As any other error of the system."""
    child = play(facts="/no/such/directory/facts")
    assert child.wait() == 2
    assert b"cannot go on: " in child.stderr()


def test_fifos_order_both_ways(play: Play, tmp_path: Path) -> None:
    """A FIFO wakes the agent when it was opened, and a reader of it when the agent gets there."""
    for name in ("in", "out"):
        os.mkfifo(tmp_path / name)
    child = play(prompt=[{"chunk": "a"}, {"wait_for": "in"}, {"touch": "out"}, {"touch": "touched"}])
    child.open()
    prompt = child.prompt()
    child.frame()
    assert not (tmp_path / "touched").exists()
    with (tmp_path / "in").open("wb"):
        pass
    assert (tmp_path / "out").read_bytes() == b"\n"
    child.until(prompt)
    assert (tmp_path / "touched").exists()


def test_a_fifo_that_cannot_be_woken_is_a_fault(play: Play, tmp_path: Path) -> None:
    """Only the lack of a reader is waited out."""
    os.mkfifo(tmp_path / "locked", 0o000)
    child = play(start=[{"touch": "locked"}])
    if os.getuid() == 0:  # root may open anything: there is nothing to see but the wait
        child.close_stdin()
        assert child.wait() == 0
    else:
        assert child.wait() == 2
