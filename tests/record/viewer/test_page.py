"""The page as text: what its data says, and that nothing of a record can leave the block it stands in."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib import resources
from typing import Any

import pytest

from acp_client.record.format.lines import Line, Note
from acp_client.record.tree.forest import plant
from acp_client.record.viewer.page import embedded, fill, render
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
from tests.record.viewer.hostile import HOSTILE, hostile_run


class Page(HTMLParser):
    """The parts of a page, as a browser would take them apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Each tag with its attributes."""
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        """Each text with the tag before it."""
        self.texts.append((self._inside, data))

    def data(self) -> Any:
        """What is embedded."""
        (text,) = [text for tag, text in self.texts if tag == "script" and text.startswith("{")]
        return json.loads(text)


def data_of(*lines: Line) -> Any:
    """The data of a page for one run."""
    return Page(render(plant([run_of(*lines)]), "t")).data()


def cards(data: Any, label: str) -> list[Any]:
    """The cards of the first run with a label."""
    return [item for item in data["runs"][0]["items"] if item.get("l") == label]


def test_the_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    """By their hashes; the policy stands before anything that it is for."""
    page = Page(render([], "t"))
    (policy,) = [attrs["content"] or "" for tag, attrs in page.tags if attrs.get("http-equiv")]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "base-uri 'none'" in policy
    for tag, name in (("script", "page.js"), ("style", "page.css")):
        asset = resources.files("acp_client.record.viewer").joinpath("assets", name).read_text().rstrip("\n")
        digest = base64.b64encode(hashlib.sha256(asset.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
        assert asset in "".join(text for inside, text in page.texts if inside == tag)
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert [tag for tag, attrs in page.tags if attrs.get("src") or tag in ("link", "iframe", "object", "img")] == []
    assert not any("style" in attrs for _, attrs in page.tags)


def test_hostile_text_cannot_end_the_data_block_or_reach_the_markup() -> None:
    """The same tags as for a page without any record, and the data reads back."""
    page = render(plant([hostile_run()]), HOSTILE)
    plain = Page(render([], "t"))
    assert [tag for tag, _ in Page(page).tags] == [tag for tag, _ in plain.tags]
    block = re.search(r'<script type="application/json" id="data">(.*)</script>\n<script>', page)
    assert block is not None
    assert not re.search("[<>&\u2028\u2029]", block[1])
    assert Page(page).data()["runs"][0]["items"]


def test_no_text_of_a_record_can_steer_what_is_read() -> None:
    """Escapes, NULs, marks that turn the direction, line separators: all spelled out, keys and headers too."""
    page = render(plant([hostile_run()]), HOSTILE)
    for sign in ("\x00", "\x1b", "\x07", "\u202e", "\u2066", "\u200f", "\u2028", "\x9b", "\ud800"):
        assert sign not in page
    shown = json.dumps(Page(page).data(), ensure_ascii=False)
    for spelled in (r"\\x00", r"\\x1b", r"\\u202e", r"\\u2028"):
        assert spelled in shown


@pytest.mark.parametrize("mark", ["@DATA@", "@SCRIPT@", "@POLICY@", "@TITLE@"])
def test_the_marks_of_the_frame_mean_nothing_in_a_record(mark: str) -> None:
    """What is filled in is not looked at again."""
    page = render(plant([run_of(header(agent=mark), said(1, mark))]), mark)
    assert Page(page).data()["title"] == mark
    assert page.count("default-src") == 1


def test_data_is_compact_json_in_which_nothing_is_markup() -> None:
    """It reads back as it was."""
    value = {"a": "</script><!-- & \u2028 \u2029 é"}
    assert json.loads(embedded(value)) == value
    assert set("<>&\u2028\u2029") & set(embedded(value)) == set()


def test_a_reader_finds_who_asked_who_answered_and_why_it_failed() -> None:
    """The three questions of the summary, in the data."""
    failure = {"stage": "prompt", "message": "it exited with code 1", "request": "session/prompt", "retry_safe": False}
    parent = run_of(header("p", agent="desk"), prompt(0, "book"), end(9))
    child = run_of(
        header("c", "p", "extractor"),
        prompt(0.1, "extract\nall of it"),
        ask(1, title="Run x", kind="execute", rawInput={"command": "x"}),
        pick(2, "n"),
        decided(2, action="reject", decided_by="rule 1: reject", why="not here", rule="rule 1", role="boss"),
        stderr(3, "Traceback\nbad cell\n"),
        end(4, "agent_exited", "error", failure=failure, diagnostics={"exit_code": 1, "signal": None}),
    )
    data = Page(render(plant([parent, child]), "t")).data()
    (number,) = data["failures"]
    failed = data["runs"][number]
    assert [name for _, name in failed["crumb"]] == ["desk", "extractor"]
    assert (failed["status"], failed["tone"], failed["task"]) == ("failed", "bad", "extract")
    assert failed["why"] == "it exited with code 1"
    assert failed["failure"] == [["stage", "prompt"], ["request", "session/prompt"], ["exit code", "1"]]
    assert failed["stderr"] == "Traceback\nbad cell"
    ((run, place),) = data["asked"]
    asked = data["runs"][run]["items"][place]
    assert (asked["x"], asked["b"], asked["n"]) == ("Run x (execute)", "denied", "by rule 1: reject, as boss: not here")
    told = dict(asked["s"][0][2])
    assert told["who answered"] == "rule 1: reject, as boss"
    assert told["answer"].startswith("denied by rule 1: reject, as boss (not here) with 'No' after 0.50 s")
    assert told["rule"] == "rule 1"
    assert data["headline"] == "2 runs, 1 failed, 1 tool call, 1 permission asked (1 denied)"
    assert [row["r"] for row in data["lanes"][0]["rows"]] == [0, 1]
    assert {"r": 1} in data["runs"][0]["items"]


def test_tool_calls_show_arguments_places_changes_and_output() -> None:
    """Each in its section; what is empty is left out."""
    content = [
        {"type": "diff", "path": "a.py", "oldText": "one\ntwo\n", "newText": "one\n2\n"},
        {"type": "diff", "path": "b.py", "newText": "new\n"},
        {"type": "diff", "path": "c.py", "oldText": "same", "newText": "same"},
        {"type": "terminal", "terminalId": "t1"},
        {"type": "content", "content": {"type": "text", "text": "out"}},
        {"type": "content", "content": {"type": "image", "mimeType": "image/png", "data": "AAAA"}},
        {"type": "content", "content": {"type": "resource_link", "uri": "https://x.test/", "name": "doc"}},
        {"type": "content", "content": {"type": "resource", "resource": {"uri": "file:///x", "text": "body"}}},
        {"type": "content", "content": {"type": "resource", "resource": {"uri": "file:///x", "blob": "AAAA"}}},
        {"type": "novel", "x": 1},
        "odd",
    ]
    data = data_of(
        update(
            1,
            "tool_call",
            toolCallId="c",
            title="Edit",
            kind="edit",
            status="failed",
            rawInput={"path": "a.py", "n": 3, "deep": {"k": [1]}},
            rawOutput="said",
            locations=[{"path": "a.py", "line": 4}, {"path": "b.py"}, 5],
            content=content,
        )
    )
    (card,) = cards(data, "tool")
    assert (card["b"], card["c"], card["f"], card["o"], card["n"]) == ("failed", "bad", 1, 1, "edit")
    shown = [tuple(section) for section in card["s"]]
    assert shown[0] == ("pairs", "where", [["", "a.py:4"], ["", "b.py"]])
    assert shown[1][2] == [["path", "a.py"], ["n", "3"], ["deep", '{\n  "k": [\n    1\n  ]\n}']]
    assert shown[2] == ("diff", "a.py", "@@ -1,2 +1,2 @@\n one\n-two\n+2")
    assert shown[3] == ("diff", "b.py (new)", "@@ -0,0 +1 @@\n+new")
    assert shown[4] == ("diff", "c.py", "(no change)")
    assert [kind for kind, *_ in shown[5:]] == [
        "text",
        "code",
        "text",
        "link",
        "code",
        "text",
        "code",
        "pairs",
        "pairs",
    ]
    assert shown[7][2] == "image: image/png, 3 bytes, not shown"
    assert shown[-1] == ("pairs", "", [["call id", "c"]])


def test_every_kind_of_item_has_its_card() -> None:
    """Labels, titles and states."""
    call = {
        "ordinal": 1,
        "name": "lookup",
        "status": "failed",
        "seconds": 0.1,
        "error": "no such\nname",
        "arguments": 5,
    }
    data = data_of(
        header(),
        prompt(0.1, "go"),
        said(0.2, "think\nmore", kind="agent_thought_chunk"),
        said(0.3, ""),
        update(0.4, "agent_message_chunk", content={"type": "image", "data": "AA"}),
        update(
            0.5, "plan", entries=[{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]
        ),
        update(0.5, "plan", entries=[]),
        Note(kind="host_tool", fields=call, t=0.6),
        Note(kind="host_tool", fields={"ordinal": 2}, t=0.6),
        to_agent(0.7, id=9, method="session/new", params={}),
        to_client(0.8, id=9, error={"code": -32000, "message": "login"}),
        to_client(0.8, id=9, method="fs/read_text_file", params={"path": "x"}),
        to_agent(0.8, method="session/cancel"),
        Note(kind="lost", fields={"count": 2}, t=0.9),
        Note(kind="odd", fields={}, t=0.9),
        stderr(1.0, "\n"),
        ask(1.1, title="Write"),
        update(1.2, "tool_call", toolCallId="u", kind="edit", status="completed"),
        ended(2),
    )
    told = {(item["l"], item.get("x", ""), item.get("b", "")) for item in data["runs"][0]["items"]}
    assert told >= {
        ("prompt", "go", ""),
        ("thought", "think", ""),
        ("plan", "1 of 2 done; now: b", ""),
        ("plan", "0 of 0 done", ""),
        ("host tool", "lookup", "failed"),
        ("host tool", "?", "running"),
        ("request", "session/new", "failed"),
        ("request", "fs/read_text_file (of the agent)", "not answered"),
        ("notice", "session/cancel", ""),
        ("lost", "part of the record is missing", ""),
        ("note", "odd", ""),
        ("stderr", "(blank)", ""),
        ("asked", "Write", "not answered"),
    }
    (unasked,) = [item for item in cards(data, "tool") if item["x"] == "u"]
    assert unasked["n"] == "edit, without asking"
    (asking,) = [item for item in cards(data, "tool") if item["x"] == "Write"]
    assert asking["n"] == "asked, not answered"
    assert data["runs"][0]["status"] == "unfinished"


def test_long_texts_are_cut_and_say_so() -> None:
    """The transcript has the rest."""
    (card,) = cards(data_of(said(1, "a\n" + "x" * 300_000)), "message")
    text = card["s"][0][2]
    assert len(text) < 200_100
    assert text.endswith("… (100002 characters more in the transcript)")


def test_usage_and_the_header_are_told_about_a_run() -> None:
    """By the frames, else by the result."""
    used = {"inputTokens": 1200, "outputTokens": 5}
    data = data_of(
        header(), update(1, "usage_update", used=1, size=2, cost={"amount": 0.5, "currency": "USD"}), ended(2)
    )
    assert "context used 1, context size 2, cost 0.5 USD" in dict(data["runs"][0]["info"])["usage"]
    data = data_of(header(), prompt(1, "go"), ended(2, usage=used), end(3))
    assert "input tokens 1,200, output tokens 5" in dict(data["runs"][0]["info"])["usage"]
    data = data_of(header(parent="gone"), end(3, usage={"total_tokens": 7}))
    info = dict(data["runs"][0]["info"])
    assert (info["usage"], info["parent run"], info["command"]) == ("tokens in all 7", "gone", "run-child --acp")


def test_runs_at_other_times_get_an_axis_of_their_own() -> None:
    """A folder may hold the runs of a week; runs without a start stand alone."""
    runs = [
        run_of(header("a", started="2026-12-01T04:00:00Z"), said(5, "x")),
        run_of(header("b", started="2026-12-01T04:00:10Z"), said(5, "x")),
        run_of(header("c", started="2026-12-02T04:00:00Z"), said(1, "x")),
        run_of(said(1, "y")),
        run_of(said(None, "z")),
    ]
    lanes = Page(render(plant(runs), "t")).data()["lanes"]
    assert [len(axis["rows"]) for axis in lanes] == [1, 1, 2, 1]
    assert [axis["span"] for axis in lanes] == [1.0, 0.001, 15.0, 1.0]
    assert lanes[2]["rows"][1]["at"] == 10.0


def test_marks_on_a_lane_are_bounded() -> None:
    """Some stand for all."""
    run = run_of(*[update(at, "tool_call", toolCallId=str(at), status="completed") for at in range(1000)])
    (axis,) = Page(render([run], "t")).data()["lanes"]
    assert len(axis["rows"][0]["m"]) == 200


def test_an_empty_page_is_a_page() -> None:
    """Nothing to show is no error."""
    assert Page(fill({"title": "t", "runs": []})).data() == {"title": "t", "runs": []}
