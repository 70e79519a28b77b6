"""What may come next: which recorded frames of the client are possible now, and which of them one is.

Owns the order. A request may come before others of its time, as concurrent ones do, but never before one whose answer
it came after: who sends it then has left something out. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acp_agent.replay.identity import Identity
from acp_agent.replay.steps import CANCEL_REQUEST, Hear, Recording, params_of


class Expectations:
    """The frames of the recorded client that have not come yet."""

    def __init__(self, recording: Recording, identity: Identity) -> None:
        self._hears = [hear for hear in recording.hears if hear.method is not None]
        self._connection = recording.lanes[0]
        self._identity = identity
        self._first = 0

    def match(self, frame: dict[str, Any], about: Hear | None) -> Hear | None:
        """The recorded frame that this call is, if one is possible now; its ids are learnt."""
        return next((hear for hear in self.possible() if self._is(hear, frame, about)), None)

    def nearest(self, frame: dict[str, Any]) -> Hear | None:
        """What was expected in its place: the same method if possible, else what is next."""
        possible = [hear for hear in self.possible() if hear.is_request == (frame.get("id") is not None)]
        return self._best([hear for hear in possible if hear.method == frame["method"]], frame) or next(
            iter(possible), None
        )

    def later(self, frame: dict[str, Any], about: Hear | None) -> Hear | None:
        """For who passes over differences: the same call, or else one of its method, however late it came."""
        rest = [hear for hear in self._hears[self._first :] if not hear.heard and hear.method == frame["method"]]
        exact = next((hear for hear in rest if self._is(hear, frame, about)), None)
        return exact or self._best(rest, frame)

    def before(self, hear: Hear) -> list[Hear]:
        """What had to come before this one: requests of its session, or of the connection, answered by then."""
        return [
            one
            for one in self._hears[self._first :]
            if not one.heard
            and one.index < hear.index
            and (one.lane is hear.lane or (one.lane is self._connection and one.answer_at is not None))
        ]

    def possible(self) -> Iterator[Hear]:
        """What may come now, in recorded order."""
        while self._first < len(self._hears) and self._hears[self._first].heard:
            self._first += 1
        answered: dict[int, int] = {}
        waiting: set[int] = set()
        for hear in self._hears[self._first :]:
            if hear.heard:
                continue
            lanes = (id(hear.lane), id(self._connection))
            is_early = any(answered.get(lane, hear.index) < hear.index for lane in lanes)
            if not is_early and (hear.is_request or lanes[0] not in waiting):
                yield hear
            if hear.is_request:
                waiting.add(lanes[0])
                if hear.answer_at is not None:
                    answered[lanes[0]] = min(hear.answer_at, answered.get(lanes[0], hear.answer_at))

    def _best(self, hears: list[Hear], frame: dict[str, Any]) -> Hear | None:
        """The first of the same session, else the first."""
        session = self._identity.recorded(params_of(frame).get("sessionId"))
        same = (hear for hear in hears if params_of(hear.message).get("sessionId") == session)
        return next(same, next(iter(hears), None))

    def _is(self, hear: Hear, frame: dict[str, Any], about: Hear | None) -> bool:
        if hear.method != frame["method"] or hear.is_request != (frame.get("id") is not None):
            return False
        if hear.method == CANCEL_REQUEST:
            return hear.about is about
        return self._identity.fits(hear.message, frame)


def offers(capabilities: dict[str, Any], path: str | None) -> bool:
    """True if the client has the capability of this path (`clientCapabilities.fs.readTextFile`), or none is needed."""
    value: Any = {"clientCapabilities": capabilities}
    for name in path.split(".") if path else ():
        value = value.get(name) if isinstance(value, dict) else None
    return value is not None and value is not False
