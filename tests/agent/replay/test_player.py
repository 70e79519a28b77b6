"""A recording is played: what was written then is written now, at its place, with the ids and folders of now."""

from tests.agent.replay.playing import Played, answer, ask, opening, prompt, tell, text, turn


def test_a_turn_is_answered_with_the_ids_of_the_client_of_now() -> None:
    """Whatever the recorded client called its requests."""
    played = Played([*opening(), *turn()])
    assert played.open() == [answer(11, protocolVersion=1), answer(12, sessionId="s1")]
    assert played.send(prompt("p", "s1", "go")) == [text("s1", "gone"), answer("p", stopReason="end_turn")]
    assert (played.leave(), played.stderr, played.player.failed) == ([], "", False)


def test_nothing_is_said_before_it_is_asked_for() -> None:
    """Each frame waits for those of the client that came before it."""
    played = Played([*opening(), *turn()])
    assert played.first == []
    assert played.send(ask(1, "initialize", protocolVersion=1)) == [answer(1, protocolVersion=1)]


def test_another_release_of_the_client_makes_no_difference() -> None:
    """Neither its name, nor its number, nor what it can do beside, nor the version it would speak."""
    played = Played([*opening(), *turn()])
    info = {"name": "another", "version": "99"}
    frame = ask(1, "initialize", protocolVersion=2, clientInfo=info, clientCapabilities={"new": {}}, _meta={"x": 1})
    assert played.send(frame) == [answer(1, protocolVersion=1)]


def test_the_folder_of_now_stands_wherever_the_recorded_one_stood() -> None:
    """In what is expected and in what is said; not in a name that only begins like it."""
    said = "wrote /rec/work/a.txt, not /rec/workshop"
    rows = [*opening(), ("c>a", prompt(3, "s1", "see /rec/work/in.txt")), ("a>c", text("s1", said))]
    played = Played(rows)
    played.open("/live dir")
    (update,) = played.send(prompt(13, "s1", "see /live dir/in.txt"))
    assert update["params"]["update"]["content"]["text"] == "wrote /live dir/a.txt, not /rec/workshop"


def test_a_session_that_the_client_names_otherwise_is_the_recorded_one() -> None:
    """A loaded session has the id that its client knows; updates bear it, texts that name it too."""
    rows = [
        *opening()[:2],
        ("c>a", ask(2, "session/load", sessionId="recorded-id", cwd="/w", mcpServers=[])),
        ("a>c", text("recorded-id", "this is recorded-id")),
        ("a>c", answer(2)),
        ("c>a", prompt(3, "recorded-id", "go")),
        ("a>c", answer(3, stopReason="end_turn")),
    ]
    played = Played(rows)
    played.send(ask(1, "initialize", protocolVersion=1))
    load = ask(2, "session/load", sessionId="live-id-1", cwd="/w", mcpServers=[])
    assert played.send(load) == [text("live-id-1", "this is live-id-1"), answer(2)]
    assert played.send(prompt(3, "live-id-1", "go")) == [answer(3, stopReason="end_turn")]


def test_a_request_of_the_agent_is_made_again_with_an_id_of_its_own() -> None:
    """And what comes after its answer waits for it."""
    rows = [
        *opening(),
        ("c>a", prompt(3, "s1", "go")),
        ("a>c", ask(7, "session/request_permission", sessionId="s1", options=[])),
        ("c>a", answer(7, outcome={"outcome": "cancelled"})),
        ("a>c", answer(3, stopReason="end_turn")),
    ]
    played = Played(rows)
    played.open()
    (request,) = played.send(prompt(13, "s1", "go"))
    assert request == ask(8, "session/request_permission", sessionId="s1", options=[])
    assert played.send(answer(8, outcome={"outcome": "cancelled"})) == [answer(13, stopReason="end_turn")]


def test_a_terminal_is_called_what_the_client_of_now_calls_it() -> None:
    """The id that it answers with stands in the requests that follow."""
    rows = [
        *opening(terminal=True),
        ("c>a", prompt(3, "s1", "go")),
        ("a>c", ask(0, "terminal/create", sessionId="s1", command="ls")),
        ("c>a", answer(0, terminalId="t-rec")),
        ("a>c", ask(1, "terminal/output", sessionId="s1", terminalId="t-rec")),
    ]
    played = Played(rows)
    played.open(terminal=True)
    (create,) = played.send(prompt(13, "s1", "go"))
    (output,) = played.send(answer(create["id"], terminalId="t-live"))
    assert output["params"] == {"sessionId": "s1", "terminalId": "t-live"}


def test_what_an_agent_takes_back_is_the_request_of_now() -> None:
    """`$/cancel_request` names the id that the client knows."""
    rows = [
        *opening(),
        ("c>a", prompt(3, "s1", "go")),
        ("a>c", ask(7, "session/request_permission", sessionId="s1", options=[])),
        ("a>c", tell("$/cancel_request", requestId=7)),
        ("a>c", answer(3, stopReason="end_turn")),
    ]
    played = Played(rows)
    played.open()
    request, cancel, _ = played.send(prompt(13, "s1", "go"))
    assert cancel["params"]["requestId"] == request["id"] == 8
    played.send(answer(8, outcome={"outcome": "cancelled"}))
    assert not played.player.failed


def test_a_cancel_is_waited_for_where_it_was_recorded() -> None:
    """What the agent said after it is said after it."""
    rows = [
        *opening(),
        ("c>a", prompt(3, "s1", "go")),
        ("a>c", text("s1", "before")),
        ("c>a", tell("session/cancel", sessionId="s1")),
        ("a>c", text("s1", "after")),
        ("a>c", answer(3, stopReason="cancelled")),
    ]
    played = Played(rows)
    played.open()
    assert played.send(prompt(13, "s1", "go")) == [text("s1", "before")]
    cancel = tell("session/cancel", sessionId="s1")
    assert played.send(cancel) == [text("s1", "after"), answer(13, stopReason="cancelled")]


def test_a_cancel_that_met_no_turn_is_not_waited_for() -> None:
    """It came too late then, and may come or not now."""
    cancel = tell("session/cancel", sessionId="s1")
    rows = [*opening(), *turn(), ("c>a", cancel), *turn(number=4)]
    for sent in ([], [cancel]):
        played = Played(rows)
        played.open()
        played.send(prompt(13, "s1", "go"), *sent)
        assert len(played.send(prompt(14, "s1", "go"))) == 2
        assert (played.leave(), played.player.failed) == ([], False)


def test_a_request_that_the_client_took_back_is_the_request_of_now() -> None:
    """Its `$/cancel_request` is known by what it refers to, not by the number."""
    rows = [
        *opening(),
        ("c>a", prompt(3, "s1", "go")),
        ("c>a", tell("$/cancel_request", requestId=3)),
        ("a>c", {"jsonrpc": "2.0", "id": 3, "error": {"code": -32800, "message": "cancelled"}}),
        ("c>a", tell("$/cancel_request", requestId=3)),
    ]
    played = Played(rows)
    played.open()
    assert played.send(prompt("x", "s1", "go")) == []
    (error,) = played.send(tell("$/cancel_request", requestId="x"))
    assert (error["id"], error["error"]["code"]) == ("x", -32800)


def test_noise_and_stderr_come_again_where_they_came() -> None:
    """Raw lines as they were; an answer inside of one bears the id of now."""
    raw = 'Thinking...{"jsonrpc":"2.0","id": 3,"result":{"stopReason":"end_turn"}}'
    rows = [("a>c", "Loaded."), ("err", "warm\n"), *opening(), ("c>a", prompt(3, "s1", "go")), ("a>c", raw)]
    played = Played(rows)
    assert (played.first, played.stderr) == (["Loaded.\n"], "warm\n")
    played.open()
    assert played.send(prompt(13, "s1", "go")) == [raw.replace("3,", "13,") + "\n"]
    assert not played.player.is_over


def test_a_request_inside_of_a_raw_line_is_answered_as_any() -> None:
    """It keeps its id, which no request of ours has."""
    raw = 'x{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{}}'
    rows = [
        *opening(),
        ("c>a", prompt(3, "s1", "go")),
        ("a>c", raw),
        ("c>a", answer(5, outcome={"outcome": "cancelled"})),
        ("a>c", answer(3, stopReason="end_turn")),
    ]
    played = Played(rows)
    played.open()
    assert played.send(prompt(3, "s1", "go")) == [raw + "\n"]
    assert played.send(answer(5, outcome={"outcome": "cancelled"})) == [answer(3, stopReason="end_turn")]


def test_noise_of_the_client_is_taken_where_it_was_recorded() -> None:
    """Once; a second one is a difference."""
    played = Played([("c>a", "hello?"), *opening()])
    assert (played.send(b"hello, is it me"), played.player.failed) == ([], False)
    played.send(b"{")
    assert played.player.failed
    assert "no JSON-RPC frame: {" in played.stderr


def test_answers_that_nobody_waits_for_are_dropped() -> None:
    """As agents do; so is an answer that the recorded client did not give any more."""
    rows = [*opening(), ("c>a", prompt(3, "s1", "go")), ("a>c", ask(0, "_vendor/ask"))]
    played = Played(rows)
    played.open()
    (request,) = played.send(prompt(13, "s1", "go"))
    played.send(answer(request["id"], any=1), answer(99))
    assert (played.stderr, played.player.failed) == ("", False)


def test_a_duplicate_answer_goes_out_as_it_was() -> None:
    """It answers nothing, then as now."""
    played = Played([*opening(), ("a>c", answer(2, sessionId="s9"))])
    assert played.open()[-1] == answer(2, sessionId="s9")


def test_a_recording_that_ends_with_requests_open_is_over_there() -> None:
    """Its agent exited; the end of stdin is not waited for."""
    played = Played([*opening(), *turn()[:2]])
    played.open()
    assert not played.player.is_over
    played.send(prompt(13, "s1", "go"))
    assert played.player.is_over
