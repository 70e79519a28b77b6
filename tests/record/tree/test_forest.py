"""Many runs become trees by their parent links; what an agent tells of its own sub-agents stands in for no record."""

from typing import Any

from acp_client.record.tree.forest import offset, plant, timeline
from acp_client.record.tree.items import Item, Permission, Said, ToolCall
from acp_client.record.tree.runs import Run
from tests.record.tree.wire import ask, decided, end, ended, header, prompt, run_of, said


def at(seconds: float) -> str:
    """A start."""
    return f"2026-12-01T04:00:{seconds:06.3f}Z"


def test_children_hang_below_their_parents_in_order_of_start() -> None:
    """However the files are ordered; the breadcrumb names them all."""
    runs = [
        run_of(header("c2", "p", "second", at(2))),
        run_of(header("g", "c1", "grandchild", at(3))),
        run_of(header("p", None, "parent", at(0))),
        run_of(header("c1", "p", "first", at(1))),
    ]
    (root,) = plant(runs)
    assert [run.name for run in root.walk()] == ["parent", "first", "grandchild", "second"]
    assert runs[1].breadcrumb == ("parent", "first", "grandchild")


def test_orphans_and_circles_are_roots() -> None:
    """Nothing is lost for an odd link; of two with one id the first has the children."""
    runs = [
        run_of(header("a", "b")),
        run_of(header("b", "a")),
        run_of(header("self", "self")),
        run_of(header("orphan", "gone")),
        run_of(header("twin", agent="one")),
        run_of(header("twin", agent="two")),
        run_of(header("child", "twin")),
        run_of(said(1, "no header")),
    ]
    roots = plant(runs)
    assert sorted(run.run_id or "-" for root in roots for run in root.walk()) == sorted(
        run.run_id or "-" for run in runs
    )
    assert runs[2] in roots
    assert runs[3] in roots
    assert runs[6].parent is runs[4]


def test_a_long_chain_of_runs_is_no_trouble() -> None:
    """Deeper than Python recurses."""
    chain = [run_of(header(f"r{number}", f"r{number - 1}", started=at(0))) for number in range(3000)]
    (root,) = plant(chain)
    assert sum(1 for _ in root.walk()) == 3000


def test_children_stand_among_the_items_where_they_began() -> None:
    """One of an unknown start stands at the end."""
    parent = run_of(header("p", started=at(10)), prompt(0.5, "go"), said(2.0, "done"))
    early = run_of(header("e", "p", "early", at(11)))
    late = run_of(header("l", "p", "late", at(20)))
    undated = run_of(header("u", "p", "undated", ""))
    plant([parent, early, late, undated])
    shown = [one.name if isinstance(one, Run) else type(one).__name__ for one in timeline(parent)]
    assert shown == ["Request", "Said", "early", "Said", "late", "undated"]
    assert offset(early) == 1.0
    assert offset(undated) is None
    assert offset(parent) is None


TRACE: list[Any] = [
    {"agent": "desk › extractor", "type": "task", "text": "extract"},
    {"agent": "desk › extractor", "type": "message", "text": "ok"},
    {
        "agent": "desk › extractor",
        "type": "tool_call",
        "id": "c",
        "title": "Write",
        "kind": "edit",
        "status": "completed",
    },
    {"agent": "desk › extractor", "type": "permission", "tool_call_id": "c", "action": "reject", "decided_by": "kim"},
    {"agent": "desk › extractor › judge", "type": "task", "text": "judge"},
    {"agent": "desk › extractor › judge", "type": "end", "status": "completed", "reason": "end_turn"},
    {"agent": "desk › extractor", "type": "cut", "count": 2},
    {"agent": "desk › extractor", "type": "end", "status": "error", "reason": "refusal", "message": "it refuses"},
    {"agent": "desk › extractor", "type": "task", "text": "again"},
    {"agent": "desk › lost › deep", "type": "message", "text": "no task was told"},
    {"agent": "desk", "type": "message", "text": "its own"},
    "odd",
    {"agent": "desk › extractor"},
]


def test_what_an_agent_tells_of_its_sub_agents_becomes_runs() -> None:
    """Each task is a run; the tree is by breadcrumb; an allow or a denial is known with who decided."""
    answer = ended(1, _meta={"acp-subagents": {"sub_agent_trace": TRACE}})
    desk = run_of(header("d", agent="desk"), prompt(0, "go"), answer, end(2))
    plant([desk])
    assert [run.breadcrumb for run in desk.walk()] == [
        ("desk",),
        ("desk", "extractor"),
        ("desk", "extractor", "judge"),
        ("desk", "extractor"),
        ("desk", "deep"),
    ]
    first = desk.children[0]
    assert first.handed_up
    assert (first.status, first.reason, first.failure["message"]) == ("error", "refusal", "it refuses")
    assert [(item.answer, item.decided_by) for item in first.of(Permission)] == [("denied", "kim")]
    assert [call.unasked for call in first.of(ToolCall)] == [False]
    assert [item.text for item in first.of(Said)] == ["extract", "ok"]
    assert desk.children[1].status == "unfinished"


def test_records_of_the_children_come_before_what_is_told_of_them() -> None:
    """The result has the trace too; where transcripts are it is not shown twice."""
    desk = run_of(header("d", agent="desk"), end(2, nested_trace=TRACE))
    child = run_of(header("c", "d", "extractor"), ask(1), decided(1))
    plant([desk, child])
    assert desk.children == [child]
    alone = run_of(header("d", agent="desk"), end(2, nested_trace=TRACE))
    plant([alone])
    assert len(alone.children) == 3


def test_a_plain_item_has_not_failed() -> None:
    """The base of all items."""
    assert not Item(t=None).failed
