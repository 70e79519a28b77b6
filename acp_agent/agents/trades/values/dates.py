"""Dates as people write them, to ISO. Day-first or month-first is told by the whole column, never by habit.

Owns one cell and the order of a column. Leaves what happens to unread dates to `rows`. A time of
day and its zone are dropped, not converted: the date is the one that was written.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import cache
from typing import Literal

from acp_agent.agents.trades.vocabulary import section

__all__ = ["FIRST_YEAR", "LAST_YEAR", "DateOrder", "DateReading", "date_order", "read_date"]

_TIME = re.compile(r"(?:[T ,]+|(?<=\d)[T ])\d{1,2}[:.h]\d{2}.*$|(?<=\d)T\d{4,6}.*$|\s+\d{6}Z?$|Z$", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})([-/. ])(?P<month>\d{1,2})\2(?P<day>\d{1,2})\.?")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/. ])\s*(\d{1,2})\2\s*(\d{4}|\d{2})\.?")
_COMPACT = re.compile(r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})")
_SERIAL = re.compile(r"(\d{5})(?:[.,]\d+)?")
_DAY_NAME = re.compile(r"(\d{1,2})[\s\-/.,]*(?:de |of )?([a-z]+)[\s\-/.,']*(?:de |of )?(\d{4}|\d{2})")
_NAME_DAY = re.compile(r"([a-z]+)[\s\-/.,]*(\d{1,2})(?:st|nd|rd|th)?[\s\-/.,']+(\d{4}|\d{2})")
_YEAR_NAME = re.compile(r"(\d{4})[\s\-/.]*([a-z]+)[\s\-/.]*(\d{1,2})")
_WEEKDAY = re.compile(r"^(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[a-z]*[.,]*\s+(?=\S)")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th|er)\b")
_EXCEL_EPOCH = date(1899, 12, 30)  # day 60 is a leap day that never was; all later serials count from here
FIRST_YEAR, LAST_YEAR = 1950, 2100
_CENTURY_TURN = 70  # two digits from here on are the last century's
_FIRST_SERIAL, _LAST_SERIAL = 20_000, 73_050  # 1954 to 2099
_MONTHS_A_YEAR = 12


class DateOrder(StrEnum):
    """How `03/04/2026` is meant in a column."""

    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DateReading:
    """`iso` is None when the cell is no date or, if `ambiguous`, one of two.

    `serial` when a day number was read, `implausible` for a date outside FIRST_YEAR to LAST_YEAR.
    """

    iso: str | None = None
    problem: Literal["", "ambiguous", "unreadable", "implausible", "serial"] = ""


def date_order(column: Iterable[str]) -> DateOrder:
    """Infer the order from the cells that only one order fits.

    None or both kinds leave it unknown.
    """
    day_first = month_first = False
    for cell in column:
        match = _YEAR_LAST.fullmatch(_bare(cell))
        if match is None or match[2] == ".":
            continue
        first, second = int(match[1]), int(match[3])
        day_first |= first > _MONTHS_A_YEAR >= second
        month_first |= second > _MONTHS_A_YEAR >= first
    if day_first == month_first:
        return DateOrder.UNKNOWN
    return DateOrder.DAY_FIRST if day_first else DateOrder.MONTH_FIRST


def read_date(text: str, order: DateOrder) -> DateReading:
    """Read one date cell."""
    bare = _bare(text)
    numeric = _YEAR_LAST.fullmatch(bare)
    if numeric is not None:
        return _numeric(numeric, order)
    match = _YEAR_FIRST.fullmatch(bare) or _COMPACT.fullmatch(bare)
    if match is not None:
        return _reading(int(match["year"]), int(match["month"]), int(match["day"]))
    serial = _SERIAL.fullmatch(text.strip())
    if serial is not None and _FIRST_SERIAL <= int(serial[1]) <= _LAST_SERIAL:
        return DateReading((_EXCEL_EPOCH + timedelta(days=int(serial[1]))).isoformat(), "serial")
    return _named(bare)


def _bare(text: str) -> str:
    folded = unicodedata.normalize("NFKD", " ".join(text.split())).strip().lstrip("'")
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    return _TIME.sub("", plain).strip().casefold()


def _numeric(match: re.Match[str], order: DateOrder) -> DateReading:
    first, second, year = int(match[1]), int(match[3]), _full_year(match[4])
    day_first, month_first = _reading(year, second, first), _reading(year, first, second)
    if day_first.iso is None or month_first.iso is None:
        return day_first if day_first.iso or month_first.problem == "unreadable" else month_first
    if first == second or match[2] == "." or order is DateOrder.DAY_FIRST:
        return day_first
    return month_first if order is DateOrder.MONTH_FIRST else DateReading(None, "ambiguous")


def _named(bare: str) -> DateReading:
    text = _ORDINAL.sub("", _WEEKDAY.sub("", bare))
    for pattern, year, month, day in (
        (_DAY_NAME, 3, 2, 1),
        (_NAME_DAY, 3, 1, 2),
        (_YEAR_NAME, 1, 2, 3),
    ):
        match = pattern.fullmatch(text)
        if match is not None and match[month] in _months():
            return _reading(_full_year(match[year]), _months()[match[month]], int(match[day]))
    return DateReading(None, "unreadable")


@cache
def _months() -> dict[str, int]:
    return {name: int(number) for number, names in section("months").items() for name in names}


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:  # noqa: PLR2004 - two digits or four
        return year
    return 1900 + year if year >= _CENTURY_TURN else 2000 + year


def _reading(year: int, month: int, day: int) -> DateReading:
    try:
        found = date(year, month, day)
    except ValueError:
        return DateReading(None, "unreadable")
    return DateReading(found.isoformat()) if FIRST_YEAR <= year <= LAST_YEAR else DateReading(None, "implausible")
