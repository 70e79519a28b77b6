"""What is said of a difference: which line of which recording, what was expected, what came, and what to do.

Owns the words and the JSON-RPC error that carries them. Whether a difference ends the replay is `player`'s. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from acp_agent.replay.identity import Identity
from acp_agent.replay.steps import Hear, params_of
from acp_client.record.format.difference import difference
from acp_client.safe_text import printable

REPLAY_DIFFERS: Final = -32060
"""The code of the error that a client gets for what is not in the recording; one of our own."""

_CORRECTION: Final = "if it is meant, record the run again; --lenient goes on with what was recorded"
_NAME_CHARS: Final = 200
_NOISE_CHARS: Final = 500


class Complaints:
    """Makes the texts; `last` is the one made last."""

    def __init__(self, name: str, identity: Identity, *, lenient: bool) -> None:
        self.last = ""
        self._name = printable(name, max_chars=_NAME_CHARS)
        self._identity = identity
        self._lenient = lenient
        self._line = 0

    def data(self) -> dict[str, Any]:
        """The `data` of the error: where in the file. The difference is in the message, once."""
        return {"file": self._name, "line": self._line}

    def of_call(self, frame: dict[str, Any], nearest: Hear | None) -> str:
        """A request or notification that was not recorded, and what was expected in its place."""
        what = printable(str(frame["method"]), max_chars=_NAME_CHARS) + _session(frame)
        if nearest is None:
            head = f"{what} is not recorded: nothing more is expected here"
            return self._text(0, head, difference({}, {"method": frame["method"], "params": params_of(frame)}))
        head = f"{what} is not what was recorded"
        if nearest.method != frame["method"]:
            head = f"{what} came where {nearest.what} was recorded"
        return self._text(nearest.number, head, self._identity.difference(nearest.message, frame))

    def of_answer(self, method: str, hear: Hear, frame: dict[str, Any]) -> str:
        """An answer to a request of the agent that is another than the recorded one."""
        head = f"the answer to {printable(method, max_chars=_NAME_CHARS)} is not what was recorded"
        return self._text(hear.number, head, self._identity.difference(hear.message, frame))

    def of_noise(self, line: str) -> str:
        """A line that is no frame, and was not recorded."""
        return self._text(0, f"a line that is no JSON-RPC frame: {printable(line, max_chars=_NOISE_CHARS)}", "")

    def of_capability(self, method: str, path: str) -> str:
        """A request that this client has not said it would answer."""
        return self._text(0, f"{method} was asked of the recorded client; this one does not offer {path}", "")

    def of_leaving(self, hears: Iterable[Hear]) -> str:
        """What the client has not sent, now that it sends no more; empty if nothing is missing."""
        missing = [hear for hear in hears if hear.method and not hear.heard and not hear.optional]
        if not missing:
            return ""
        first = missing[0]
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        head = f"the client left without sending {first.what}{_session(first.message)}{more}"
        return self._text(first.number, head, "")

    def of_waiting(self, hear: Hear) -> str:
        """What the client has not sent yet, and the recorded agent had heard before it went on."""
        where = f"replay of {self._name}, line {hear.number}"
        return f"{where}: waiting for {hear.what}, which came here when it was recorded\n"

    def of_gaps(self) -> str:
        """What a recording that is not whole is good for."""
        return f"replay of {self._name}: frames were left out when it was written; what is there is played\n"

    def _text(self, line: int, head: str, diff: str) -> str:
        where = f"{self._name}, line {line}" if line else self._name
        warning = "warning: " if self._lenient else ""
        self._line = line
        self.last = f"{warning}replay of {where}: {head}; {_CORRECTION}" + (f"\n{diff}" if diff else "")
        return self.last


def _session(frame: dict[str, Any]) -> str:
    session = params_of(frame).get("sessionId")
    return f" of session {printable(session, max_chars=_NAME_CHARS)}" if isinstance(session, str) else ""
