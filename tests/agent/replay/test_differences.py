"""What differs fails loudly and shows where; with `lenient` it is said, and what was recorded goes on."""

import pytest

from acp_agent.replay.complaints import REPLAY_DIFFERS
from tests.agent.replay.playing import Played, answer, ask, error_of, opening, prompt, tell, text, turn

ASKED = [
    *opening(),
    ("c>a", prompt(3, "s1", "go")),
    ("a>c", ask(0, "session/request_permission", sessionId="s1", options=[])),
    ("c>a", answer(0, outcome={"outcome": "selected", "optionId": "yes"})),
    ("a>c", answer(3, stopReason="end_turn")),
]
NO = {"outcome": {"outcome": "selected", "optionId": "no"}}


def test_another_prompt_is_answered_with_the_difference() -> None:
    """In the message, and on stderr: file, line, what was recorded, what came, what to do. Not in the data again."""
    played = Played([*opening(), *turn()])
    played.open()
    (frame,) = played.send(prompt(13, "s1", "stop"))
    error = frame["error"]
    assert (frame["id"], error["code"]) == (13, REPLAY_DIFFERS)
    assert "rec.jsonl, line 5: session/prompt of session s1 is not what was recorded" in error["message"]
    assert '-    "text": "go"' in error["message"]
    assert error["message"].count('+    "text": "stop"') == 1
    assert error["data"] == {"file": "rec.jsonl", "line": 5}
    assert "record the run again" in played.stderr
    assert '+    "text": "stop"' in played.stderr
    assert played.player.failed


def test_after_a_difference_every_request_is_answered_with_it() -> None:
    """No client waits for an answer that does not come."""
    played = Played([*opening(), *turn()])
    played.open()
    first = error_of(played.send(prompt(13, "s1", "stop")), 13)
    assert error_of(played.send(prompt(14, "s1", "go")), 14) == first
    assert played.send(tell("session/cancel", sessionId="s1"), answer(1)) == []
    assert played.player.patience(0.0) is None


def test_another_answer_fails_the_turn_that_is_open() -> None:
    """An answer has no answer: the prompt gets the error."""
    played = Played(ASKED)
    played.open()
    (request,) = played.send(prompt(13, "s1", "go"))
    message = error_of(played.send(answer(request["id"], **NO)), 13)
    assert "the answer to session/request_permission is not what was recorded" in message
    assert '-   "optionId": "yes"' in message


def test_another_folder_or_server_in_a_session_is_a_difference() -> None:
    """The folder is another each time; which servers there are is not."""
    played = Played([*opening(), *turn()])
    played.send(ask(1, "initialize", protocolVersion=1))
    server = {"name": "x", "command": "/bin/x", "args": [], "env": []}
    message = error_of(played.send(ask(2, "session/new", cwd="/live", mcpServers=[server])), 2)
    assert '+    "name": "x"' in message
    assert "/live" not in message


def test_a_call_that_was_left_out_is_named() -> None:
    """Who comes with what was answered later than another has not sent the other."""
    rows = [
        *opening(),
        ("c>a", ask(3, "session/set_mode", sessionId="s1", modeId="m")),
        ("a>c", answer(3)),
        ("c>a", prompt(4, "s1", "go")),
        ("a>c", answer(4, stopReason="end_turn")),
    ]
    played = Played(rows)
    played.open()
    message = error_of(played.send(prompt(13, "s1", "go")), 13)
    assert "line 5: session/prompt of session s1 came where session/set_mode was recorded" in message


def test_a_session_opened_before_its_login_is_a_difference() -> None:
    """What the connection had to have is asked of all its sessions."""
    login = [("c>a", ask(9, "authenticate", methodId="key")), ("a>c", answer(9))]
    played = Played([*opening()[:2], *login, *opening()[2:]])
    assert "came where authenticate was recorded" in error_of(played.open(), 12)


def test_a_call_beyond_the_recording_is_shown() -> None:
    """Nothing more is expected, and what came is there."""
    played = Played([*opening(), *turn()])
    played.open()
    played.send(prompt(13, "s1", "go"))
    message = error_of(played.send(prompt(14, "s1", "more")), 14)
    assert "is not recorded: nothing more is expected here" in message
    assert '"text": "more"' in message


def test_a_cancel_that_was_not_recorded_fails_the_turn() -> None:
    """A notification has no answer: the prompt gets the error."""
    played = Played(ASKED)
    played.open()
    played.send(prompt(13, "s1", "go"))
    message = error_of(played.send(tell("session/cancel", sessionId="s1")), 13)
    assert "session/cancel of session s1 is not recorded" in message


def test_a_cancel_of_a_later_turn_does_not_come_in_this_one() -> None:
    """It is expected only once its own prompt is there."""
    cancel = ("c>a", tell("session/cancel", sessionId="s1"))
    later = [("c>a", prompt(4, "s1", "on")), cancel, ("a>c", answer(4, stopReason="cancelled"))]
    played = Played([*opening(), *turn(), *later])
    played.open()
    played.send(cancel[1])
    assert played.player.failed


def test_a_session_that_nobody_opened_is_a_difference() -> None:
    """A client cannot give the agent's own session another name."""
    played = Played([*opening(), *turn()])
    played.open()
    message = error_of(played.send(prompt(13, "other", "go")), 13)
    assert '+  "sessionId": "other"' in message


def test_a_client_that_leaves_early_is_told_what_was_missing() -> None:
    """The first of it, and how much."""
    played = Played([*opening(), *turn(), *turn(number=4)])
    played.open()
    assert played.leave() == []
    assert "line 5: the client left without sending session/prompt of session s1, and 1 more" in played.stderr
    assert played.player.failed


def test_a_client_without_what_the_agent_used_is_told_so() -> None:
    """Only where the recorded client had it: others were asked in vain then, too."""
    asked = [("c>a", prompt(3, "s1", "go")), ("a>c", ask(0, "fs/read_text_file", sessionId="s1", path="/x"))]
    told = [("c>a", answer(0, content="x"))]
    played = Played([*opening(fs={"readTextFile": True}), *asked, *told])
    played.open(fs={"readTextFile": False})
    message = error_of(played.send(prompt(13, "s1", "go")), 13)
    assert "fs/read_text_file was asked of the recorded client" in message
    assert "does not offer clientCapabilities.fs.readTextFile" in message
    in_vain = Played([*opening(), *asked])
    in_vain.open()
    (request,) = in_vain.send(prompt(13, "s1", "go"))
    assert request["method"] == "fs/read_text_file"


def test_what_was_masked_in_the_record_fits_what_comes() -> None:
    """A record has no secrets; the client of now sends them all the same."""
    header = {"name": "X-Custom", "value": "[redacted]"}
    server = {"type": "http", "name": "s", "url": "https://x/[redacted]/mcp", "headers": [header]}
    rows = [("c>a", ask(2, "session/new", cwd="/w", mcpServers=[server])), ("a>c", answer(2, sessionId="s1"))]
    played = Played([*opening()[:2], *rows])
    live = {**server, "url": "https://x/tok/mcp", "headers": [{"name": "X-Custom", "value": "v"}]}
    played.send(ask(1, "initialize", protocolVersion=1))
    assert played.send(ask(2, "session/new", cwd="/w", mcpServers=[live])) == [answer(2, sessionId="s1")]


# ---- lenient


def test_lenient_goes_on_with_what_was_recorded() -> None:
    """Another prompt gets the recorded answer, and a warning is on stderr."""
    played = Played([*opening(), *turn()], lenient=True)
    played.open()
    assert played.send(prompt(13, "s1", "stop"))[-1] == answer(13, stopReason="end_turn")
    assert played.stderr.startswith("warning: replay of rec.jsonl, line 5: ")
    assert not played.player.failed


def test_lenient_takes_another_answer() -> None:
    """And the turn ends as it did."""
    played = Played(ASKED, lenient=True)
    played.open()
    (request,) = played.send(prompt(13, "s1", "go"))
    assert played.send(answer(request["id"], **NO)) == [answer(13, stopReason="end_turn")]
    assert "warning: " in played.stderr


def test_lenient_passes_over_what_is_left_out() -> None:
    """Its recorded answer answers nothing, so it is not sent."""
    rows = [
        *opening(),
        ("c>a", ask(3, "session/set_mode", sessionId="s1", modeId="m")),
        ("a>c", answer(3)),
        *turn(number=4),
    ]
    played = Played(rows, lenient=True)
    played.open()
    assert played.send(prompt(13, "s1", "go")) == [text("s1", "gone"), answer(13, stopReason="end_turn")]
    assert (played.leave(), played.player.failed) == ([], False)


def test_lenient_prefers_the_session_that_is_meant() -> None:
    """Of two sessions with the same method open, the one that is named."""
    second = [("c>a", ask(3, "session/new", cwd="/b", mcpServers=[])), ("a>c", answer(3, sessionId="s2"))]
    rows = [*opening(), *second, *turn(number=4), *turn(session="s2", number=5)]
    played = Played(rows, lenient=True)
    played.open()
    played.send(ask(13, "session/new", cwd="/live2", mcpServers=[]))
    assert played.send(prompt(14, "s2", "other"))[0] == text("s2", "gone")


@pytest.mark.parametrize("frame", [tell("session/cancel", sessionId="s1"), tell("_vendor/x"), b"noise"])
def test_lenient_ignores_what_is_more(frame: object) -> None:
    """A notification that was not recorded changes nothing."""
    played = Played([*opening(), *turn()], lenient=True)
    played.open()
    played.send(frame)  # type: ignore[arg-type]  # bytes or a frame
    assert played.send(prompt(13, "s1", "go"))[-1] == answer(13, stopReason="end_turn")
    assert "warning: " in played.stderr


def test_lenient_has_no_answer_to_what_is_more() -> None:
    """A request that was not recorded gets the error, and the rest goes on."""
    played = Played([*opening(), *turn()], lenient=True)
    played.open()
    assert "is not recorded" not in error_of(played.send(ask(14, "session/list")), 14)
    assert played.send(prompt(13, "s1", "go"))[-1] == answer(13, stopReason="end_turn")


def test_lenient_asks_a_client_that_does_not_offer_it() -> None:
    """Its error is another answer, which is warned of too."""
    rows = [
        *opening(fs={"readTextFile": True}),
        ("c>a", prompt(3, "s1", "go")),
        ("a>c", ask(0, "fs/read_text_file", sessionId="s1", path="/x")),
        ("c>a", answer(0, content="x")),
        ("a>c", answer(3, stopReason="end_turn")),
    ]
    played = Played(rows, lenient=True)
    played.open()
    (request,) = played.send(prompt(13, "s1", "go"))
    refused = {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no"}}
    assert played.send(refused) == [answer(13, stopReason="end_turn")]
    assert played.stderr.count("warning: ") == 2
