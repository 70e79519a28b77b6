"""Turns of a served agent: cancelled, busy, failed, stopped, and what is asked in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_client.protocol.errors import SESSION_BUSY
from tests.agent.served import Served, soon, text_of

PREDEFINED = {-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002}


@pytest.mark.row("CANCEL-7")
@pytest.mark.parametrize("deed", ["wait", "deaf", "thread", "ask", "stream"])
def test_a_cancelled_turn_is_answered_within_a_second(odd: Served, deed: str) -> None:
    """Also one that swallows the cancel, waits for the client, or never pauses."""
    request, _ = odd.begin_turn(deed)
    with soon():
        odd.cancel()
        frames = odd.until(request)
    assert frames[-1]["result"] == {"stopReason": "cancelled"}


@pytest.mark.row("CANCEL-7")
def test_what_a_cancelled_turn_still_says_comes_before_its_answer(odd: Served) -> None:
    """ACP v1, prompt turn: all updates first, none after."""
    request, _ = odd.begin_turn("last_words")
    odd.cancel()
    assert text_of(odd.until(request)) == "last words"
    assert odd.end() == 0
    assert odd.rest() == []


@pytest.mark.row("CANCEL-8")
def test_cancelling_an_idle_session_does_nothing(odd: Served) -> None:
    """Not to the next prompt either, nor does the agent hear of it."""
    odd.begin()
    odd.cancel()
    odd.notify("session/cancel", sessionId="no such session")
    odd.notify("session/cancel")
    assert odd.answer("say hello")[0] == "hello"
    assert odd.end() == 0
    assert odd.stderr() == b""


@pytest.mark.row("CANCEL-8")
@pytest.mark.parametrize("deed", ["wait", "deaf"])
def test_a_session_goes_on_after_a_cancelled_turn(odd: Served, deed: str) -> None:
    """The next prompts are answered as if there had been no cancel."""
    request, _ = odd.begin_turn(deed)
    odd.cancel()
    odd.until(request)
    for word in ("one", "two"):
        text, response = odd.answer(f"say {word}")
        assert (text, response["result"]["stopReason"]) == (word, "end_turn")


def test_the_agent_is_told_of_a_cancelled_turn(odd: Served) -> None:
    """Once, by its session."""
    request, _ = odd.begin_turn("wait")
    odd.cancel()
    odd.until(request)
    assert odd.end() == 0
    assert odd.stderr().decode() == f"cancel {odd.session}\n"


@pytest.mark.row("CONC-1", "AUTH-5")
def test_a_second_prompt_in_a_running_turn_is_refused_and_harms_nothing(odd: Served) -> None:
    """With a code of our own; another session of the same agent is free."""
    first, _ = odd.begin_turn("wait")
    refused = odd.until(odd.ask("say never"))[-1]
    assert refused["error"]["code"] == SESSION_BUSY
    assert refused["error"]["code"] not in PREDEFINED
    other = odd.call("session/new", cwd="/", mcpServers=[])["result"]["sessionId"]
    assert text_of(odd.turn("say hello", other)) == "hello"
    odd.cancel()
    assert odd.until(first)[-1]["result"] == {"stopReason": "cancelled"}


@pytest.mark.row("STOP-6")
def test_a_limit_of_the_agent_is_a_stop_reason_and_no_error(odd: Served) -> None:
    """What it said before is kept."""
    odd.begin()
    for reason in ("max_tokens", "max_turn_requests", "refusal", "end_turn", "cancelled"):
        text, response = odd.answer(f"stop {reason}")
        assert (text, response["result"]) == ("as far as I got", {"stopReason": reason})


@pytest.mark.row("STOP-6")
@pytest.mark.parametrize("deed", ["stop tired", "fail 4711", "no_such_deed"])
def test_a_bug_of_the_agent_is_a_bare_internal_error_and_a_traceback_in_the_log(odd: Served, deed: str) -> None:
    """Nothing of the exception crosses the wire, and the session goes on."""
    odd.begin()
    _, response = odd.answer(deed)
    assert response["error"] == {"code": -32603, "message": "Internal error"}
    assert odd.answer("say still here")[0] == "still here"
    assert odd.end() == 0
    stderr = odd.stderr()
    assert b"Traceback" in stderr
    assert deed.rsplit(maxsplit=1)[-1].encode() in stderr


def test_an_error_meant_for_the_client_is_told_as_it_is(odd: Served) -> None:
    """Code, message and data."""
    odd.begin()
    _, response = odd.answer("refuse -31000")
    assert response["error"] == {"code": -31000, "message": "refused", "data": {"because": "asked"}}


def _selected(option_id: str) -> Any:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


YES, NO = "allowed=True cancelled=False option=yes", "allowed=False cancelled=False option=no"
NOBODY = "allowed=False cancelled=False option=none"
OUTCOMES: list[tuple[str, Any, str]] = [
    ("ask", _selected("yes"), YES),
    ("ask", _selected("no"), NO),
    ("ask reject_first", _selected("no"), NO),
    ("ask reject_first", _selected("always"), "allowed=True cancelled=False option=always"),
    ("ask", _selected("YES"), NOBODY),
    ("ask", {"outcome": {"outcome": "selected"}}, NOBODY),
    ("ask", {"outcome": {"outcome": "cancelled"}}, "allowed=False cancelled=True option=none"),
    ("ask", {"outcome": {"outcome": "approved", "optionId": "yes"}}, NOBODY),
    ("ask", {"outcome": "selected", "optionId": "yes"}, NOBODY),
    ("ask", {}, NOBODY),
    ("ask", None, NOBODY),
    ("ask", [], NOBODY),
]


@pytest.mark.row("PERM-2")
def test_a_selected_option_is_permission_only_if_it_allows(odd: Served) -> None:
    """Looked up in the list that was sent; what is not in it is a no."""
    odd.begin()
    for deed, result, said in OUTCOMES:
        request = odd.ask(deed)
        odd.reply(_permission(odd)["id"], result)
        assert text_of(odd.until(request)) == said, result


@pytest.mark.row("PERM-2")
def test_an_error_instead_of_a_permission_is_a_no(odd: Served) -> None:
    """The turn goes on."""
    odd.begin()
    request = odd.ask("ask")
    odd.send({"jsonrpc": "2.0", "id": _permission(odd)["id"], "error": {"code": -32603, "message": "no window"}})
    assert text_of(odd.until(request)) == "allowed=False cancelled=False option=none"


def _permission(odd: Served) -> Any:
    """The next frame that is a request; what is asked for stands in it."""
    frame = odd.frame()
    while "id" not in frame:
        frame = odd.frame()
    assert frame["method"] == "session/request_permission"
    assert frame["params"]["toolCall"]["title"] == "Edit a file"
    return frame


@pytest.mark.row("CAP-7")
def test_an_agent_works_on_its_own_disk_where_the_client_offers_none(odd: Served, tmp_path: Path) -> None:
    """And where it does: it never calls what it does not need."""
    odd.begin()
    request = odd.ask("touch here.txt")
    frames = odd.until(request)
    assert [one.get("method") for one in frames] == ["session/update", None]
    assert (tmp_path / "here.txt").read_text() == "touched"


@pytest.mark.row("CAP-7")
def test_the_extractor_asks_a_client_without_files_for_nothing_but_permission(
    start: Callable[..., Served], tmp_path: Path
) -> None:
    """It reads and writes its own disk."""
    (tmp_path / "trades.csv").write_text(
        "Trade ID,Date,Side,Instrument,Quantity,Price,Ccy,Counterparty\nT1,2026-03-02,BUY,AAPL,100,190.5,USD,Barclays\n"
    )
    agent = start("-m", "acp_agent", "trade_file_extractor")
    agent.begin()
    request = agent.ask("Extract the trades of trades.csv to out.json")
    frames = [agent.frame()]
    while frames[-1].get("id") != request:
        if "id" in frames[-1]:
            agent.select(frames[-1]["id"], "allow_once")
        frames.append(agent.frame())
    assert {one["method"] for one in frames if "method" in one} <= {"session/update", "session/request_permission"}
    assert frames[-1]["result"]["stopReason"] == "end_turn"


def test_a_structured_value_is_sent_once_to_a_client_that_knows_of_it(odd: Served) -> None:
    """As our extension; the first one counts."""
    odd.begin(_meta={"acp-subagents": {"complete": True}})
    request = odd.ask("complete x")
    first, last = odd.until(request)
    assert first["method"] == "_acp_subagents/complete"
    assert first["params"] == {"sessionId": odd.session, "result": {"value": "x"}}
    assert last["result"]["stopReason"] == "end_turn"


def test_a_structured_value_is_text_for_any_other_client(odd: Served) -> None:
    """A fenced block at the end of the answer."""
    odd.begin()
    assert odd.answer("complete x")[0] == '\n```json\n{\n  "value": "x"\n}\n```\n'
