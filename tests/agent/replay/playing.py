"""A recording as rows, and a player of it that a test drives by hand: lines in, frames out, time given."""

import json
from typing import Any

from acp_agent.replay.player import STDOUT, Player
from acp_agent.replay.recording import build
from acp_agent.replay.steps import Recording
from acp_client.record.format.reader import read_lines

Frame = dict[str, Any]


def ask(number: int | str, method: str, **params: Any) -> Frame:
    """A request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def tell(method: str, **params: Any) -> Frame:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def answer(number: int | str, **result: Any) -> Frame:
    """A result."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def text(session: str, said: str) -> Frame:
    """A piece of the agent's answer."""
    content = {"type": "text", "text": said}
    return tell(
        "session/update", sessionId=session, update={"sessionUpdate": "agent_message_chunk", "content": content}
    )


def prompt(number: int | str, session: str, said: str, **more: Any) -> Frame:
    """A prompt of one text."""
    return ask(number, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": said}], **more)


def opening(cwd: str = "/rec/work", session: str = "s1", **capabilities: Any) -> list[tuple[str, Frame]]:
    """The handshake, with ids 1 and 2."""
    return [
        ("c>a", ask(1, "initialize", protocolVersion=1, clientCapabilities=capabilities)),
        ("a>c", answer(1, protocolVersion=1)),
        ("c>a", ask(2, "session/new", cwd=cwd, mcpServers=[])),
        ("a>c", answer(2, sessionId=session)),
    ]


def turn(session: str = "s1", number: int = 3) -> list[tuple[str, Frame]]:
    """A prompt "go", one piece of text, and the end."""
    return [
        ("c>a", prompt(number, session, "go")),
        ("a>c", text(session, "gone")),
        ("a>c", answer(number, stopReason="end_turn")),
    ]


def lines_of(rows: list[Any]) -> list[bytes]:
    """Rows `(direction, frame or raw text)`, with a time as a third, and whole objects, as lines of a file."""
    lines = []
    for row in rows:
        if isinstance(row, tuple):
            direction, what, *t = row
            value = {"msg": what} if isinstance(what, dict) else {"text" if direction == "err" else "raw": what}
            lines.append({**({"t": t[0]} if t else {}), "dir": direction, **value})
        else:
            lines.append(row)
    return [json.dumps(line).encode() + b"\n" for line in lines]


def recording(rows: list[Any]) -> Recording:
    """What these rows record."""
    return build(read_lines(lines_of(rows)), "rec.jsonl")


class Played:
    """One player and what it wrote; each call of `send` plays on."""

    def __init__(self, rows: list[Any], *, lenient: bool = False, pace: float | None = None) -> None:
        self.player = Player(recording(rows), lenient=lenient, pace=pace)
        self.now = 100.0
        self.stderr = ""
        self.first = self.play()

    def send(self, *frames: Frame | bytes) -> list[Any]:
        """Send frames, or bytes as they are; returns the frames that came back, raw lines as text."""
        for frame in frames:
            self.player.receive(frame if isinstance(frame, bytes) else json.dumps(frame).encode(), self.now)
        return self.play()

    def play(self) -> list[Any]:
        """What is written now."""
        written: list[Any] = []
        while (item := self.player.next(self.now)) is not None:
            if item[0] == STDOUT:
                written.append(_read(item[1]))
            else:
                self.stderr += item[1].decode()
        return written

    def open(self, cwd: str = "/live/work", **capabilities: Any) -> list[Any]:
        """The handshake of the client of now."""
        return self.send(
            ask(11, "initialize", protocolVersion=1, clientCapabilities=capabilities),
            ask(12, "session/new", cwd=cwd, mcpServers=[]),
        )

    def leave(self) -> list[Any]:
        """The end of stdin."""
        self.player.leave()
        return self.play()


def _read(data: bytes) -> Any:
    try:
        value = json.loads(data)
    except ValueError:
        return data.decode(errors="surrogateescape")
    return value if isinstance(value, dict) else data.decode()


def error_of(frames: list[Any], number: int | str) -> str:
    """The message of the one error that answers this request."""
    (message,) = [frame["error"]["message"] for frame in frames if frame.get("id") == number]
    return str(message)
