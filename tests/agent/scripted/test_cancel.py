import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agent.scripted.child import Child, text_of, wait_for

Play = Callable[..., Child]

FOREVER = {"repeat": {"forever": True, "steps": [{"chunk": "x"}, {"delay": 0.001}]}}
WAYS_TO_BE_BUSY: dict[str, list[Any]] = {
    "hanging": ["hang"],
    "streaming": [FOREVER],
    "asking": [{"permission": {}}],
    "waiting for a file": [{"wait_for": "never"}],
    "sleeping": [{"delay": 600}],
    "streaming without a pause": [{"repeat": {"forever": True, "steps": [{"chunk": "x"}]}}],
    "flooding stderr": [{"flood": {"stream": "stderr", "forever": True}}],
}


def cancel(child: Child, session: object = "s-1") -> None:
    """Write session/cancel."""
    child.notify("session/cancel", sessionId=session)


def cancelled_turn(child: Child) -> list[Any]:
    """Open, prompt, wait for a first chunk, cancel; all frames after it up to the answer."""
    child.open()
    prompt = child.prompt()
    child.frame()
    cancel(child)
    return child.until(prompt)


@pytest.mark.parametrize("how", WAYS_TO_BE_BUSY)
def test_a_cancel_is_obeyed_within_a_second_whatever_runs(play: Play, how: str) -> None:
    """The answer is a result, `cancelled`, and nothing of the turn comes after it."""
    child = play(prompt=[{"chunk": "busy"}, *WAYS_TO_BE_BUSY[how]])
    child.open()
    prompt = child.prompt()
    child.frame()
    began = time.monotonic()
    cancel(child)
    assert child.until(prompt)[-1]["result"] == {"stopReason": "cancelled"}
    assert time.monotonic() - began < 1
    child.close_stdin()
    assert child.rest() == []


@pytest.mark.parametrize("word", ["end_turn", "refusal", "max_tokens", "max_turn_requests"])
def test_a_cancelled_turn_can_be_answered_with_another_word(play: Play, word: str) -> None:
    """A stop reason as on_cancel is the answer."""
    child = play(on_cancel=word, prompt=[{"chunk": "a"}, "hang"])
    assert cancelled_turn(child)[-1]["result"] == {"stopReason": word}


def test_a_cancelled_turn_can_be_answered_with_an_error(play: Play) -> None:
    """Steps as on_cancel are played instead of the rest."""
    on_cancel = [{"chunk": "last"}, {"error": {"code": -32800, "message": "m"}}]
    child = play(on_cancel=on_cancel, prompt=[{"chunk": "a"}, "hang"])
    frames = cancelled_turn(child)
    assert text_of(frames) == "last"
    assert frames[-1]["error"] == {"code": -32800, "message": "m"}


def test_steps_without_an_answer_after_a_cancel_end_as_cancelled(play: Play) -> None:
    """The default answer of on_cancel steps."""
    child = play(on_cancel=[{"chunk": "last"}], prompt=[{"chunk": "a"}, "hang"])
    assert cancelled_turn(child)[-1]["result"] == {"stopReason": "cancelled"}


def test_a_cancel_can_be_ignored(play: Play) -> None:
    """The turn goes on to its own end."""
    child = play(on_cancel="ignore", prompt=[{"chunk": "a"}, {"permission": {}}, {"chunk": "b"}])
    child.open()
    prompt = child.prompt()
    child.frame()
    asked = child.frame()
    cancel(child)
    child.select(asked["id"], "allow")
    frames = child.until(prompt)
    assert text_of(frames) == "b"
    assert frames[-1]["result"] == {"stopReason": "end_turn"}


def test_a_turn_can_change_its_mind_about_cancels(play: Play) -> None:
    """The step on_cancel holds for the rest of its turn."""
    child = play(prompt=[{"on_cancel": [{"stop": "${prompt}"}]}, {"chunk": "a"}, "hang"])
    assert cancelled_turn(child)[-1]["result"] == {"stopReason": "go"}


def test_a_step_that_waits_for_the_cancel_takes_it(play: Play) -> None:
    """After wait_cancel the steps go on; without an answer of theirs it is `cancelled`."""
    child = play(
        prompts=[
            [{"chunk": "a"}, "wait_cancel", {"chunk": "b"}, {"stop": "end_turn"}],
            [{"chunk": "a"}, "wait_cancel"],
        ]
    )
    frames = cancelled_turn(child)
    assert text_of(frames) == "b"
    assert frames[-1]["result"] == {"stopReason": "end_turn"}
    prompt = child.prompt()
    child.frame()
    cancel(child)
    assert child.until(prompt)[-1]["result"] == {"stopReason": "cancelled"}


def test_a_repeat_can_last_until_the_cancel(play: Play) -> None:
    """The steps after it are played."""
    repeat = {"until_cancel": True, "steps": [{"chunk": "x"}]}
    child = play(prompt=[{"repeat": repeat}, {"chunk": "end"}])
    assert text_of(cancelled_turn(child)).endswith("end")


def test_a_cancel_in_the_same_read_as_its_prompt_is_obeyed(play: Play, tmp_path: Path) -> None:
    """Nothing of the turn is played."""
    child = play(start=[{"touch": "up"}, {"wait_for": "go"}], prompt=[{"chunk": "a"}])
    wait_for(tmp_path / "up")
    child.request("initialize", protocolVersion=1)
    child.request("session/new", cwd="/", mcpServers=[])
    prompt = child.prompt()
    cancel(child)
    (tmp_path / "go").touch()
    frames = child.until(prompt)
    assert text_of(frames) == ""
    assert frames[-1]["result"] == {"stopReason": "cancelled"}


def test_an_idle_cancel_changes_nothing(play: Play) -> None:
    """Neither for an unknown session, nor before, nor after a turn."""
    child = play(prompt=[{"chunk": "a"}, {"stop": "end_turn"}, {"chunk": "b"}])
    child.open()
    cancel(child, "unknown")
    cancel(child)
    assert text_of(child.turn()) == "a"
    cancel(child)
    assert text_of(child.turn()) == "ba"


def test_a_request_can_be_cancelled_by_its_id(play: Play) -> None:
    """-32800 for a request that hangs, `cancelled` for a prompt; unknown ids change nothing."""
    child = play(new_session={"each": [["hang"], {}]}, prompt=["hang"])
    child.initialize()
    hung = child.request("session/new", cwd="/", mcpServers=[])
    child.notify("$/cancel_request", requestId=-1)
    child.notify("$/cancel_request", requestId=str(hung))
    child.notify("$/cancel_request", requestId=hung)
    assert child.until(hung)[-1]["error"]["code"] == -32800
    session = child.call("session/new", cwd="/", mcpServers=[])["result"]["sessionId"]
    prompt = child.prompt(session=session)
    child.notify("$/cancel_request", requestId=prompt)
    assert child.until(prompt)[-1]["result"] == {"stopReason": "cancelled"}


def test_no_answer_stays_no_answer_after_a_cancel(play: Play) -> None:
    """A turn that was never to be answered is not answered now."""
    child = play(prompts=[["no_answer", {"chunk": "a"}, "hang"], [{"chunk": "b"}]])
    child.open()
    child.prompt()
    child.frame()
    cancel(child)
    child.close_stdin()
    assert child.rest() == []


def test_closing_a_session_cancels_its_prompt_first(play: Play) -> None:
    """Both are answered, the prompt before the close; the session is gone."""
    child = play(capabilities={"sessionCapabilities": {"close": {}}}, prompt=["hang"])
    child.open()
    prompt = child.prompt()
    close = child.request("session/close", sessionId="s-1")
    first, second = child.until(close)
    assert first == {"jsonrpc": "2.0", "id": prompt, "result": {"stopReason": "cancelled"}}
    assert second["result"] == {}
    assert child.turn()[-1]["error"]["code"] == -32002
