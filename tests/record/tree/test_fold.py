"""A transcript becomes a run: what was said, done, asked and answered, in order, and how it ended."""

import math

from acp_client.record.format.lines import Frame, Note
from acp_client.record.format.reader import read_file
from acp_client.record.tree.fold import fold
from acp_client.record.tree.items import HostCall, Other, Output, Permission, Plan, Request, Said, ToolCall
from acp_client.record.tree.runs import counts, failures
from acp_client.record.viewer.words import told_counts
from tests.record.tree.wire import (
    ask,
    decided,
    end,
    ended,
    header,
    names,
    pick,
    prompt,
    run_of,
    said,
    stderr,
    to_agent,
    to_client,
    update,
)


def test_pieces_of_a_message_are_one_message_until_something_else_happens() -> None:
    """Stderr and usage between two pieces break nothing; a tool call, another id and a thought do."""
    run = run_of(
        header(),
        prompt(0.1, "go"),
        said(0.2, "one "),
        stderr(0.25, "noise"),
        update(0.26, "usage_update", used=5, size=10, cost={"amount": 0.5, "currency": "USD"}),
        said(0.3, "two"),
        update(0.4, "tool_call", toolCallId="c", title="Read"),
        update(0.5, "tool_call_update", toolCallId="c", status="completed"),
        said(0.6, "three"),
        said(0.7, "four", "m2"),
        said(0.8, "hm", kind="agent_thought_chunk"),
        said(0.9, "five", "m2"),
    )
    texts = [(item.role, item.text) for item in run.of(Said)]
    assert texts == [
        ("user", "go"),
        ("message", "one two"),
        ("message", "three"),
        ("message", "four"),
        ("thought", "hm"),
        ("message", "five"),
    ]
    assert run.of(Said)[1].seconds is not None
    assert math.isclose(run.of(Said)[1].seconds or 0, 0.1)
    assert run.usage.context_used == 5
    assert run.usage.cost is not None


def test_a_tool_call_is_patched_and_timed() -> None:
    """Null changes nothing; it lasts from its first word to the first time that it is over."""
    run = run_of(
        update(1.0, "tool_call", toolCallId="c", title="Write", kind="edit", rawInput={"a": 1}),
        update(2.0, "tool_call_update", toolCallId="c", title=None, status="failed"),
        update(3.0, "tool_call_update", toolCallId="c", content=[]),
        update(4.0, "tool_call_update", toolCallId="d", name="late", status="in_progress"),
        update(5.0, "tool_call_update", toolCallId="e"),
    )
    first, second, third = run.of(ToolCall)
    assert (first.title, first.tool_kind, first.status, first.seconds) == ("Write", "edit", "failed", 1.0)
    assert first.failed
    assert (second.title, second.until, third.title) == ("late", None, "e")


def test_a_call_that_is_opened_again_is_not_over() -> None:
    """Agents do that when they retry."""
    run = run_of(
        update(1.0, "tool_call", toolCallId="c", status="failed"),
        update(2.0, "tool_call_update", toolCallId="c", status="in_progress"),
    )
    assert run.of(ToolCall)[0].until is None
    assert not run.of(ToolCall)[0].failed


def test_what_was_asked_meets_who_answered() -> None:
    """The note may stand before or after the answer on the wire; one of the same call goes to the older request."""
    run = run_of(
        header(),
        update(0.5, "tool_call", toolCallId="c", title="Write", kind="edit", rawInput={"x": 1}),
        ask(1.0, request_id=1),
        decided(1.4, why="fine", role="senior"),
        pick(1.5, "y", request_id=1),
        ask(2.0, request_id=2),
        pick(2.5, "n", request_id=2),
        decided(2.6, action="reject", decided_by="kim"),
        ask(3.0, "unseen", request_id=3, title="Delete", kind="delete", locations=[]),
        pick(3.1, None, request_id=3),
        ask(4.0, request_id=4),
    )
    one, two, three, four = run.of(Permission)
    assert (one.answer, one.decided_by, one.why, one.waited) == ("allowed", "rule 1: allow", "fine", 0.5)
    assert (one.title, one.tool_kind) == ("Write", "edit")
    assert (two.answer, two.decided_by) == ("denied", "kim")
    assert (three.answer, three.title, three.decided_by, three.tool_kind) == ("cancelled", "Delete", None, "delete")
    assert math.isclose(three.waited or 0, 0.1)
    assert four.answer == "open"
    assert [call.title for call in run.of(ToolCall)] == ["Write", "Delete"]
    assert run.of(ToolCall)[0].permissions == [one, two, four]
    assert names(run.items)[-3:] == ["ToolCall", "Permission", "Permission"]


def test_an_answer_without_a_known_option_says_what_was_decided() -> None:
    """The kind of the option comes first, then what the parent decided."""
    run = run_of(
        ask(1, "a", 1),
        pick(2, "gone", 1),
        ask(3, "b", 2),
        pick(4, "gone", 2),
        decided(4, "b"),
        ask(5, "c", 3),
        pick(6, "gone", 3),
        decided(6, "c", action="reject"),
        ask(7, "d", 4),
        pick(8, None, 4),
        decided(8, "d", action="reject"),
    )
    assert [item.answer for item in run.of(Permission)] == ["answered", "allowed", "denied", "denied"]
    assert run.of(Permission)[0].option is None


def test_forms_and_turns_are_asked_too() -> None:
    """A form on the wire, and a turn that only the parent knows of."""
    run = run_of(
        to_client(1, id=1, method="elicitation/create", params={"message": "Which?", "requestedSchema": {}}),
        to_agent(2, id=1, result={"action": "decline"}),
        decided(2, "", subject="elicitation", action="reject", outcome="declined"),
        to_client(3, id=2, method="elicitation/create", params={"toolCallId": "c", "message": "Sure?"}),
        to_agent(4, id=2, result={"action": "accept"}),
        to_client(5, id=3, method="elicitation/create", params={"message": "Still?"}),
        to_agent(6, id=3, error={"code": -1, "message": "no"}),
        decided(7, "", subject="turn", outcome="accepted", title="the turn"),
    )
    told = [(item.subject, item.title, item.answer) for item in run.of(Permission)]
    assert told == [
        ("elicitation", "Which?", "denied"),
        ("elicitation", "Sure?", "allowed"),
        ("elicitation", "Still?", "cancelled"),
        ("turn", "the turn", "allowed"),
    ]


def test_the_result_stands_in_for_notes_that_are_missing() -> None:
    """A record by an older writer has the permissions and the host tools at its end alone."""
    record = {"tool_call_id": "c", "action": "allow", "outcome": "selected", "option_id": "y", "decided_by": "kim"}
    call = {"ordinal": 1, "name": "lookup", "status": "failed", "seconds": 1.0, "error": "no"}
    run = run_of(ask(1), pick(2, "y"), end(3, permissions=[record], host_tool_calls=[call]))
    assert [item.decided_by for item in run.of(Permission)] == ["kim"]
    assert [(item.fields["name"], item.failed) for item in run.of(HostCall)] == [("lookup", True)]
    again = run_of(ask(1), decided(1), pick(2, "y"), end(3, permissions=[record]))
    assert [item.decided_by for item in again.of(Permission)] == ["rule 1: allow"]


def test_host_tools_are_told_once_each_with_their_length() -> None:
    """A second note of one call tells it on; members may stand in the note or in an object of it."""
    run = run_of(
        Note(kind="host_tool", fields={"ordinal": 1, "name": "a", "status": "running", "seconds": 0.0}, t=1.0),
        Note(kind="host_tool", fields={"call": {"ordinal": 1, "status": "completed", "seconds": 2.0}}, t=3.0),
        Note(kind="host_tool", fields={"name": "b", "status": "rejected"}, t=None),
    )
    first, second = run.of(HostCall)
    assert (first.fields["name"], first.fields["status"], first.t, first.until) == ("a", "completed", 1.0, 3.0)
    assert second.failed
    assert counts([run]).tool_calls == 2


def test_everything_else_is_kept_as_it_came() -> None:
    """Requests of both sides with their answers, noise, unknown updates and notes, answers to nothing."""
    run = run_of(
        to_agent(0.1, id=1, method="initialize", params={}),
        to_client(0.2, id=1, result={"agentInfo": {"name": "self-made"}}),
        to_client(0.3, id=1, method="fs/read_text_file", params={"path": "a"}),
        to_agent(0.4, id=1, error={"code": -32000, "message": "no"}),
        to_agent(0.5, method="session/cancel", params={}),
        Frame(direction="a>c", raw="Loading…", t=0.6),
        stderr(0.7, "a"),
        stderr(0.8, "b"),
        update(0.9, "current_mode_update", currentModeId="x"),
        update(0.9, "plan", entries=[{"content": "a"}, "odd"]),
        update(0.9, "plan", entries=None),
        update(0.9, "tool_call", title="without an id"),
        to_client(1.0, id=99, result={}),
        to_client(1.1, method="session/update", params=None),
        Note(kind="lost", fields={"count": 3}, t=1.2),
        Note(kind="", fields={"stdin": "closed"}, t=1.3),
    )
    assert run.name == "self-made"
    assert [(item.method, item.by_client, item.failed) for item in run.of(Request)] == [
        ("initialize", True, False),
        ("fs/read_text_file", False, True),
        ("session/cancel", True, False),
    ]
    assert run.of(Request)[2].notification
    assert [(item.text, item.noise) for item in run.of(Output)] == [("Loading…\n", True), ("ab", False)]
    assert [len(item.entries) for item in run.of(Plan)] == [1, 0]
    kinds = ["current_mode_update", "tool_call", "an answer to nothing", "update", "lost", "note"]
    assert [item.name for item in run.of(Other)] == kinds
    assert [item.name for item in run.of(Other) if item.failed] == ["lost"]
    assert run.stderr == "ab"


def test_prompts_and_messages_keep_blocks_that_are_not_text() -> None:
    """Their texts are joined by lines; what is no block is left out."""
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "data": "AA=="}, {"type": "text", "text": "b"}, 7]
    params = {"sessionId": "s", "prompt": blocks}
    run = run_of(
        to_agent(1, id=1, method="session/prompt", params=params),
        to_agent(2, id=2, method="session/prompt", params={"prompt": "odd"}),
        update(3, "agent_message_chunk", content={"type": "image", "data": ""}),
        update(4, "agent_message_chunk", content={"type": "text", "text": 5}),
    )
    first, second, third = run.of(Said)
    assert (first.text, len(first.blocks), second.text) == ("a\nb", 1, "")
    assert third.blocks == [{"type": "image", "data": ""}]


def test_times_that_no_clock_can_say_are_no_times() -> None:
    """JSON's 1e999 is infinite; the item stands without a time."""
    run = run_of(said(math.inf, "a"), said(2.0, "b", "n"), decided(1, seconds=math.nan), end(math.inf))
    assert [item.t for item in run.of(Said)] == [None, 2.0]
    assert run.last_t == 2.0
    assert run.of(Said)[0].seconds is None
    assert run.of(Permission)[0].waited == 0.0


def test_a_run_without_an_end_note_is_unfinished() -> None:
    """What went over the wire does not count: the parent may have more to say."""
    run = run_of(header(), prompt(0.1, "go"), ended(0.2))
    assert (run.status, run.reason, run.failed, run.is_over) == ("unfinished", "unfinished", True, False)
    assert "killed" in run.meaning
    assert run.seconds == 0.2


def test_a_run_is_what_its_end_note_says() -> None:
    """Status, reason, failure, times and stderr of the result."""
    failure = {"message": "it exited", "stage": "prompt"}
    diagnostics = {"stderr_tail": "last words"}
    note = end(9, "agent_exited", "error", failure=failure, timings={"total": 8.5}, diagnostics=diagnostics)
    run = run_of(header(), header("other"), note)
    assert (run.status, run.reason, run.seconds, run.run_id) == ("error", "agent_exited", 8.5, "r1")
    assert run.failure == failure
    assert run.stderr == "last words"
    assert run.meaning
    later = run_of(header(), end(1, "made_up", "made_up"))
    assert (later.status, later.reason, later.meaning) == ("error", "made_up", "")
    odd = run_of(header(), Note(kind="end", fields={"result": "odd"}))
    assert (odd.status, odd.reason) == ("error", "unknown")


def test_a_foreign_wire_ends_as_its_last_prompt_was_answered() -> None:
    """No parent of ours has written it, so the wire is all there is."""
    told = [
        (ended(2), ("completed", "end_turn")),
        (ended(2, "cancelled"), ("aborted", "cancelled_by_agent")),
        (ended(2, "refusal"), ("error", "refusal")),
        (ended(2, "made up"), ("error", "unknown_stop_reason")),
        (to_client(2, id=3, error={"code": 1, "message": "m"}), ("error", "agent_error")),
        (to_client(2, id=3, result={}), ("unfinished", "unfinished")),
    ]
    for answer, expected in told:
        run = run_of(prompt(1, "go"), answer)
        assert (run.status, run.reason) == expected
    assert run_of(said(1, "hi")).status == "unfinished"


def test_names_fall_back_to_the_file() -> None:
    """A foreign wire may say nothing of its agent."""
    assert run_of(said(1, "x"), source="/a/b.jsonl").name == "b.jsonl"
    assert run_of(said(1, "x"), source="").name == "agent"
    assert run_of(header(started="yesterday")).started is None
    assert run_of(header(started="2026-12-01T04:00:00")).started is None
    assert run_of(said(1, "x")).started is None
    assert run_of(said(1, "x")).run_id is None


def test_recorded_wires_of_other_tools_are_read() -> None:
    """The golden wires, with calls, plans and permissions."""
    run = fold(read_file("fixtures/transcripts/permission.jsonl"))
    assert (run.name, run.status) == ("golden", "completed")
    assert [(item.answer, item.title) for item in run.of(Permission)] == [("allowed", "Write notes.txt")]
    assert run.last_t is None


def test_a_run_is_called_as_its_parent_says_or_as_it_says_itself() -> None:
    """A header that has the name of the program alone names nobody; it is better than nothing."""
    named, unnamed = header(agent="judge"), header(agent="run-child")
    init = to_agent(1, id=1, method="initialize"), to_client(1, id=1, result={"agentInfo": {"name": "echo"}})
    assert [run_of(named, *init).name, run_of(unnamed, *init).name] == ["judge", "echo"]
    assert [run_of(named).name, run_of(unnamed).name, run_of(*init).name] == ["judge", "run-child", "echo"]


def test_runs_are_counted_and_failures_ordered() -> None:
    """What failed comes before what was aborted and what has no end."""
    runs = [
        run_of(header("a")),
        run_of(header("b"), end(1, "cancelled", "aborted")),
        run_of(header("c"), ask(1), pick(2, "n"), update(3, "tool_call", toolCallId="c", status="failed"), end(4)),
        run_of(header("d"), end(1, "refusal", "error")),
    ]
    assert [run.run_id for run in failures(runs)] == ["d", "b", "a"]
    found = counts(runs)
    assert (found.runs, found.failed, found.aborted, found.unfinished) == (4, 1, 1, 1)
    assert (found.denied, found.failed_calls) == (1, 1)
    assert told_counts(found).startswith("4 runs, 1 failed, 1 aborted, 1 unfinished, ")


def test_calls_that_changed_something_unasked_are_known() -> None:
    """Only those that completed and change something."""
    run = run_of(
        update(1, "tool_call", toolCallId="a", kind="edit", status="completed"),
        update(1, "tool_call", toolCallId="b", kind="read", status="completed"),
        ask(2, "c", kind="edit"),
        update(3, "tool_call_update", toolCallId="c", status="completed"),
    )
    assert [call.unasked for call in run.of(ToolCall)] == [True, False, False]
