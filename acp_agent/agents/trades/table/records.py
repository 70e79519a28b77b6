"""From text to records: one record is a list of cells and the physical line it starts on.

Owns quoting, records that span lines, and quotes that never close. Leaves the choice of the
delimiter to `reading`.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["ALIGNED", "Record", "physical_lines", "split_records"]

ALIGNED = "  "  # stands for columns aligned by two or more spaces
_ALIGNED_GAP = re.compile(r"\s{2,}|\t")
_MAX_RECORD_LINES = 50  # a quoted cell longer than this is an unclosed quote, not a cell


@dataclass(frozen=True, slots=True)
class Record:
    """The cells of one record, stripped.

    `line` is 1-based; `unbalanced` when a quote was opened and never closed.
    """

    line: int
    cells: tuple[str, ...]
    unbalanced: bool = False


def physical_lines(text: str) -> list[str]:
    r"""Split at \n, \r\n and \r only: a separator of another script inside a name ends no row."""
    return list(io.StringIO(text, newline=""))


def split_records(lines: Sequence[str], delimiter: str) -> Iterator[Record]:
    """Yield the records of the lines, blank ones too, so that the caller can count."""
    position = 0
    while position < len(lines):
        record, used = _next_record(lines, position, delimiter)
        yield record
        position += used


def _next_record(lines: Sequence[str], position: int, delimiter: str) -> tuple[Record, int]:
    line = lines[position].rstrip("\r\n")
    number = position + 1
    if delimiter == ALIGNED:
        return Record(number, _stripped(_ALIGNED_GAP.split(line.strip()))), 1
    if '"' not in line:
        return Record(number, _stripped(line.split(delimiter))), 1
    cells = _parse(line, delimiter, strict=True)
    if cells is not None:
        return Record(number, _stripped(cells)), 1
    if line.count('"') % 2 == 0:  # closed, but carelessly, such as a space behind the closing quote
        lax = _parse(line, delimiter, strict=False)
        if lax is not None and not any('"' in cell for cell in lax):
            return Record(number, _stripped(lax)), 1
        return _without_quotes(number, line, delimiter), 1
    for used in range(2, min(_MAX_RECORD_LINES, len(lines) - position) + 1):
        cells = _parse("".join(lines[position : position + used]).rstrip("\r\n"), delimiter, strict=True)
        if cells is not None:
            return Record(number, _stripped(cells)), used
    return _without_quotes(number, line, delimiter), 1


def _without_quotes(number: int, line: str, delimiter: str) -> Record:
    return Record(number, _stripped(line.replace('"', "").split(delimiter)), unbalanced=True)


def _parse(text: str, delimiter: str, *, strict: bool) -> tuple[str, ...] | None:
    """Parse one record; None when it is not well formed or not closed."""
    source = io.StringIO(text, newline="")
    reader = csv.reader(source, delimiter=delimiter, strict=strict, skipinitialspace=True)
    try:
        rows = list(reader)
    except csv.Error:
        return None
    return tuple(rows[0]) if len(rows) == 1 else None


def _stripped(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell.strip().strip('"').strip() if cell.strip() != '"' else "" for cell in cells)
