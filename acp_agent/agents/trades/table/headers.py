"""Which column is which: header names in several languages and abbreviations, as one table of synonyms.

Owns the names. Leaves finding the header line to `reading` and the meaning of cells to `values`.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache

from acp_agent.agents.trades.vocabulary import section, words

__all__ = ["INSTRUMENT_FIELDS", "OUTRIGHT", "Column", "Field", "Header", "read_header"]


class Field(StrEnum):
    """What a column holds. The four instrument fields are ways to name the same thing."""

    TRADE_ID = "trade_id"
    INSTRUMENT = "instrument"
    ISIN = "isin"
    TICKER = "ticker"
    NAME = "name"
    SIDE = "side"
    QUANTITY = "quantity"
    PRICE = "price"
    CURRENCY = "currency"
    TRADE_DATE = "trade_date"
    COUNTERPARTY = "counterparty"
    STATUS = "status"
    IGNORED = "ignored"


INSTRUMENT_FIELDS = (Field.INSTRUMENT, Field.ISIN, Field.TICKER, Field.NAME)

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UNIT = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]|\s+in\s+(\S+)\s*$|\s+([€£$¥])\s*$")
_NOT_WORD = re.compile(r"[^a-z0-9#]+")
OUTRIGHT, _WEAK, _BY_WORD = 0, 1, 2
_MAX_HEADER_CHARS = 60
_CACHED_HEADERS = 4096


@dataclass(frozen=True, slots=True)
class Column:
    """One recognised column.

    Where it is, what it holds, how sure its name is (0 best), and a unit in its name.
    """

    index: int
    field: Field
    rank: int
    title: str
    unit: str


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a header line. At most one column a field is used, the surest and leftmost."""

    line: int
    width: int
    columns: tuple[Column, ...]
    used: Mapping[Field, Column] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Choose the columns once; every cell of every row asks for them."""
        best: dict[Field, Column] = {}
        for column in sorted(self.columns, key=lambda column: (column.rank, column.index)):
            best.setdefault(column.field, column)
        object.__setattr__(self, "used", best)

    @property
    def fields(self) -> frozenset[Field]:
        """Return the distinct things the columns hold, the instrument's four names counted as one."""
        found = {column.field for column in self.columns} - {Field.IGNORED, Field.STATUS}
        return frozenset(Field.INSTRUMENT if field in INSTRUMENT_FIELDS else field for field in found)

    @property
    def weight(self) -> float:
        """Return how much this line looks like a header.

        The fields it names, sure names before guesses.
        """
        best = {column.field: column.rank for column in reversed(self.columns)}
        return len(self.fields) - 0.1 * sum(rank for field, rank in best.items() if field is not Field.IGNORED)

    def column(self, field: Field) -> Column | None:
        """Return the column that is used for a field."""
        return self.used.get(field)

    def rivals(self, field: Field) -> tuple[Column, ...]:
        """Return the columns that name a field just as surely as the one that is used."""
        used = self.column(field)
        return tuple(c for c in self.columns if used and c.field is field and c.rank == used.rank and c is not used)


def read_header(line: int, cells: Sequence[str]) -> Header:
    """Read a line as a header; the caller judges by its `fields` and `weight` whether it is one."""
    columns = []
    for index, cell in enumerate(cells):
        known = _recognise(cell)
        if known is not None:
            field, rank, unit = known
            columns.append(Column(index, field, rank, cell, unit))
    return Header(line, len(cells), tuple(columns))


def _squeeze(name: str) -> str:
    """Fold case and accents; keep the words, parted by one blank."""
    folded = unicodedata.normalize("NFKD", _CAMEL.sub(" ", name)).casefold().replace("ß", "ss")
    return _NOT_WORD.sub(" ", "".join(char for char in folded if not unicodedata.combining(char))).strip()


def _compact(name: str) -> str:
    return _squeeze(name).replace(" ", "")


@cache
def _synonyms() -> dict[str, tuple[Field, int]]:
    table: dict[str, tuple[Field, int]] = {}
    for kind in Field:
        ranks = section("headers", kind.value)
        for rank, names in enumerate((ranks["plainly"], ranks["weakly"], ranks.get("lastly", ()))):
            for name in names:
                table.setdefault(_compact(name), (kind, rank))
    return table


@cache
def _telling_words() -> dict[str, Field]:
    return {name: Field(kind) for kind, names in section("header_words").items() for name in names}


@lru_cache(maxsize=_CACHED_HEADERS)
def _recognise(cell: str) -> tuple[Field, int, str] | None:
    if not cell or len(cell) > _MAX_HEADER_CHARS:
        return None
    title = cell.lstrip("#/ ") or cell
    match = _UNIT.search(title)
    unit = next((group for group in match.groups() if group), "") if match else ""
    bare = _UNIT.sub(" ", title) if match else title
    for name in (title, bare):
        found = _synonyms().get(_compact(name))
        if found is not None:
            return (*found, unit)
    if cell.strip() == "#":
        return Field.TRADE_ID, _WEAK, ""
    return _by_word(bare, unit)


def _by_word(name: str, unit: str) -> tuple[Field, int, str] | None:
    parts = _squeeze(name).split()
    if words("header_blockers", "words").intersection(parts):
        return None
    if {"buy", "sell"} <= set(parts):
        return Field.SIDE, _BY_WORD, unit
    telling = _telling_words()
    fields = {telling[part] for part in parts if part in telling}
    if len(fields) == 1:
        return fields.pop(), _BY_WORD, unit
    if {Field.CURRENCY, Field.PRICE} == fields:
        return Field.CURRENCY, _BY_WORD, unit
    return None
