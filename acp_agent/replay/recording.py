"""A recording as data: what is expected of the client and what the agent then says, one lane for each session.

Owns the reading of a file into steps, and which steps wait for which. Sessions are lanes of their own, so that clients
that serve several at once need not be as fast as they were; within a lane the recorded order holds. Pure but for
reading the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from acp_agent.replay.departure import departure_of
from acp_agent.replay.steps import CANCEL_REQUEST, OPENING, Ask, Err, Hear, Lane, Recording, Say, Step, params_of
from acp_client.protocol.envelope import Request, Response, parse_line
from acp_client.record.format.lines import (
    LOST,
    TO_AGENT,
    Frame,
    Header,
    Line,
    Note,
    Stderr,
    TranscriptError,
    decode_object,
)
from acp_client.record.format.reader import LineReader


def load(path: str) -> Recording:
    """Read a recording. Raises TranscriptError where there is nothing to play."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # pathlib costs start-up
            return build(_lines(file, path), path)
    except OSError as error:
        raise TranscriptError(
            f"the file cannot be read ({error.strerror})", "give a file that a run has left", file=path
        ) from None


def _lines(file: Iterable[bytes], path: str) -> Iterator[Line]:
    reader = LineReader(name=path)
    for number, line in enumerate(file, 1):
        read = reader.feed(line)
        frame = _of_bytes(line, number) if b'"hex"' in line else None
        yield from [frame] if frame else read


def _of_bytes(line: bytes, number: int) -> Frame | None:
    """A line of bytes that are no text: how other recorders write what is not UTF-8."""
    value = decode_object(line) or {}
    try:
        raw = bytes.fromhex(value["hex"]).decode("utf-8", "surrogateescape")
        return Frame(direction=value["dir"], raw=raw, number=number)
    except (KeyError, TypeError, ValueError):
        return None


def build(lines: Iterable[Line], name: str) -> Recording:
    """The recording that these lines are. Raises TranscriptError where there is nothing to play."""
    builder = _Builder()
    for line in lines:
        builder.add(line)
    if not builder.steps and not builder.notes and not builder.header:
        raise TranscriptError(
            "it holds no frame of a run", "give a transcript, or JSON-RPC frames, one a line", file=name
        )
    return builder.finish(name)


class _Builder:
    """Goes through the lines once to see who answers whom, then once more to give each step its lane."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.steps: list[Step] = []
        self.notes: list[Note] = []
        self._hears: dict[str, Hear] = {}
        self._asks: dict[str, Ask] = {}
        self._sessions: dict[int, str] = {}
        self._highest = -1

    def add(self, line: Line) -> None:
        if isinstance(line, Header):
            self.header = self.header or line
        elif isinstance(line, Note):
            self.notes.append(line)
        else:
            step = self._step(line)
            step.index = len(self.steps)
            self.steps.append(step)

    def _step(self, line: Frame | Stderr) -> Step:
        if isinstance(line, Stderr):  # our own records have pieces, those of others lines without their end
            is_whole = self.header is not None or line.text.endswith("\n")
            return Err(line.number, line.t, line.text if is_whole else f"{line.text}\n")
        return self._hear(line) if line.direction == TO_AGENT else self._say(line)

    # ---- the client

    def _hear(self, frame: Frame) -> Hear:
        message = frame.message
        hear = Hear(frame.number, frame.t, {"raw": frame.raw} if message is None else message)
        if message is None:
            hear.optional = True
        elif "method" in message:
            self._call(hear, message)
        else:
            ask = self._asks.pop(repr(message.get("id")), None)
            hear.optional = ask is None
            if ask is not None:
                ask.answer = hear
        return hear

    def _call(self, hear: Hear, message: dict[str, Any]) -> None:
        hear.method = str(message["method"])
        hear.is_request = message.get("id") is not None
        if hear.is_request:
            self._hears[repr(message["id"])] = hear
        elif hear.method == CANCEL_REQUEST:
            hear.about = self._hears.get(repr(params_of(message).get("requestId")))
            hear.optional = hear.about is None
        elif hear.method == "session/cancel":
            session = params_of(message).get("sessionId")
            hear.optional = not any(
                open_one.method == "session/prompt" and params_of(open_one.message).get("sessionId") == session
                for open_one in self._hears.values()
            )

    # ---- the agent

    def _say(self, frame: Frame) -> Say:
        say = Say(frame.number, frame.t, frame.message, frame.raw, index=len(self.steps))
        message = frame.message
        if message is None:
            self._raw(say, frame.raw or "")
        elif "method" not in message:
            self._answer(say, message)
        elif message.get("id") is not None:
            say.ask = self._open(message)
        elif message["method"] == CANCEL_REQUEST:
            say.about = self._asks.get(repr(params_of(message).get("requestId")))
        return say

    def _raw(self, say: Say, raw: str) -> None:
        for message in parse_line(raw.encode("utf-8", "surrogateescape")):
            if isinstance(message, Response):
                self._answer(say, message.raw)
            elif isinstance(message, Request):
                say.raw_asks.append((message.id, self._open(message.raw)))

    def _answer(self, say: Say, message: dict[str, Any]) -> None:
        hear = self._hears.pop(repr(message.get("id")), None)
        if hear is None:
            return
        hear.answer_at = say.index
        say.answers.append(hear)
        result = message.get("result")
        session = result.get("sessionId") if isinstance(result, dict) else None
        if hear.method == OPENING and isinstance(session, str):
            self._sessions[hear.index] = session

    def _open(self, message: dict[str, Any]) -> Ask:
        ask = Ask(str(message["method"]))
        self._asks[repr(message["id"])] = ask
        if type(message["id"]) is int:
            self._highest = max(self._highest, message["id"])
        return ask

    # ---- lanes

    def finish(self, name: str) -> Recording:
        lanes = _Lanes(self._sessions)
        for step in self.steps:
            lanes.place(step)
        hears = [step for step in self.steps if isinstance(step, Hear)]
        return Recording(
            name=name,
            lanes=lanes.all,
            hears=hears,
            departure=departure_of(self.notes, has_open=bool(self._hears)),
            first_free_id=self._highest + 1,
            capabilities=_capabilities(hears),
            is_whole=all(note.kind != LOST for note in self.notes),
        )


class _Lanes:
    """Gives each step its lane: that of its session, or of what it answers, or of what came before it."""

    def __init__(self, sessions: dict[int, str]) -> None:
        self._sessions = sessions
        self._connection = Lane()
        self._by_session: dict[str, Lane] = {}
        self._answers: dict[int, Lane] = {}
        self._last = self._connection
        self.all = [self._connection]

    def place(self, step: Step) -> None:
        lane = self._last
        if isinstance(step, Hear):
            lane = step.lane = self._of_hear(step)
        elif isinstance(step, Say):
            lane = self._of_say(step)
        lane.steps.append(step)
        self._last = lane

    def _of_hear(self, hear: Hear) -> Lane:
        if hear.about is not None and hear.about.lane is not None:
            return hear.about.lane
        if hear.method is None:
            return self._answers.get(hear.index, self._last)
        if hear.method == OPENING:
            return self._session(self._sessions.get(hear.index, f"\0{hear.index}"))
        session = params_of(hear.message).get("sessionId")
        return self._session(session) if isinstance(session, str) else self._connection

    def _of_say(self, say: Say) -> Lane:
        lane = self._last
        if say.answers and say.answers[0].lane is not None:
            lane = say.answers[0].lane
        elif say.message is not None:
            lane = self._by_session.get(str(params_of(say.message).get("sessionId")), self._last)
        for ask in (say.ask, *(ask for _, ask in say.raw_asks)):
            if ask is not None and ask.answer is not None:
                self._answers[ask.answer.index] = lane
        return lane

    def _session(self, session: str) -> Lane:
        if session not in self._by_session:
            self._by_session[session] = Lane()
            self.all.append(self._by_session[session])
        return self._by_session[session]


def _capabilities(hears: Iterable[Hear]) -> dict[str, Any]:
    """What the recorded client offered."""
    initialize = next((hear for hear in hears if hear.method == "initialize"), None)
    offered = params_of(initialize.message).get("clientCapabilities") if initialize else None
    return offered if isinstance(offered, dict) else {}
