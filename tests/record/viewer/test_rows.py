"""The terminal's rows: nested, in order, bounded, safe; and the summary that ends them."""

from acp_client.record.format.lines import Line, Note
from acp_client.record.tree.forest import plant
from acp_client.record.viewer.live import Live
from acp_client.record.viewer.rows import tree_rows
from acp_client.record.viewer.words import seconds
from tests.record.tree.wire import (
    ask,
    decided,
    end,
    ended,
    header,
    pick,
    prompt,
    run_of,
    said,
    stderr,
    to_agent,
    to_client,
    update,
)
from tests.record.viewer.hostile import hostile_run


def shown(*runs: object) -> str:
    """The rows as plain text."""
    return "\n".join(map(str, tree_rows(plant(runs))))  # type: ignore[arg-type]  # runs


def test_a_tree_is_shown_nested_with_a_summary() -> None:
    """A child stands where it began; who asked, who answered and why it failed are at the end."""
    failure, path = {"message": "it exited\nwith code 1"}, {"path": "a\nb"}
    parent = run_of(
        header("p", agent="desk", started="2026-12-01T04:00:00Z"),
        prompt(0.1, "book"),
        update(3, "tool_call", toolCallId="t", title="Edit", kind="edit", status="completed", rawInput=path),
        said(4, "done\nand dusted"),
        end(5),
    )
    child = run_of(
        header("c", "p", "extractor", "2026-12-01T04:00:01Z"),
        prompt(0.1, "extract"),
        ask(1, title="Run x", kind="execute"),
        pick(2, "n"),
        decided(2, action="reject", decided_by="kim"),
        stderr(3, "bad cell\nin row 7\n"),
        end(4, "agent_exited", "error", failure=failure),
    )
    assert shown(parent, child) == (
        "          run        desk: completed, end_turn, 5.00 s, 1 tool call\n"
        "     0.10 s prompt     book\n"
        "            run        extractor: failed, agent_exited, 4.00 s, 1 tool call, 1 permission, 1 denied\n"
        "       0.10 s prompt     extract\n"
        "       1.00 s tool       pending: Run x (execute, denied by kim)\n"
        "       1.00 s asked      denied: Run x (execute) (by kim)\n"
        "       3.00 s stderr     bad cell\n"
        "                         in row 7\n"
        "     3.00 s tool       completed: Edit (edit, without asking)\n"
        "                       path: a\n"
        "                         b\n"
        "     4.00 s message    done\n"
        "                       and dusted\n"
        "\n"
        "          asked      desk › extractor [extract]: Run x (execute): denied by kim with 'No' after 0.50 s\n"
        "          failed     desk › extractor [extract]: agent_exited: it exited\n"
        "                     with code 1\n"
        "          stderr     bad cell\n"
        "                     in row 7\n"
        "          in all     2 runs, 1 failed, 2 tool calls, 1 permission asked (1 denied)"
    )


def test_long_bodies_and_stderr_are_cut_and_say_so() -> None:
    """The page has all of it."""
    text = "\n".join(f"line {number}" for number in range(40))
    told = shown(run_of(header(), said(1, text), stderr(2, text), end(3, "refusal", "error")))
    assert told.count("27 lines more") == 2
    assert "… 20 lines before" in told
    assert told.count("line 39") == 1


def test_a_run_without_an_end_says_so() -> None:
    """Not "failed": nobody knows."""
    told = shown(run_of(header(), prompt(1, "go")))
    assert "child: unfinished, 1.00 s" in told
    assert "unfinished child [go]: the record ends here" in told


def test_a_failed_request_is_shown_and_the_usual_ones_are_not() -> None:
    """They only keep the wire going."""
    told = shown(
        run_of(
            to_agent(1, id=1, method="initialize", params={}),
            to_client(1, id=1, result={}),
            to_agent(2, id=2, method="session/new", params={}),
            to_client(2, id=2, error={"code": -32000, "message": "log in"}),
        )
    )
    assert "initialize" not in told
    assert "failed: session/new (error -32000: log in)" in told


def test_no_text_of_a_record_can_steer_a_terminal() -> None:
    """In the tree, in the summary, and live."""
    run = hostile_run()
    live = Live("x")
    rows = [str(row) for line in _lines() for row in live.feed(line)]
    for text in (shown(run), "\n".join([*rows, *map(str, live.finish())])):
        assert "owned" in text
        for sign in ("\x00", "\x1b", "\x07", "\x9b", "\r", "\u202e", "\u2066", "\u2028", "\ud800"):
            assert sign not in text


def _lines() -> list[Line]:
    bad = "\x1b[2Jowned\r\u202e\u2066\u2028\ud800\x00\x07\x9b"
    return [header(agent=bad), said(1, bad), said(2, bad), stderr(3, bad), ask(4, title=bad), Note(kind=bad, t=5)]


def feed(live: Live, *lines: Line) -> list[str]:
    """What these lines show."""
    return [str(row).strip() for line in lines for row in live.feed(line)]


def test_a_running_one_is_told_as_it_goes() -> None:
    """Text by lines, calls by their states, questions when asked and when answered."""
    live = Live("x")
    assert feed(live, header()) == ["run        child: running"]
    assert feed(live, prompt(1, "go")) == []
    assert [str(row).strip() for row in live.flush()] == ["1.00 s prompt     go"]
    assert feed(live, said(2, "one")) == []
    assert feed(live, said(2.5, " line\ntwo")) == ["2.00 s message    one line"]
    assert feed(live, stderr(2.6, "warn")) == ["two"]
    assert feed(live, said(2.7, " three\n")) == ["2.60 s stderr     warn", "2.00 s message     three"]
    assert feed(live, update(3, "tool_call", toolCallId="c", title="Edit")) == ["3.00 s tool       pending: Edit"]
    assert feed(live, update(3, "tool_call_update", toolCallId="c", content=[])) == []
    assert feed(live, ask(4)) == ["4.00 s asked      not answered: Edit"]
    assert feed(live, pick(5, "y")) == []
    assert feed(live, decided(5)) == ["4.00 s asked      allowed: Edit (by rule 1: allow)"]
    done = update(6, "tool_call_update", toolCallId="c", status="completed")
    assert feed(live, done) == ["3.00 s tool       completed: Edit (allowed by rule 1: allow)"]
    assert feed(live, update(6, "plan", entries=[])) == ["6.00 s plan       0 of 0 done"]
    over = feed(live, ended(7), end(8))
    assert over[1:] == [
        "run        child: completed, end_turn, 8.00 s, 1 tool call, 1 permission",
        "asked      child [go]: Edit: allowed by rule 1: allow with 'Yes' after 0.50 s",
        "in all     1 run, 1 tool call, 1 permission asked",
    ]
    assert live.run.is_over


def test_a_running_one_that_nobody_has_named_is_headed_once_it_says_its_name() -> None:
    """As it is called at the end too; by its program where it does something else first."""
    unnamed, opening = header(agent="run-child"), to_agent(1, id=1, method="initialize")
    live = Live("x")
    assert feed(live, unnamed, opening) == []
    assert feed(live, to_client(2, id=1, result={"agentInfo": {"name": "echo"}})) == [
        "run        echo: running, 2.00 s"
    ]
    assert feed(live, end(3))[1] == "run        echo: completed, end_turn, 3.00 s"
    assert feed(Live("x"), unnamed, stderr(1, "no\n")) == [
        "run        run-child: running, 1.00 s",
        "1.00 s stderr     no",
    ]


def test_an_answer_without_a_note_is_told_with_the_next_line_or_when_nothing_comes() -> None:
    """A foreign wire has no notes."""
    live = Live("x")
    feed(live, ask(1, title="Edit"), pick(2, "n"))
    assert [str(row).strip() for row in live.flush()] == ["1.00 s asked      denied: Edit"]
    feed(live, ask(3, "d", title="Move"), pick(4, "n"))
    assert feed(live, said(5, "x")) == ["3.00 s asked      denied: Move"]
    feed(live, ask(6, "e", title="Copy"), decided(6, "e", option_id="y"))
    assert feed(live, pick(6, "y")) == []


def test_a_failed_request_is_told_once_it_is_answered() -> None:
    """Open ones wait."""
    live = Live("x")
    assert feed(live, to_agent(1, id=1, method="session/new")) == []
    assert feed(live, to_client(2, id=1, error={"code": 1, "message": "no"}))[0].endswith("(error 1: no)")


def test_lengths_of_time_are_said_shortly() -> None:
    """Three figures, minutes from a minute on."""
    assert [seconds(one) for one in (None, 0.001, 0.5, 12.345, 61.0)] == ["", "0 s", "0.50 s", "12.3 s", "1 min 1 s"]
