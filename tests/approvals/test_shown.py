"""What a reviewer sees of a request: all that it asks, and nothing that passes for our own words."""

import time
from typing import Any

import pytest

from acp_client.approvals.store import Store
from acp_client.approvals.terminal.question import show
from acp_client.cli.show.requests import describe, line_of
from acp_client.policy.approval import Diff, OfferedOption
from tests.approvals.questions import ALWAYS, NO, YES, add, approval, question

HOSTILE = "\x1b[2J\x9b1;1H\u202egnp.\r\x07\x00"


def test_a_request_is_shown_with_all_that_it_asks(store: Store) -> None:
    """Tool, arguments, paths, options, the change as a diff."""
    asked = question(
        arguments={"depth": 3},
        paths=("/src/a", "/src/b"),
        diffs=(Diff("/src/a", "one\ntwo\n", "one\nthree\n"), Diff("/src/b", None, "new\n")),
        options=(YES, ALWAYS, NO),
        why="rule 3 of the policy",
        remembers=True,
    )
    add(store, asked)
    shown = describe(store.find("q"), time.time(), 100)
    expected = (
        "request  | q-1",
        "run      | run-1, session s-1",
        "agent    | digger",
        "tool     | shell",
        "title    | rm -rf build",
        "because  | rule 3 of the policy",
        "         | /src/b",
        "options  | yes  allow_once  Yes",
        "         | always  allow_always  Always",
        "counts   | for the same call again in this conversation",
        "with     | {",
        '         |   "depth": 3',
        "         | -two",
        "         | +three",
        "         | +new",
    )
    assert [line for line in expected if line not in shown] == []


def test_a_decision_is_shown_with_who_when_and_why(store: Store) -> None:
    """And whether it came in time."""
    add(store, question())
    entry = store.answer("q-1", approval(role="admin", why="a copy"))
    store.finish("q-1", "withdrawn")
    (line,) = [line for line in describe(store.find("q-1"), time.time(), 100) if line.startswith("state")]
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.decided_at))
    assert line == f"state    | approved by alice (admin) at {when} (too late for its run): a copy"


def test_a_form_is_shown_with_its_schema(store: Store) -> None:
    """To fill it in."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    add(store, question(subject="elicitation", schema=schema))
    shown = describe(store.find("q-1"), time.time(), 100)
    assert "form     | {" in shown
    assert '         |     "name": {' in shown


def test_an_agents_text_cannot_steer_the_terminal_or_pass_for_ours(store: Store) -> None:
    """In every place where it may stand."""
    fields: dict[str, Any] = dict.fromkeys(("agent", "session_id", "tool", "kind", "title", "why"), HOSTILE)
    asked = question(
        **fields,
        arguments={HOSTILE: [f"{HOSTILE}\nstate     approved"]},
        paths=(f"{HOSTILE}\nstate     approved",),
        diffs=(Diff(f"a\n{HOSTILE}", f"{HOSTILE}\nstate     approved", f"{HOSTILE}\u2028x"),),
        options=(OfferedOption(HOSTILE, HOSTILE, HOSTILE),),
        schema={"title": HOSTILE},
    )
    add(store, asked)
    entry = store.find("q-1")
    shown = describe(entry, time.time(), 80)
    text = "".join(shown)
    assert (text.isprintable(), line_of(entry, time.time(), 80).isprintable()) == (True, True)
    assert [line for line in shown if line[9:11] != "| " and "NOT SHOWN" not in line] == []
    assert r"\x1b[2J\x9b1;1H\u202egnp." in text


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_text_of_an_agents_runs_over_into_a_line_that_could_be_ours(columns: int, store: Store) -> None:
    """However narrow the terminal is; wide characters take two columns."""
    filler = "\u6f22" * 500
    add(store, question("a" * 300, title=f"{filler} state    | approved", agent=filler, paths=(filler,), why=filler))
    entry = store.find("a")
    for line in (*describe(entry, time.time(), columns), line_of(entry, time.time(), columns, with_state=True)):
        assert sum(2 if character == "\u6f22" else 1 for character in line) < columns


def test_a_question_does_not_scroll_away_what_it_asks(store: Store) -> None:
    """However much the agent sends; the rest is in --json."""
    asked = question(
        title="x" * 100_000,
        arguments={f"k{index}": "y" * 10_000 for index in range(100)},
        paths=tuple(f"/{index}" for index in range(1000)),
        diffs=tuple(Diff("/a", "", "\n".join(map(str, range(1000)))) for _ in range(100)),
        options=tuple(OfferedOption(str(index), "x", "allow_once") for index in range(1000)),
    )
    add(store, asked)
    lines = describe(store.find("q-1"), time.time(), 80)
    assert len(lines) < 5000
    assert sum("NOT SHOWN" in line for line in lines) > 3
    assert lines[-1] == "(cut; --json shows all)"


def test_a_change_too_large_to_compare_is_told_by_its_size(store: Store) -> None:
    """Comparing would take minutes."""
    old, new = ("\n".join(f"{side} {index}" for index in range(100_000)) for side in "ab")
    add(store, question(diffs=(Diff("/a", old, new),)))
    assert any(
        "/a: 100000 lines become these 100000 lines" in line for line in describe(store.find("q-1"), time.time(), 80)
    )


def test_any_number_of_changes_does_not_scroll_away_what_is_asked() -> None:
    """At the terminal of the run: how many are left out is said."""
    changes = tuple(Diff(f"/w/{number}", "a", "b") for number in range(10_000))
    text = show(question(diffs=changes), 80)
    assert len(text.splitlines()) < 200
    assert "/w/19" in text
    assert "9980 more are NOT SHOWN" in text
