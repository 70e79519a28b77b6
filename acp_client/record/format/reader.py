"""Files and lines to the lines of a transcript: an iterator that holds one line at a time.

Reads our transcripts, wires of {"dir", "msg"} objects without a header, and plain NDJSON of JSON-RPC frames, whose
direction is inferred. Lenient: what cannot be read is passed over and told to `on_fault`; `strict` raises instead. A
last line without its newline is a half-written one unless it is whole JSON. Pure but for opening the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from acp_client.record.format.directions import Directions
from acp_client.record.format.lines import (
    TO_AGENT,
    TO_CLIENT,
    VERSION,
    Frame,
    Header,
    Line,
    TranscriptError,
    decode_object,
    from_object,
)

MAX_LINE_BYTES: Final = 256 * 1024 * 1024
"""A longer line is passed over: several times what a frame may have."""

HALF_WRITTEN: Final = "the last line is half written"


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that could not be used, or not as it stands: where, the rule that it breaks, what to do."""

    line: int
    rule: str
    correction: str


OnFault: TypeAlias = Callable[[Fault], None]


def read_file(
    path: Path | str, *, strict: bool = False, on_fault: OnFault | None = None, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[Line]:
    """The lines of a file, as they are read. Raises TranscriptError where it cannot be opened or read.

    With `strict` also for the first line that is no line of a transcript, but for a half-written last one.
    """
    lines = open_lines(path, max_line_bytes=max_line_bytes)
    yield from read_lines(lines, name=str(path), strict=strict, on_fault=on_fault)


def open_lines(path: Path | str, *, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[bytes]:
    """The raw lines of a file, an overlong one as an empty piece. Raises TranscriptError as `read_file`."""
    try:
        with Path(path).open("rb") as file:
            yield from _bounded(file, max_line_bytes)
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise TranscriptError(
            f"the file cannot be read ({what})", "give a file that a run has left", file=str(path)
        ) from error


def _bounded(file: BinaryIO, most: int) -> Iterator[bytes]:
    """Lines with their newline, an overlong one as an empty piece; the bound is on memory, not on the file."""
    while line := file.readline(most):
        if line.endswith(b"\n") or len(line) < most:
            yield line
            continue
        while (rest := file.readline(most)) and not rest.endswith(b"\n"):
            pass
        yield b""


def read_lines(
    lines: Iterable[bytes | str], *, name: str = "transcript", strict: bool = False, on_fault: OnFault | None = None
) -> Iterator[Line]:
    """The same from lines that somebody else reads, each with its newline or without. `name` is for the errors."""
    reader = LineReader(name=name, strict=strict, on_fault=on_fault)
    for line in lines:
        yield from reader.feed(line)


class LineReader:
    """One transcript, line by line, for who follows a growing file. `feed` takes whole lines."""

    def __init__(self, *, name: str = "transcript", strict: bool = False, on_fault: OnFault | None = None) -> None:
        self._name = name
        self._strict = strict
        self._on_fault = on_fault
        self._directions = Directions()
        self._number = 0

    def feed(self, line: bytes | str) -> list[Line]:
        """What the next line says: one line of a transcript, or none where it is blank or cannot be used."""
        self._number += 1
        data = line.encode("utf-8", errors="replace") if isinstance(line, str) else line
        if not data:
            self._fault("the line is too long to be read", "record with a smaller max_frame_bytes")
            return []
        if not data.strip():
            return []
        value = decode_object(data)
        if value is None:
            self._not_json(whole=data.endswith(b"\n"))
            return []
        read = from_object(value, self._number)
        if read is None:
            read = self._plain(value)
        elif isinstance(read, Frame) and read.message is not None:
            self._directions.note(read.message, read.direction)
        elif isinstance(read, Header):
            self._check_version(read)
        return [] if read is None else [read]

    def _not_json(self, *, whole: bool) -> None:
        if whole:
            self._fault("a line must be one JSON object", "remove it, or record again")
        elif self._on_fault is not None:  # what a killed parent leaves: never an error
            self._on_fault(Fault(self._number, HALF_WRITTEN, "nothing to do: the lines before it are whole"))

    def _plain(self, value: dict[str, object]) -> Frame | None:
        if not ("jsonrpc" in value or "method" in value or ("id" in value and ("result" in value or "error" in value))):
            if isinstance(value.get("dir"), str) and value["dir"] not in (TO_AGENT, TO_CLIENT, "err", "note"):
                return None  # a kind of line that later versions, or tests, have
            self._fault(
                'an object must be a header, have "dir" with "msg", "raw" or "text", or be a JSON-RPC frame',
                "remove the line, or record again",
            )
            return None
        direction = self._directions.of(value)
        if direction is None:
            self._fault(
                "nothing tells who sent this answer: no request of its id is open",
                'write it as {"dir": "c>a" or "a>c", "msg": the frame}',
            )
            return None
        return Frame(direction=direction, message=value, number=self._number)

    def _check_version(self, header: Header) -> None:
        if not 1 <= header.format_version <= VERSION:
            self._fault(
                f"the format is of version {header.format_version}, and this reader knows {VERSION}",
                "read it with the release that wrote it, or a later one",
            )

    def _fault(self, rule: str, correction: str) -> None:
        if self._strict:
            raise TranscriptError(rule, correction, file=self._name, line=self._number)
        if self._on_fault is not None:
            self._on_fault(Fault(self._number, rule, correction))
