"""When the recorded agent goes on: the lanes, where each is, and the pace.

Owns which step is next and at what moment. A lane waits for a frame of the client as long as it takes; of the lanes
that can go on, the one whose step was first when it was recorded does. Pure: the time is given.
"""

from __future__ import annotations

from collections.abc import Sequence

from acp_agent.replay.steps import Err, Hear, Lane, Say


class Timetable:
    """The lanes of a recording. `pace` is how many times as fast as recorded; None: at once."""

    def __init__(self, lanes: Sequence[Lane], pace: float | None) -> None:
        self._lanes = lanes
        self.pace = pace

    @property
    def is_played(self) -> bool:
        """True once nothing is left to be said or heard."""
        return all(self._head(lane) is None and lane.at == len(lane.steps) for lane in self._lanes)

    def due(self, now: float) -> Say | Err | None:
        """The next step if it is time for it; it counts as done from here."""
        heads = [(head.index, lane) for lane in self._lanes if (head := self._head(lane))]
        ready = [(index, lane) for index, lane in heads if self._at(lane, now) <= now]
        if not ready:
            return None
        _, lane = min(ready, key=lambda one: one[0])
        step = lane.steps[lane.at]
        assert not isinstance(step, Hear)  # the head of a lane never is
        _move(lane, self._at(lane, now))
        return step

    def moment(self, now: float) -> float | None:
        """When the next step is due; None if the client has to bring it on."""
        return min((self._at(lane, now) for lane in self._lanes if self._head(lane)), default=None)

    def waited_for(self) -> tuple[Hear, float] | None:
        """The first call of the client that a lane waits for, and how many seconds that took when it was recorded."""
        blocked = [(lane.steps[lane.at], lane.last_t) for lane in self._lanes if lane.at < len(lane.steps)]
        calls = [(step, last_t) for step, last_t in blocked if isinstance(step, Hear) and step.method is not None]
        if not calls:
            return None
        call, last_t = min(calls, key=lambda one: one[0].index)
        return call, max(0.0, call.t - last_t) if call.t is not None and last_t is not None else 0.0

    def _head(self, lane: Lane) -> Say | Err | None:
        """What the agent says next in a lane; None where a frame of the client comes first, or nothing any more."""
        while lane.at < len(lane.steps):
            step = lane.steps[lane.at]
            if not isinstance(step, Hear):
                return step
            if step.heard:
                _move(lane, max(step.heard_at, lane.since or 0.0))
            elif step.optional:
                lane.at += 1
            else:
                return None
        return None

    def _at(self, lane: Lane, now: float) -> float:
        t = lane.steps[lane.at].t
        if self.pace is None or t is None or lane.last_t is None or lane.since is None:
            return now
        return lane.since + max(0.0, t - lane.last_t) / self.pace


def _move(lane: Lane, moment: float) -> None:
    t = lane.steps[lane.at].t
    lane.at += 1
    lane.since = moment
    lane.last_t = lane.last_t if t is None else t
