"""The validator: what is wrong with a transcript, line by line.

Owns the rules beyond what the reader needs: a header first and once, times that do not go back, every answer with its
request, an end that is the last line. Pure; keeps the open requests and no frame. A finding is never an exception.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from acp_client.record.format.lines import (
    END,
    LOST,
    NOTES,
    TO_AGENT,
    TO_CLIENT,
    VERSION,
    Direction,
    Frame,
    Header,
    Line,
    Note,
    Stderr,
)
from acp_client.record.format.reader import HALF_WRITTEN, Fault, LineReader, open_lines

MAX_FINDINGS: Final = 1000
"""More of them say nothing new; the last one tells that there are more."""
MAX_OPEN: Final = 10_000
"""Requests without an answer that are remembered."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong: the line (0: the whole file), the rule, what to do. `harmless` where the rest can be used."""

    line: int
    rule: str
    correction: str
    harmless: bool = False

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.rule}; {self.correction}"


def told(findings: Iterable[Finding]) -> list[str]:
    """Findings in sentences: what breaks the same rule is told once, with the first line and how many there are."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.rule, finding.correction), []).append(finding)
    return [_sentence(found) for found in alike.values()]


def _sentence(found: list[Finding]) -> str:
    first, more = found[0], len(found) - 1
    if not more:
        return str(first)
    return f"line {first.line} and {more} more, up to line {found[-1].line}: {first.rule}; {first.correction}"


def check_file(path: Path | str) -> list[Finding]:
    """The findings of a file, in the order of its lines; none for a good one. Raises TranscriptError as the reader."""
    return list(check_lines(open_lines(path)))


def check_lines(lines: Iterable[bytes | str]) -> Iterator[Finding]:
    """The same for lines that somebody else reads; at most `MAX_FINDINGS`."""
    for count, finding in enumerate(_findings(lines), 1):
        if count == MAX_FINDINGS:
            yield Finding(finding.line, "there are more findings than are told", "mend these first")
            return
        yield finding


def _findings(lines: Iterable[bytes | str]) -> Iterator[Finding]:
    faults: list[Fault] = []
    reader = LineReader(on_fault=faults.append)
    check = _Check()
    for line in lines:
        for read in reader.feed(line):
            check.look(read)
        check.findings += [Finding(f.line, f.rule, f.correction, harmless=f.rule == HALF_WRITTEN) for f in faults]
        faults.clear()
        yield from check.take()
    check.finish()
    yield from check.take()


class _Check:
    """What is known of the lines so far."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._lines = 0
        self._header: Header | None = None
        self._ended = False
        self._t = 0.0
        self._open: dict[tuple[Direction, str], int] = {}
        self._lost = False

    def take(self) -> list[Finding]:
        found, self.findings = self.findings, []
        return found

    def look(self, line: Line) -> None:
        self._lines += 1
        if isinstance(line, Header):
            self._look_at_header(line)
            return
        if self._ended:
            self._tell(line.number, "a line comes after the end", "the note of the end must be the last line")
            self._ended = False
        self._look_at_time(line)
        if isinstance(line, Frame):
            self._look_at_frame(line)
        elif isinstance(line, Note):
            self._look_at_note(line)

    def finish(self) -> None:
        if not self._lines:
            self._tell(0, "there is no line of a transcript in it", "give a file that a run has left")
        elif self._header is not None and not self._ended:
            self._tell(0, "the run is unfinished: there is no end", "nothing to do if it still goes on", harmless=True)
        for number in sorted(self._open.values()):
            if self._ended and not self._lost:
                self._tell(number, "this request has no answer", "nothing to do: the run ended first", harmless=True)

    def _look_at_header(self, header: Header) -> None:
        if self._lines > 1:
            rule = "a header is not the first line"
            self._tell(header.number, rule, "keep one run in a file" if self._header else "write it first")
        self._header = header
        if not header.run_id:
            self._tell(header.number, "the header has no run_id", "add the id of the run, a string")
        if header.format_version < 1:
            self._tell(header.number, '"acp_transcript" must be a whole number from 1', f"write {VERSION}")

    def _look_at_time(self, line: Frame | Stderr | Note) -> None:
        if line.t is None:
            if self._header is not None:
                self._tell(line.number, '"t" must be a number of seconds since the start', "add it")
            return
        if line.t < 0:
            self._tell(line.number, f'"t" is {line.t:g}; it must not be negative', "count from the start of the run")
        elif line.t < self._t and not isinstance(line, Stderr):
            self._tell(
                line.number, f'"t" goes back from {self._t:g} to {line.t:g}', "lines must be in the order of the wire"
            )
        self._t = max(self._t, line.t)

    def _look_at_frame(self, frame: Frame) -> None:
        message = frame.message
        if message is None:
            return
        if message.get("jsonrpc") != "2.0":
            self._tell(frame.number, 'the frame has no "jsonrpc": "2.0"', "the sender must write it", harmless=True)
        if "id" not in message:
            return
        key = repr(message["id"])
        if "method" in message:
            if (frame.direction, key) in self._open:
                rule = f"the id {key[:80]} is in use by an open request of the same side"
                self._tell(frame.number, rule, "the sender must take a new id", harmless=True)
            self._open[frame.direction, key] = frame.number
            if len(self._open) > MAX_OPEN:
                del self._open[next(iter(self._open))]
            return
        asker: Direction = TO_CLIENT if frame.direction == TO_AGENT else TO_AGENT
        if self._open.pop((asker, key), None) is None and message["id"] is not None and not self._lost:
            rule = f"an answer to the id {key[:80]}, which is no open request"
            self._tell(frame.number, rule, "look whether lines are missing before it", harmless=True)

    def _look_at_note(self, note: Note) -> None:
        if note.kind == END:
            self._ended = True
            if not isinstance(note.fields.get("result"), dict):
                self._tell(note.number, 'the end has no "result"', "write the result of the run, an object")
        elif note.kind == LOST:
            self._lost = True
            frames: Any = note.fields.get("frames", "some")
            why: Any = note.fields.get("why", "unknown")
            rule = f"{frames} frames were not recorded ({str(why)[:200]})"
            self._tell(note.number, rule, "make room, or raise max_bytes, and record again", harmless=True)
        elif self._header is not None and note.kind not in NOTES:
            self._tell(note.number, f"the kind of note {note.kind[:80]!r} is unknown", "nothing to do", harmless=True)

    def _tell(self, line: int, rule: str, correction: str, *, harmless: bool = False) -> None:
        self.findings.append(Finding(line, rule, correction, harmless))
