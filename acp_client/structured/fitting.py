"""The last value in an answer that is of the wanted type, or what is wrong with the best there is.

Owns the order in which things are looked for. Pure.

1. The whole text, as JSON. For a type that only strings have (`str`, a date), the text as it is comes first.
2. The last fitting one of the objects and arrays in it, and of fenced blocks that are a scalar.
3. The whole text as a string, where the type takes strings.
4. The last fitting scalar in prose: "The answer is 42."
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from acp_client.structured.candidates import Broken, Candidate, find, loose_scalars, parse
from acp_client.structured.faults import Fault, OutputInvalid, fault
from acp_client.structured.output_type import VALUE, OutputType

NOTHING: Final = "the answer holds no JSON value"
EMPTY: Final = "the answer is empty"


def last_fitting(text: str, output_type: OutputType) -> Any:
    """The typed value that an answer gives. Raises OutputInvalid: the faults of the last value that could be read."""
    if not text.strip():
        raise OutputInvalid([Fault("$", EMPTY)])
    return _Search(output_type).run(text)


class _Search:
    """One search. `best` is the last candidate that did not fit, with its faults."""

    def __init__(self, output_type: OutputType) -> None:
        self._type = output_type
        self._best: tuple[int, OutputInvalid] | None = None

    def run(self, text: str) -> Any:
        for value in self._whole(text):
            return value
        found = find(text)
        for value in self._fitting(reversed(found.marked)):
            return value
        if self._type.takes_text:
            for value in self._fitting([Candidate(-1, text), Candidate(-1, text.strip())]):
                return value
        error = self._error(found.text, found.broken)  # a number in prose that does not fit is no attempt at an answer
        for value in self._fitting(loose_scalars(found)):
            return value
        raise error

    def _whole(self, text: str) -> Iterable[Any]:
        if self._type.is_text:
            yield from self._fitting([Candidate(-1, text), Candidate(-1, text.strip())])
        try:
            value = parse(text)
        except ValueError:
            return
        yield from self._fitting([Candidate(0, value)])

    def _fitting(self, candidates: Iterable[Candidate]) -> Iterable[Any]:
        """The typed values of those that fit."""
        for candidate in candidates:
            try:
                yield self._read(candidate.value)
            except OutputInvalid as error:
                if self._best is None or candidate.at > self._best[0]:
                    self._best = (candidate.at, error)

    def _read(self, value: Any) -> Any:
        """The value, or what a tool would be given for it."""
        try:
            return self._type.validate(value)
        except OutputInvalid:
            if self._type.wrapped and isinstance(value, dict) and value.keys() == {VALUE}:
                return self._type.validate(value[VALUE])
            raise

    def _error(self, text: str, broken: Broken | None) -> OutputInvalid:
        """Of the candidate that comes last, be it a value that does not fit or one that is no JSON."""
        if broken is not None and (self._best is None or broken.at > self._best[0]):
            line = text.count("\n", 0, broken.failed) + 1
            column = broken.failed - text.rfind("\n", 0, broken.failed)
            return OutputInvalid([fault((), f"is no JSON: {broken.why}, line {line} column {column} of the answer")])
        return self._best[1] if self._best is not None else OutputInvalid([Fault("$", NOTHING)])
