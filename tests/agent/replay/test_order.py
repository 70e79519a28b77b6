"""Several sessions, concurrent requests, the pace: what waits for what, and what does not."""

from typing import Any

import pytest

from tests.agent.replay.playing import Frame, Played, answer, ask, opening, prompt, tell, text, turn

NEW = [("c>a", ask(3, "session/new", cwd="/rec/b", mcpServers=[])), ("a>c", answer(3, sessionId="s2"))]
TOGETHER = [
    *opening(),
    *NEW,
    ("c>a", prompt(4, "s1", "one")),
    ("c>a", prompt(5, "s2", "two")),
    ("a>c", text("s1", "1")),
    ("a>c", text("s2", "2")),
    ("a>c", answer(5, stopReason="end_turn")),
    ("a>c", answer(4, stopReason="end_turn")),
]


def two_sessions(rows: list[Any]) -> Played:
    """Both sessions are open."""
    played = Played(rows)
    played.open()
    played.send(ask(13, "session/new", cwd="/live/b", mcpServers=[]))
    return played


def test_sessions_that_ran_together_may_run_one_after_the_other() -> None:
    """Each has its own order; neither waits for the other, whichever comes first."""
    for first, second in (("s1", "s2"), ("s2", "s1")):
        played = two_sessions(TOGETHER)
        said = {"s1": "one", "s2": "two"}
        for session in (first, second):
            _, end = played.send(prompt(session, session, said[session]))
            assert end == answer(session, stopReason="end_turn")
        assert (played.leave(), played.player.failed) == ([], False)


def test_sessions_that_run_together_are_served_in_recorded_order() -> None:
    """As far as both can go on."""
    played = two_sessions(TOGETHER)
    frames = played.send(prompt(4, "s1", "one"), prompt(5, "s2", "two"))
    assert frames == [row[1] for row in TOGETHER[-4:]]


def test_concurrent_requests_may_come_in_another_order() -> None:
    """Those that were open together; each gets its own answer, at its place."""
    rows = [
        *opening(),
        ("c>a", prompt(3, "s1", "go")),
        ("c>a", ask(4, "session/set_mode", sessionId="s1", modeId="m")),
        ("a>c", answer(4)),
        ("a>c", answer(3, stopReason="end_turn")),
    ]
    played = Played(rows)
    played.open()
    assert played.send(ask("m", "session/set_mode", sessionId="s1", modeId="m")) == []
    assert played.send(prompt("p", "s1", "go")) == [answer("m"), answer("p", stopReason="end_turn")]


def test_equal_requests_are_answered_in_their_order() -> None:
    """The first with the first answer."""
    listing = [("c>a", ask(3, "session/list")), ("c>a", ask(4, "session/list"))]
    rows = [*opening(), *listing, ("a>c", answer(3, sessions=[1])), ("a>c", answer(4, sessions=[2]))]
    played = Played(rows)
    played.open()
    frames = played.send(ask("a", "session/list"), ask("b", "session/list"))
    assert frames == [answer("a", sessions=[1]), answer("b", sessions=[2])]


def test_requests_of_the_agent_may_be_answered_in_another_order() -> None:
    """A person answers the second first; what was said after each waits for it."""
    rows = [
        *opening(),
        ("c>a", prompt(3, "s1", "go")),
        ("a>c", ask(0, "session/request_permission", sessionId="s1", options=[])),
        ("a>c", ask(1, "session/request_permission", sessionId="s1", options=[])),
        ("c>a", answer(0, outcome={"outcome": "cancelled"})),
        ("a>c", text("s1", "one")),
        ("c>a", answer(1, outcome={"outcome": "cancelled"})),
        ("a>c", answer(3, stopReason="end_turn")),
    ]
    played = Played(rows)
    played.open()
    one, two = played.send(prompt(13, "s1", "go"))
    assert played.send(answer(two["id"], outcome={"outcome": "cancelled"})) == []
    frames = played.send(answer(one["id"], outcome={"outcome": "cancelled"}))
    assert frames == [text("s1", "one"), answer(13, stopReason="end_turn")]


def test_a_session_that_could_not_be_opened_is_tried_again() -> None:
    """Two requests of the same content: the first is refused, the second is not."""
    refused = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": "log in"}}
    new = ask(2, "session/new", cwd="/w", mcpServers=[])
    login = [("c>a", ask(3, "authenticate", methodId="key")), ("a>c", answer(3))]
    rows = [*opening()[:2], ("c>a", new), ("a>c", refused), *login, *opening("/w")[2:], *turn(number=5)]
    played = Played(rows)
    assert played.open()[-1]["error"]["message"] == "log in"
    played.send(ask(13, "authenticate", methodId="key"))
    assert played.send(ask(14, "session/new", cwd="/live/work", mcpServers=[])) == [answer(14, sessionId="s1")]


def test_two_folders_are_told_apart() -> None:
    """Each stands for its own, and in place of the other it is a difference."""
    rows = [*opening("/rec/a"), *NEW, ("c>a", prompt(4, "s2", "/rec/a /rec/b")), ("a>c", text("s2", "/rec/b/x"))]
    played = two_sessions(rows)
    (update,) = played.send(prompt(14, "s2", "/live/work /live/b"))
    assert update["params"]["update"]["content"]["text"] == "/live/b/x"
    swapped = two_sessions(rows)
    swapped.send(prompt(14, "s2", "/live/b /live/work"))
    assert swapped.player.failed


def test_what_names_no_session_comes_after_what_came_before_it() -> None:
    """An update of a session that nobody opened, an extension, a piece of stderr: at their place."""
    odd = [text("inner", "sub"), tell("_vendor/note"), ask(9, "_vendor/ask")]
    rows = [*opening(), *turn(), *(("a>c", frame) for frame in odd), ("err", "bye\n")]
    played = Played(rows)
    played.open()
    assert played.stderr == ""
    frames = played.send(prompt(13, "s1", "go"))
    assert [frame.get("method") for frame in frames[2:]] == ["session/update", "_vendor/note", "_vendor/ask"]
    assert played.stderr == "bye\n"


def paced(*times: float, pace: float) -> tuple[Played, list[Frame]]:
    """A turn whose frames have these times, played at this pace up to the prompt."""
    rows = [*opening(), *((*row, t) for row, t in zip(turn(), times, strict=True))]
    played = Played(rows, pace=pace)
    played.open()
    return played, played.send(prompt(13, "s1", "go"))


@pytest.mark.parametrize(("pace", "seconds"), [(1.0, 4.0), (2.0, 2.0), (0.5, 8.0)])
def test_with_a_pace_each_frame_has_its_moment(pace: float, seconds: float) -> None:
    """Counted from the client's frame before it; so many times as fast."""
    played, frames = paced(5.0, 9.0, 9.5, pace=pace)
    assert frames == []
    assert played.player.patience(played.now) == pytest.approx(seconds)
    played.now += seconds + 0.01
    assert played.play() == [text("s1", "gone")]
    assert played.player.patience(played.now) == pytest.approx(0.5 / pace - 0.01)


def test_a_clock_that_went_backwards_holds_nothing_up() -> None:
    """A frame that was before the one before it is due at once."""
    _, frames = paced(5.0, 4.0, 3.0, pace=1.0)
    assert len(frames) == 2


def test_at_the_end_of_stdin_nothing_is_held_up() -> None:
    """What has its moment later is said now."""
    played, _ = paced(5.0, 500.0, 900.0, pace=1.0)
    assert len(played.leave()) == 2


def test_who_waits_is_told_for_what() -> None:
    """Once, and some seconds after it came when it was recorded."""
    rows = [
        *opening(),
        ("c>a", prompt(3, "s1", "go"), 10.0),
        ("c>a", tell("session/cancel", sessionId="s1"), 12.0),
        ("a>c", answer(3, stopReason="cancelled"), 12.5),
    ]
    played = Played(rows)
    played.open()
    played.send(prompt(13, "s1", "go"))
    assert played.player.patience(played.now) == pytest.approx(7.0)
    played.now += 7.0
    played.play()
    played.play()
    assert (
        played.stderr
        == "replay of rec.jsonl, line 6: waiting for session/cancel, which came here when it was recorded\n"
    )
    assert played.player.patience(played.now) is None


def test_who_waits_for_an_answer_is_told_nothing() -> None:
    """A person may take their time; and where nothing is open nobody waits."""
    rows = [*opening(), ("c>a", prompt(3, "s1", "go")), ("a>c", ask(0, "_vendor/ask")), ("c>a", answer(0))]
    played = Played(rows)
    assert played.player.patience(played.now) is None
    played.open()
    played.send(prompt(13, "s1", "go"))
    assert played.player.patience(played.now) is None


def test_a_frame_that_did_not_fit_has_taught_nothing() -> None:
    """The second of two sessions comes first: its folder is not taken for that of the first."""
    server = {"name": "x", "command": "/bin/x", "args": [], "env": []}
    rows = [
        *opening()[:2],
        ("c>a", ask(2, "session/new", cwd="/rec/a", mcpServers=[server])),
        ("c>a", ask(3, "session/new", cwd="/rec/b", mcpServers=[])),
        ("a>c", answer(2, sessionId="s1")),
        ("a>c", answer(3, sessionId="s2", where="/rec/b")),
    ]
    played = Played(rows)
    played.send(ask(1, "initialize", protocolVersion=1))
    frames = played.send(ask("b", "session/new", cwd="/live/b", mcpServers=[]))
    assert frames == [answer("b", sessionId="s2", where="/live/b")]
    assert played.send(ask("a", "session/new", cwd="/live/a", mcpServers=[server])) == [answer("a", sessionId="s1")]


def test_a_cancel_before_its_prompt_is_a_difference() -> None:
    """There is nothing to cancel yet."""
    cancel = tell("session/cancel", sessionId="s1")
    rows = [*opening(), turn()[0], ("c>a", cancel), ("a>c", answer(3, stopReason="cancelled"))]
    played = Played(rows)
    played.open()
    played.send(cancel)
    assert played.player.failed
