"""Rows with more cells than the header has names: usually a comma in a number or a name that nobody quoted.

Owns the repair. A row is mended only if exactly one way of reading it makes every cell valid; else
it is left out.
"""

import re
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise

from acp_agent.agents.trades.cells import Habits, row_quantity
from acp_agent.agents.trades.model import Code, Notes
from acp_agent.agents.trades.table.headers import Field
from acp_agent.agents.trades.table.reading import Row
from acp_agent.agents.trades.table.records import ALIGNED
from acp_agent.agents.trades.values.currencies import read_currency
from acp_agent.agents.trades.values.dates import read_date
from acp_agent.agents.trades.values.numbers import read_number
from acp_agent.agents.trades.values.sides import read_side
from acp_agent.agents.trades.vocabulary import words

__all__ = ["fit"]

_HEAD = re.compile(r"[-(]?[^\d\s,.]{0,3}\s?[1-9]\d{0,2}")
_TAIL = re.compile(r"\d{3}(?:\.\d+)?\)?")
_DECIMAL_HEAD = re.compile(r"[-(]?[^\d\s,.]{0,3}\s?\d+")
_DECIMAL_TAIL = re.compile(r"\d{1,2}\)?")
_MAX_EXTRA = 3  # a row that is longer by more is not a row of this table


def fit(row: Row, delimiter: str, habits: Habits, notes: Notes) -> Row | None:
    """Return the row with as many cells as its header names.

    None, with a note, when that takes a guess.
    """
    width = row.header.width
    cells = list(row.cells)
    while len(cells) > width and not cells[-1]:
        cells.pop()
    if len(cells) <= width:
        return _short(row.with_cells(cells), delimiter, notes)
    readings = [row.with_cells(cells[:width])] if _valid(row.with_cells(cells[:width]), habits) else []
    mended = [candidate for candidate in _merged(row, cells, delimiter, habits) if _valid(candidate, habits)]
    if len(readings) + len(mended) != 1:
        message = f"the row has {len(cells)} fields, the header {width}; no trade was made of it"
        notes.add(row.line, Code.TOO_MANY_FIELDS, message)
        return None
    if mended:
        message = f"the row has {len(cells)} fields, the header {width}; what a comma had cut was joined again"
    else:
        message = f"the row has {len(cells)} fields, the header {width}; those beyond the header were left out"
    notes.add(row.line, Code.REPAIRED_FIELDS, message)
    return (mended or readings)[0]


def _short(row: Row, delimiter: str, notes: Notes) -> Row | None:
    missing = row.header.width - len(row.cells)
    if missing <= 0 or (missing == 1 and not row.unbalanced and row.header.width - 1 not in _used(row)):
        return row
    message = f"the row has {len(row.cells)} fields, the header {row.header.width}"
    if delimiter == ALIGNED:
        notes.add(
            row.line,
            Code.TOO_FEW_FIELDS,
            f"{message}; which are missing cannot be told, no trade was made of it",
        )
        return None
    notes.add(row.line, Code.TOO_FEW_FIELDS, f"{message}; the last ones were taken to be missing")
    return row


def _used(row: Row) -> frozenset[int]:
    return frozenset(column.index for column in row.header.columns if column.field is not Field.IGNORED)


def _merged(row: Row, cells: list[str], delimiter: str, habits: Habits) -> Iterator[Row]:
    extra = len(cells) - row.header.width
    if delimiter != "," or extra > _MAX_EXTRA:
        return
    decimal_commas = "," in (habits.quantity.decimal, habits.price.decimal)
    seams: list[int] = []
    for i, (left, right) in enumerate(pairwise(cells)):
        thousands = (_HEAD.fullmatch(left) or i - 1 in seams) and _TAIL.fullmatch(right)
        decimals = decimal_commas and _DECIMAL_HEAD.fullmatch(left) and _DECIMAL_TAIL.fullmatch(right)
        if thousands or decimals or _is_legal_form(left, right):
            seams.append(i)
    for chosen in combinations(seams, extra):
        joined = cells[:1]
        for position, cell in enumerate(cells[1:]):
            if position in chosen:
                joined[-1] += f",{cell}" if cell[0].isdigit() else f", {cell}"
            else:
                joined.append(cell)
        yield row.with_cells(joined)


def _is_legal_form(left: str, right: str) -> bool:
    """Say whether a comma cut a company's name from its legal form: `Apple, Inc.`."""
    form = right.casefold().replace(".", "")
    return left[-1:].isalpha() and form in words("names", "legal_forms")


def _valid(row: Row, habits: Habits) -> bool:
    """Say whether every cell of the row is what its column holds; an empty cell is not."""
    quantity = row_quantity(row.value(Field.QUANTITY), habits.quantity)
    price = read_number(row.value(Field.PRICE), habits.price)
    if not quantity or price is None or price.value <= 0:
        return False
    checks: tuple[tuple[Field, Callable[[str], bool]], ...] = (
        (Field.SIDE, lambda text: read_side(text) is not None),
        (Field.CURRENCY, lambda text: read_currency(text) is not None),
        (Field.TRADE_DATE, lambda text: read_date(text, habits.dates).problem in ("", "serial", "ambiguous")),
        (Field.COUNTERPARTY, lambda text: any(char.isalpha() for char in text)),
    )
    return all(check(row.value(field)) for field, check in checks if row.header.column(field))
