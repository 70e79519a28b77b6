"""Who sent a frame, where a file does not say: from the table of methods, and from who waits for which answer.

Owns the guess for plain frames of other tools. Pure; keeps one entry for each request that is still open.
"""

from __future__ import annotations

from typing import Any, Final

from acp_client.protocol.methods import METHODS
from acp_client.record.format.lines import TO_AGENT, TO_CLIENT, Direction

MAX_OPEN: Final = 10_000
"""Requests without an answer that are remembered; a file that leaves more open loses the oldest."""

_OTHER: Final[dict[Direction, Direction]] = {TO_AGENT: TO_CLIENT, TO_CLIENT: TO_AGENT}
_TOWARDS: Final[dict[str, Direction]] = {"to_agent": TO_AGENT, "to_client": TO_CLIENT}
_MARKS: Final = {
    "initialize": "protocolVersion",
    "session/new": "sessionId",
    "session/prompt": "stopReason",
    "session/request_permission": "outcome",
    "fs/read_text_file": "content",
    "terminal/create": "terminalId",
    "terminal/output": "truncated",
    "elicitation/create": "action",
}
"""The member that only the answer to this request has: both sides count their ids from the same number."""


class Directions:
    """Feed it the frames of a wire in order."""

    def __init__(self) -> None:
        self._open: dict[tuple[Direction, str], str] = {}

    def of(self, message: dict[str, Any]) -> Direction | None:
        """Who sent this one, None if nothing tells; a request is remembered until its answer.

        An extension's method is guessed: while a prompt is open the agent speaks, else the client.
        """
        method = message.get("method")
        direction = self._of_answer(message) if method is None else self._of_method(str(method), message)
        if direction is not None:
            self.note(message, direction)
        return direction

    def note(self, message: dict[str, Any], direction: Direction) -> None:
        """A frame of a known direction: opens its request, or closes the one that it answers."""
        if "id" not in message:
            return
        if "method" in message:
            self._open[direction, repr(message["id"])] = str(message["method"])
            if len(self._open) > MAX_OPEN:
                del self._open[next(iter(self._open))]
        else:
            self._open.pop((_OTHER[direction], repr(message["id"])), None)

    def _of_method(self, method: str, message: dict[str, Any]) -> Direction | None:
        known = METHODS.get(method)
        if known is None:
            return TO_CLIENT if "session/prompt" in self._open.values() else TO_AGENT
        if known.direction == "both":  # $/cancel_request: whoever made the request takes it back
            params = message.get("params")
            asked = self._who_asked(params.get("requestId") if isinstance(params, dict) else None)
            return asked[-1] if asked else None
        return _TOWARDS[known.direction]

    def _of_answer(self, message: dict[str, Any]) -> Direction | None:
        asked = self._who_asked(message.get("id"))
        if not asked:
            return None
        result = message.get("result")
        members: dict[str, Any] = result if isinstance(result, dict) else {}
        fitting = [who for who in asked if _MARKS.get(self._open[who, repr(message.get("id"))]) in members]
        return _OTHER[(fitting or asked)[-1]]

    def _who_asked(self, request_id: object) -> list[Direction]:
        """Who has a request of this id open, the latest last: a request in answer to another ends before it."""
        return [who for who, key in self._open if key == repr(request_id)]
