"""What a request to a sub-agent raises: the parent's own mistake, or a run that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from acp_client.frozen import did_you_mean
from acp_client.outcome.result import RunResult
from acp_client.safe_text import printable

MAX_NAME_CHARS: Final = 80
"""How much of a name that nobody declared is shown: a model may have made it up."""
MAX_WHY_CHARS: Final = 1000
"""How much of a run's failure a message shows; all of it is in the result."""


class UnknownSubAgent(LookupError):
    """No sub-agent of this name is declared; the message lists those that are. Ask for one of these."""

    def __init__(self, name: object, declared: Sequence[str]) -> None:
        asked = shown_name(name)
        there = f"declared are: {', '.join(declared)}" if declared else "none are declared"
        super().__init__(f"there is no sub-agent {asked!r}; {there}{did_you_mean(asked, declared)}")
        self.name = name


class SubAgentFailed(Exception):  # an agent's failure, which is no error of the program that asked
    """A run gave no value: it failed, or gave plain text where only a structured value counts.

    `result` is the whole RunResult: reason, partial text, diagnostics.
    """

    def __init__(self, name: str, result: RunResult) -> None:
        super().__init__(f"sub-agent {name!r} {why_failed(result)}")
        self.name = name
        self.result = result

    def __reduce__(self) -> tuple[type[SubAgentFailed], tuple[str, RunResult]]:
        """Picklable, as exceptions of worker pools have to be."""
        return type(self), (self.name, self.result)


def shown_name(name: object) -> str:
    """What was asked for, in bounded length; of what is no string the type, as a model may send anything."""
    return printable(name if isinstance(name, str) else f"<{type(name).__name__}>", max_chars=MAX_NAME_CHARS)


def why_failed(result: RunResult, max_chars: int = MAX_WHY_CHARS) -> str:
    """In one line, how the run ended without a value; so much of its failure."""
    if result.failure is None:
        return "completed with plain text, where a structured value was asked for (strict); the text is in the result"
    message = printable(result.failure.message, max_chars=max_chars)
    return f"failed ({result.reason}): {message}"
