import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agent.scripted.child import Child, text_of, wait_for

Play = Callable[..., Child]

MEGABYTE = 1_048_576  # far above a pipe's capacity


def first_bytes(child: Child) -> bytes:
    """All of stdout up to the answer to the first prompt, without the handshake."""
    child.open()
    child.prompt()
    lines = [child.line()]
    while b"stopReason" not in lines[-1]:
        lines.append(child.line())
    return b"".join(lines)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"raw": "no newline "}, b"no newline "),
        ({"raw": {"hex": "ff fe 0a"}}, b"\xff\xfe\n"),
        ({"raw": {"base64": "AA=="}}, b"\0"),
        ({"raw": {"frame": {"a": "${session}"}, "prefix": "Loading..."}}, b'Loading...{"a":"s-1"}\n'),
        ({"raw": {"frame": {}, "end": "", "bytewise": True}}, b"{}"),
        ({"noise": "Loaded cached credentials."}, b"Loaded cached credentials.\n"),
        ({"flood": {"bytes": 85, "line": True}}, b"x" * 85),
        ({"flood": {"bytes": 85}}, b"x" * 79 + b"\n" + b"x" * 5),
    ],
)
def test_bytes_go_out_as_they_are(play: Play, step: Any, expected: bytes) -> None:
    """Nothing is added, no newline either."""
    found = first_bytes(play(prompt=[step]))
    assert found.startswith(expected + b'{"jsonrpc"')


def test_frames_can_end_in_crlf_or_in_nothing(play: Play) -> None:
    """For the whole run, or from a step on."""
    child = play(wire={"line_end": "\r\n"}, prompt=[{"chunk": "a"}, {"wire": {"line_end": ""}}, {"chunk": "b"}])
    child.request("initialize", protocolVersion=1)
    assert child.line().endswith(b"}\r\n")
    child.request("session/new", cwd="/", mcpServers=[])
    child.line()
    child.prompt()
    assert child.line().endswith(b"}\r\n")
    child.close_stdin()
    (glued,) = child.rest()
    assert glued.count(b'"jsonrpc"') == 2
    assert glued.endswith(b"}}")


def test_frames_can_go_out_one_byte_at_a_time(play: Play) -> None:
    """All of them arrive; that each is a write of its own is tested on the outlet."""
    child = play(wire={"bytewise": True}, prompt=[{"chunk": "é🙂"}, {"wire": {"bytewise": False}}])
    child.open()
    assert text_of(child.turn()) == "é🙂"


def test_text_that_splits_lines_elsewhere_is_one_line(play: Play) -> None:
    """U+2028, U+0085, VT and FF go out raw where JSON allows it."""
    child = play(prompt=[{"chunk": "a\u2028b\u0085c\x0b"}])
    found = first_bytes(child)
    assert "a\u2028b\u0085c\\u000b".encode() in found


def test_a_lone_surrogate_goes_out_as_an_escape(play: Play) -> None:
    """Legal JSON, and no legal text."""
    assert b'"\\ud800"' in first_bytes(play(prompt=[{"chunk": "\ud800"}]))


@pytest.mark.parametrize("size", [200_000, 5_000_000])
def test_one_chunk_can_be_a_very_long_line(play: Play, size: int) -> None:
    """Far above what a reader takes in one go."""
    child = play(prompt=[{"chunk": {"text": "xy", "size": size}}])
    child.open()
    assert len(text_of(child.turn())) == size


def test_an_endless_line_goes_on_until_the_client_goes(play: Play) -> None:
    """Bounded memory on our side, EOF is still seen."""
    child = play(prompt=[{"flood": {"forever": True, "line": True}}])
    child.open()
    child.prompt()
    while sum(map(len, child.reads)) < 3 * MEGABYTE:
        assert b"\n" not in child.read_some()
    child.close_stdin()
    while child.read_some():
        pass
    assert child.wait() == 0


def test_a_flood_of_stderr_waits_for_its_reader_and_blocks_nothing_else(play: Play, tmp_path: Path) -> None:
    """The turn that floods waits; another session is served."""
    child = play(
        prompts=[[{"touch": "flooding"}, {"flood": {"stream": "stderr", "bytes": 2 * MEGABYTE}}], [{"chunk": "other"}]]
    )
    child.open()
    child.call("session/new", cwd="/", mcpServers=[])
    first = child.prompt()
    wait_for(tmp_path / "flooding")
    assert text_of(child.turn(session="s-2")) == "other"
    assert len(child.stderr(2 * MEGABYTE)) == 2 * MEGABYTE
    assert child.until(first)[-1]["result"] == {"stopReason": "end_turn"}


def test_a_large_output_before_anything_is_read_meets_a_large_prompt(play: Play) -> None:
    """Two megabytes each way, from an agent that reads only after it has written."""
    child = play(start=[{"flood": {"bytes": 2 * MEGABYTE}}, {"raw": "\n"}], prompt=[{"chunk": "${prompt}"}])
    found = 0
    while found <= 2 * MEGABYTE:
        found += len(child.line())
    child.open()
    text = "x" * (2 * MEGABYTE)
    assert text_of(child.turn(text)) == text


def test_stderr_has_lines_of_its_own(play: Play) -> None:
    """A step's text, with what it stands for."""
    child = play(prompt=[{"stderr": "went wrong: ${prompt}"}])
    child.open()
    child.turn("why")
    child.end()
    assert child.stderr() == b"went wrong: why\n"


def test_a_torn_frame_at_the_end_is_torn(play: Play) -> None:
    """The first bytes of a frame, then the exit."""
    child = play(prompt=[{"raw": {"frame": {"jsonrpc": "2.0"}, "cut": 9}}, {"exit": 0}])
    child.open()
    child.prompt()
    assert child.rest() == [b'{"jsonrpc']
    assert child.wait() == 0


def test_together_is_let_go_when_its_turn_is_cancelled(play: Play) -> None:
    """What was collected goes out before the answer."""
    child = play(prompt=[{"permission": {"wait": False}}, {"together": [{"chunk": "a"}, "hang"]}])
    child.open()
    prompt = child.prompt()
    child.frame()
    child.notify("session/cancel", sessionId="s-1")
    frames = child.until(prompt)
    assert text_of(frames) == "a"
    assert json.dumps(frames[-1]["result"]) == '{"stopReason": "cancelled"}'
