"""What is due: takes the client's lines, gives what the recorded agent wrote next, and says when it is over.

Owns the lanes, the open requests of both sides and the pace. What is expected is `expectations`', what is said of a
difference `complaints`'. Pure: bytes in and out, and the time given.
"""

from __future__ import annotations

import json
import re
from collections import deque
from typing import Any, Final

from acp_agent.replay.complaints import REPLAY_DIFFERS, Complaints
from acp_agent.replay.expectations import Expectations, offers
from acp_agent.replay.identity import Identity
from acp_agent.replay.steps import CANCEL_REQUEST, Ask, Err, Hear, Recording, Say, params_of
from acp_agent.replay.timetable import Timetable
from acp_client.protocol.envelope import (
    Invalid,
    Message,
    Noise,
    Request,
    Response,
    encode,
    error_frame,
    parse_line,
)
from acp_client.protocol.methods import METHODS

STDOUT: Final = 1
STDERR: Final = 2
STALL_SECONDS: Final = 5.0
"""So much longer than when it was recorded nothing comes, before we say what is waited for."""
_TOLD: Final = 0.0


class Player:
    """One recording, played to one client. `failed` once something differed that is not passed over: `difference`."""

    def __init__(self, recording: Recording, *, lenient: bool = False, pace: float | None = None) -> None:
        self.failed = False
        self.difference = ""
        self._recording = recording
        self._lenient = lenient
        self._timetable = Timetable(recording.lanes, pace)
        self._identity = Identity()
        self._expected = Expectations(recording, self._identity)
        self._complaints = Complaints(recording.name, self._identity, lenient=lenient)
        self._urgent: deque[tuple[int, bytes]] = deque()
        self._open: dict[str, Hear] = {}
        self._heard: dict[str, Hear] = {}
        self._asked: dict[str, Ask] = {}
        self._next_id = recording.first_free_id
        self._capabilities: dict[str, Any] = {}
        self._stalled_at: float | None = None
        if not recording.is_whole:
            self._urgent.append((STDERR, self._complaints.of_gaps().encode("utf-8", "replace")))

    @property
    def is_over(self) -> bool:
        """True once all is played and the recorded agent left then of itself."""
        may_go = self._recording.departure.exits_early and not self.failed and not self._urgent
        return may_go and self._timetable.is_played

    # ---- hearing

    def receive(self, line: bytes, now: float) -> None:
        """Take a line of the client."""
        self._stalled_at = None
        for message in parse_line(line):
            self._receive(message, now)

    def leave(self) -> None:
        """The client will send no more. What it should have sent is a difference; what can be said is not held up."""
        self._timetable.pace = None
        if not self.failed and (text := self._complaints.of_leaving(self._recording.hears)):
            self._complain(text, None)

    def _receive(self, message: Message, now: float) -> None:
        if isinstance(message, Response):
            self._take_answer(message.raw, now)
        elif isinstance(message, Noise | Invalid):
            self._take_noise(message)
        else:
            self._take_call(message.raw if isinstance(message, Request) else message, now)

    def _take_call(self, frame: dict[str, Any], now: float) -> None:
        is_request = frame.get("id") is not None
        if self.failed:
            if is_request:
                self._refuse(frame["id"], self._complaints.last)
            return
        about = None
        if frame["method"] == CANCEL_REQUEST:
            about = self._heard.get(repr(params_of(frame).get("requestId")))
        hear = self._expected.match(frame, about)
        if hear is None:
            self._complain(self._complaints.of_call(frame, self._expected.nearest(frame)), frame.get("id"))
            hear = self._expected.later(frame, about) if self._lenient else None
            if hear is None:
                if self._lenient and is_request:
                    self._refuse(frame["id"], self._complaints.last)
                return
            self._pass_over(hear, frame)
        self._accept(hear, frame, now)

    def _pass_over(self, hear: Hear, frame: dict[str, Any]) -> None:
        """What had to come before is not waited for, and not answered."""
        for one in self._expected.before(hear):
            one.heard = one.skipped = True
        self._identity.learn(hear.message, frame)

    def _accept(self, hear: Hear, frame: dict[str, Any], now: float) -> None:
        hear.heard, hear.heard_at = True, now
        if hear.is_request:
            hear.live_id = frame["id"]
            self._open[repr(hear.live_id)] = self._heard[repr(hear.live_id)] = hear
        if hear.method == "initialize":
            capabilities = params_of(frame).get("clientCapabilities")
            self._capabilities = capabilities if isinstance(capabilities, dict) else {}

    def _take_answer(self, frame: dict[str, Any], now: float) -> None:
        ask = self._asked.pop(repr(frame.get("id")), None)
        if ask is None or self.failed:
            return  # what nobody waits for is dropped, as agents do
        hear = ask.answer
        if hear is None:
            return  # the recorded client had not answered by the end
        if not self._identity.fits(hear.message, frame):
            self._complain(self._complaints.of_answer(ask.method, hear, frame), None)
            self._identity.learn(hear.message, frame)
        hear.heard, hear.heard_at = True, now

    def _take_noise(self, message: Noise | Invalid) -> None:
        line = message.line.decode("utf-8", "replace") if isinstance(message, Noise) else encode({"line": message.raw})
        recorded = [hear for hear in self._recording.hears if "raw" in hear.message and not hear.heard]
        if recorded:
            recorded[0].heard = True
        elif not self.failed:
            self._complain(self._complaints.of_noise(str(line)), None)

    # ---- differing

    def _complain(self, text: str, request_id: Any) -> None:
        self._urgent.append((STDERR, f"{text}\n".encode("utf-8", "replace")))
        if self._lenient:
            return
        self.failed, self.difference = True, text
        if request_id is not None:
            self._refuse(request_id, text)
        for hear in self._open.values():
            self._refuse(hear.live_id, text)
        self._open.clear()

    def _refuse(self, request_id: Any, text: str) -> None:
        frame = error_frame(request_id, REPLAY_DIFFERS, text, self._complaints.data())
        self._urgent.append((STDOUT, frame))

    # ---- saying

    def next(self, now: float) -> tuple[int, bytes] | None:
        """What is to be written now, and to which descriptor; None if nothing is due."""
        if self._urgent:
            return self._urgent.popleft()
        if self.failed:
            return None
        while (step := self._timetable.due(now)) is not None:
            if isinstance(step, Err):
                return STDERR, step.text.encode("utf-8", "replace")
            if said := self._say(step):
                return STDOUT, said
            if self._urgent:  # it could not be said: that is
                return self._urgent.popleft()
        return self._stalled(now)

    def patience(self, now: float) -> float | None:
        """Seconds until something is due by itself; None if only the client can bring it on."""
        if self.failed:
            return None
        moments = [self._timetable.moment(now), self._stalled_at or None]
        return min((max(0.0, moment - now) for moment in moments if moment is not None), default=None)

    def _stalled(self, now: float) -> tuple[int, bytes] | None:
        """Say once what is waited for, if a request is open and the client does not bring it on."""
        waited_for = self._timetable.waited_for()
        if waited_for is None or not self._open or self._stalled_at == _TOLD:
            return None
        hear, took_seconds = waited_for
        if self._stalled_at is None:
            self._stalled_at = now + took_seconds + STALL_SECONDS
        if now < self._stalled_at:
            return None
        self._stalled_at = _TOLD
        return STDERR, self._complaints.of_waiting(hear).encode("utf-8", "replace")

    def _say(self, say: Say) -> bytes:
        for hear in say.answers:
            self._open.pop(repr(hear.live_id), None)
        if say.answers and all(hear.skipped for hear in say.answers):
            return b""
        if say.message is None:
            return self._say_raw(say)
        frame = self._identity.told(say.message)
        if say.answers:
            return encode({**frame, "id": say.answers[0].live_id})
        if say.ask is not None:
            return self._ask(say.ask, frame)
        if say.about is not None:
            frame = {**frame, "params": {**params_of(frame), "requestId": say.about.live_id}}
        return encode(frame)

    def _ask(self, ask: Ask, frame: dict[str, Any]) -> bytes:
        if not self._may_ask(ask):
            return b""
        ask.live_id = self._next_id
        self._next_id += 1
        self._asked[repr(ask.live_id)] = ask
        return encode({**frame, "id": ask.live_id})

    def _may_ask(self, ask: Ask) -> bool:
        """False where the recorded client offered what was asked for, and this one does not: a difference."""
        path = METHODS[ask.method].capability if ask.method in METHODS else None
        if offers(self._capabilities, path) or not offers(self._recording.capabilities, path):
            return True
        self._complain(self._complaints.of_capability(ask.method, path or ""), None)
        return not self.failed

    def _say_raw(self, say: Say) -> bytes:
        text = self._identity.told_text(say.raw or "")
        for request_id, ask in say.raw_asks:
            ask.live_id = request_id
            self._asked[repr(request_id)] = ask
        for hear in say.answers:
            text = _with_id(text, hear.message["id"], hear.live_id)
        return text.encode("utf-8", "surrogateescape") + b"\n"


def _with_id(text: str, recorded: Any, live: Any) -> str:
    """A raw line that holds an answer, with the id of the request of now."""
    if recorded == live:
        return text
    old, new = (json.dumps(one) for one in (recorded, live))
    return re.sub(rf'("id"\s*:\s*){re.escape(old)}(?=\s*[,}}])', lambda match: match[1] + new, text)
