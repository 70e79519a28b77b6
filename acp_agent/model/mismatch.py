"""What can be wrong between a run and the scripts of its model calls: each its own error, naming the call path.

Owns the words. Every one of them ends the turn: its answer is a JSON-RPC error with the message, and `data` says the
reason, the call path and, for a changed request, the difference.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from acp_client.protocol.errors import INTERNAL_ERROR, RpcError
from acp_client.safe_text import printable

MAX_WHY_CHARS: Final = 300
_BEGINS: Final = "model script of "
_TOLD: Final = re.compile(rf"({_BEGINS}primary.*?)(?: \({INTERNAL_ERROR}\)|…|$)", re.DOTALL)
"""Up to the code that the parent's half of this library puts behind the message of an error, or where it cuts it."""


class ScriptMismatch(RpcError):
    """Root of them: `reason` is a word for programs, `call_path` whose call it is, `difference` a diff or ""."""

    reason: ClassVar[str] = "mismatch"

    def __init__(self, call_path: str, message: str, difference: str = "") -> None:
        told = f"{_BEGINS}{call_path}: {message}"
        data: dict[str, Any] = {"reason": f"model_script_{self.reason}", "call_path": call_path}
        super().__init__(INTERNAL_ERROR, told, data | ({"difference": difference} if difference else {}))
        self.call_path: Final = call_path
        self.difference: Final = difference

    def __str__(self) -> str:
        return f"{self.message}\n{self.difference}" if self.difference else self.message


class MissingScript(ScriptMismatch):
    """The run has a session that the golden folder knows nothing of."""

    reason = "missing"

    def __init__(self, call_path: str, where: str) -> None:
        super().__init__(
            call_path, f"there is none in {where}; every session needs its own: record it, or find out who asked for it"
        )


class ExhaustedScript(ScriptMismatch):
    """A session makes more calls than were recorded."""

    reason = "exhausted"

    def __init__(self, call_path: str, recorded: int) -> None:
        super().__init__(
            call_path,
            f"call {recorded + 1} was made, and {_calls(recorded)} recorded: the script is at its end; "
            "record it again if the new call is right",
        )


class ExtraCall(ScriptMismatch):
    """A turn makes more calls than it did when it was recorded; the script goes on with the next turn."""

    reason = "extra"

    def __init__(self, call_path: str, call: int, turn: int, recorded_turn: int) -> None:
        super().__init__(
            call_path,
            f"call {call} was made in turn {turn}, and was recorded in turn {recorded_turn}: turn {turn} makes a call "
            "too many; record it again if that is right",
        )


class UnconsumedCalls(ScriptMismatch):
    """A turn, or the whole run, ended with recorded calls that nobody made."""

    reason = "unconsumed"

    def __init__(self, call_path: str, made: int, recorded: int, when: str) -> None:
        super().__init__(
            call_path,
            f"{when} ended after {_calls(made)} made, and {_calls(recorded)} recorded; "
            "record it again if fewer is right",
        )


class UnusedScript(ScriptMismatch):
    """The golden folder has a script for a session that the run did not have."""

    reason = "unused"

    def __init__(self, call_path: str, recorded: int) -> None:
        super().__init__(
            call_path,
            f"nobody had this session, and {_calls(recorded)} recorded; record the run again if that is right",
        )


class ChangedRequest(ScriptMismatch):
    """A call asks something else than was recorded."""

    reason = "changed"

    def __init__(self, call_path: str, call: int, where: str, difference: str) -> None:
        cause = cause_in(difference)
        told = f"call {call} asks something else than was recorded, in {where}"
        super().__init__(call_path, f"{told}, because: {cause}" if cause else told, "" if cause else difference)


class ChangedAnswers(ScriptMismatch):
    """The log of a call has another answer than the script: one of the two files was edited."""

    reason = "changed_answer"

    def __init__(self, call_path: str, call: int, difference: str) -> None:
        super().__init__(call_path, f"call {call} was answered otherwise than is recorded", difference)


class SwappedScript(ScriptMismatch):
    """The file of one call path holds the script of another."""

    reason = "swapped"

    def __init__(self, call_path: str, file: str, held: str) -> None:
        super().__init__(
            call_path, f"{file} holds the script of {printable(held, max_chars=MAX_WHY_CHARS)}; put it back"
        )


class CallPathTaken(ScriptMismatch):
    """Two sessions have one call path, or the folder holds the logs of an earlier run."""

    reason = "taken"

    def __init__(self, call_path: str, file: str) -> None:
        super().__init__(
            call_path,
            f"{file} is there already: either it is of an earlier run (use an empty folder for each), or a second "
            "session has the same call path (make requests through `delegating`)",
        )


class UnwritableLog(ScriptMismatch):
    """The calls of a session cannot be logged."""

    reason = "unwritable"

    def __init__(self, call_path: str, file: str, why: str | None) -> None:
        super().__init__(
            call_path,
            f"its calls cannot be logged in {file}: {why}; ACP_MODEL_LOGS names a folder that is there, or can be made",
        )


class ScriptIsThere(ScriptMismatch):
    """`record` overwrites nothing."""

    reason = "is_there"

    def __init__(self, call_path: str, file: str) -> None:
        super().__init__(call_path, f"{file} is there already, and `record` overwrites nothing; use `refresh`")


class DamagedScript(ScriptMismatch):
    """A file that is no script, or no longer one."""

    reason = "damaged"

    def __init__(self, call_path: str, file: str, line: int, why: str) -> None:
        shown = printable(why, max_chars=MAX_WHY_CHARS)
        super().__init__(call_path, f"{file}:{line}: {shown}; restore it, or record it again")


class OverlappingCalls(ScriptMismatch):
    """Two model calls of one session at once: which is first would be for the clock to say."""

    reason = "overlapping"

    def __init__(self, call_path: str, call: int) -> None:
        super().__init__(
            call_path,
            f"call {call} begins while the one before it goes on; make one after the other, and close a stream that is "
            "left early (contextlib.aclosing)",
        )


class FailedBefore(ScriptMismatch):
    """A log tells of a mismatch that its own process found: what it said there."""

    reason = "failed"

    def __init__(self, call_path: str, message: str, difference: str = "") -> None:
        super().__init__(call_path, message.removeprefix(f"{_BEGINS}{call_path}: "), difference)


def cause_in(text: str) -> str:
    """The mismatch that a text tells of, the deepest: what a sub-agent failed with stands in the next request."""
    joined = text.replace("\n+", "").replace("\n", "")  # a difference breaks long lines
    told = _TOLD.search(joined)
    return "" if told is None else f"{_BEGINS}{told[1].rpartition(_BEGINS)[2]}"


def _calls(number: int) -> str:
    return "1 call was" if number == 1 else f"{number or 'no'} calls were"
