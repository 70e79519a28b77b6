"""From text to a table: the delimiter and the header line are found together, by which pair names the most columns.

Owns preambles, repeated headers, comments, rules and totals. Leaves the meaning of cells to
`cells`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from acp_agent.agents.trades.model import Code, Notes, UnusableInput
from acp_agent.agents.trades.table.encoding import decode
from acp_agent.agents.trades.table.headers import INSTRUMENT_FIELDS, OUTRIGHT, Field, Header, read_header
from acp_agent.agents.trades.table.objects import looks_like_objects, read_objects
from acp_agent.agents.trades.table.records import ALIGNED, Record, physical_lines, split_records
from acp_agent.agents.trades.values.numbers import NumberStyle, read_number
from acp_agent.agents.trades.vocabulary import words

__all__ = ["Row", "Table", "read_table"]

_DELIMITERS = (";", "\t", "|", ",", "^", "~")
_SNIFFED_LINES = 200  # how far down a header may stand
_COMPARED_RECORDS = 30
_MIN_FIELDS = 3
_SEPARATOR_HINT = re.compile(r"\"?sep=(.)\"?\s*", re.IGNORECASE)
_RULE = re.compile(r"[-=_*|+:.~\s]+")
_COMMENT = re.compile(r"(?:#(?!\d)|//|/\*|--\s)")
_SUMMARY = re.compile(
    r"\W*(?:(?:grand|sub|net|zwischen|gesamt)?[\s-]*(?:totals?|totale?n?|summ?e?|summa|gesamt|somme|suma)\b|"
    r"end of|ende\b|eof\b|count\b|records?\b|rows?\b|trailer\b|\d+ (?:trades|rows|records)|generated|erstellt|"
    r"printed|page \d|seite \d|disclaimer|source:|average\b|durchschnitt\b)",
    re.IGNORECASE,
)
_MOSTLY = 0.5
_DIGITS_OF_A_DATE = 3
_MIN_FILLED = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One row under its header.

    The raw cells, and by field those that are recognised; placeholders count as empty.
    """

    line: int
    header: Header
    cells: tuple[str, ...]
    unbalanced: bool = False

    def value(self, field: Field) -> str:
        """Return the cell of a field, empty where the row or the file has none."""
        cell = self.written(field)
        return "" if cell.casefold() in words("rows", "placeholders") else cell

    def written(self, field: Field) -> str:
        """Return the cell of a field with its placeholder, if it holds one."""
        column = self.header.column(field)
        return self.cells[column.index] if column and column.index < len(self.cells) else ""

    def names(self) -> tuple[tuple[Field, str], ...]:
        """Return how the row names its instrument: by which kind of column, and the text."""
        return tuple((field, value) for field in INSTRUMENT_FIELDS if (value := self.value(field)))

    def with_cells(self, cells: Sequence[str]) -> "Row":
        """Return the row with other cells."""
        return replace(self, cells=tuple(cells))


@dataclass(frozen=True, slots=True)
class Table:
    """A table of trades as it was written; `rows` may be empty."""

    encoding: str
    delimiter: str
    header: Header
    rows: tuple[Row, ...]


def read_table(content: bytes, notes: Notes) -> Table:
    """Read the bytes of a file as a table, or raise UnusableInput; notes what was left out."""
    decoded = decode(content)
    if looks_like_objects(decoded.text):
        found = read_objects(decoded.text)
        if found is not None:
            return _table(decoded.encoding, "json", found, 0, notes)
    lines = physical_lines(decoded.text)
    hint = _SEPARATOR_HINT.fullmatch(lines[0])
    candidates: Iterable[str] = (hint[1],) if hint else _DELIMITERS
    best = _sniff(lines, candidates) or _sniff(lines, (ALIGNED,))
    if best is None:
        raise UnusableInput(
            "no_table",
            "no header line was found; a trades file needs one that names at least three columns, among them a "
            "quantity or a price (such as `Trade ID;Instrument;Side;Quantity;Price`)",
        )
    delimiter, position = best
    return _table(decoded.encoding, delimiter, list(split_records(lines, delimiter)), position, notes)


def _sniff(lines: Sequence[str], delimiters: Iterable[str]) -> tuple[str, int] | None:
    """Return the delimiter and the position of the header record among the records."""
    best: tuple[tuple[float, float], str, int] | None = None
    for delimiter in delimiters:
        records = list(split_records(lines[:_SNIFFED_LINES], delimiter))
        headers = [(position, read_header(record.line, record.cells)) for position, record in enumerate(records)]
        candidates = [(position, header) for position, header in headers if _is_header(header)]
        if not candidates:
            continue
        position, header = max(candidates, key=lambda candidate: candidate[1].weight)  # the first of equals
        following = records[position + 1 : position + 1 + _COMPARED_RECORDS]
        score = (header.weight, _agreement(header.width, following))
        if best is None or score > best[0]:
            best = (score, delimiter, position)
    return best and best[1:]


def _is_header(header: Header) -> bool:
    fields = header.fields
    return len(fields) >= _MIN_FIELDS and not fields.isdisjoint({Field.QUANTITY, Field.PRICE})


def _agreement(width: int, records: Sequence[Record]) -> float:
    return sum(len(record.cells) == width for record in records) / (len(records) or 1)


def _table(encoding: str, delimiter: str, records: Sequence[Record], position: int, notes: Notes) -> Table:
    header = read_header(records[position].line, records[position].cells)
    if not _is_header(header):
        raise UnusableInput(
            "no_table",
            "the objects name no trades; each needs a quantity or a price and its instrument",
        )
    header = _without_dates_as_currency(header, records[position + 1 :])
    _note_lines_above(header, records[:position], notes)
    rows = tuple(_rows(header, records[position + 1 :], notes))
    return Table(encoding, delimiter, header, rows)


def _note_lines_above(header: Header, records: Iterable[Record], notes: Notes) -> None:
    """Warn of lines above the header that have the shape of its rows: a trade there would be lost in silence."""
    for record in records:
        filled = [cell for cell in record.cells if cell]
        shaped = 0 <= header.width - len(record.cells) <= 1 and len(filled) >= _MIN_FIELDS
        if shaped and not _is_decoration(record) and any(read_number(cell, NumberStyle()) for cell in filled):
            message = f"{_excerpt(filled)} stands above the header in row {header.line}; no trade was made of it"
            notes.add(record.line, Code.NOT_A_TRADE, message)


def _without_dates_as_currency(header: Header, records: Sequence[Record]) -> Header:
    """Drop a currency column that holds dates: `Valuta` is a currency in some languages, a value date in others."""
    column = header.column(Field.CURRENCY)
    if column is None or column.rank == OUTRIGHT:
        return header
    cells = [record.cells[column.index] for record in records if len(record.cells) == header.width]
    dated = sum(sum(char.isdigit() for char in cell) >= _DIGITS_OF_A_DATE for cell in cells)
    if dated <= len(cells) * _MOSTLY:
        return header
    return replace(header, columns=tuple(other for other in header.columns if other is not column))


def _rows(header: Header, records: Iterable[Record], notes: Notes) -> Iterator[Row]:
    for record in records:
        if not any(record.cells) or _is_decoration(record):
            continue
        row = Row(record.line, header, record.cells, record.unbalanced)
        again = _repeated_header(row)
        if again is not None:
            header = again
            continue
        if _is_summary(row):
            notes.add(
                record.line,
                Code.NOT_A_TRADE,
                f"{_excerpt(row.cells)} is a total or a remark, not a trade; skipped",
            )
            continue
        yield row


def _repeated_header(row: Row) -> Header | None:
    """Return the header that a row is, as in files that were pasted together; a row with a quantity is none."""
    if any(char.isdigit() for char in row.value(Field.QUANTITY)):
        return None
    again = read_header(row.line, row.cells)
    return again if _is_header(again) else None


def _is_decoration(record: Record) -> bool:
    if _RULE.fullmatch("".join(record.cells)):
        return True
    first = next(cell for cell in record.cells if cell)
    return bool(_COMMENT.match(first)) or (first.startswith("#") and len(record.cells) == 1)


def _is_summary(row: Row) -> bool:
    filled = [cell for cell in row.cells if cell]
    if len(row.cells) < _MIN_FILLED:
        return True
    lacking = (
        not row.names(),
        not row.value(Field.SIDE),
        not row.value(Field.PRICE),
        not row.value(Field.TRADE_DATE),
    )
    return bool(_SUMMARY.match(filled[0])) and sum(lacking) >= _MIN_FILLED


def _excerpt(cells: Iterable[str]) -> str:
    text = " ".join(cell for cell in cells if cell)
    return repr(text if len(text) <= 40 else f"{text[:39]}…")  # noqa: PLR2004 - enough to find the row again
