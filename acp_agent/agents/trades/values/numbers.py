"""Numbers as people write them, read exactly: separators of thousands and decimals, signs, suffixes, fractions.

Owns one cell. What its separators mean may depend on its neighbours: `NumberStyle` says so,
`number_style` finds it.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from acp_agent.agents.trades.values.currencies import Money, read_currency
from acp_agent.agents.trades.vocabulary import words

__all__ = [
    "Number",
    "NumberStyle",
    "multiplier",
    "number_style",
    "read_fraction",
    "read_number",
    "size_problem",
]

_MAX_DIGITS = 18  # more digits than any quantity or price has: an identifier in the wrong column
_GROUP, _INDIAN_GROUP = 3, 2
_DASHES = dict.fromkeys([0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212, 0xFE63, 0xFF0D], "-")
_APOSTROPHES = dict.fromkeys([0x2018, 0x2019, 0x60, 0xB4, 0x2BC, 0x5F], "'")  # and the underscore
_VULGAR = re.compile(r"([¼½¾⅐-⅞])")
_SHAPE = re.compile(
    r"(?P<sign>[-+]?)\s*(?P<before>[^\d\s.,()+-][^\d,()+-]*?)?\s*(?P<sign2>[-+]?)\s*"
    r"(?P<number>\d[\d.,' ]*|[.,]\d+)(?P<exponent>[eE][-+]?\d{1,3})?(?P<after>[^\d]*)"
)
_SPACED = re.compile(r"\d{1,3}(?:([' ])\d{3})(?:\1\d{3})*(?:[.,]\d*)?")
_FRACTION = re.compile(r"(?:(\d+)\s+)?(\d+)/(\d+)")
_DENOMINATORS = frozenset({2, 4, 8, 16, 32, 64, 128, 256})


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """Which separator is the decimal one where a cell alone does not tell, and how sure that is."""

    decimal: str | None = None  # "." or ",", None where nothing tells
    sure: bool = False  # seen in the same column, without a contradiction
    trusts_commas: bool = True  # with no evidence at all, `1,234` is a thousand


@dataclass(frozen=True, slots=True)
class Number:
    """One number.

    `money` is a currency written with it; `ambiguous` when the other reading was possible.
    """

    value: Decimal
    money: Money | None = None
    percent: bool = False
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class _Parts:
    digits: str
    exponent: str
    negative: bool
    words: tuple[str, ...]


def read_number(text: str, style: NumberStyle) -> Number | None:
    """Read one number.

    None when the cell is none, has words beside it that are no currency, unit or multiplier, or is out of range.
    """
    number = _read(text, style)
    return None if number is None or _is_out_of_range(number.value) else number


def size_problem(text: str, style: NumberStyle) -> str | None:
    """Say that a number is not read only for its size; None when it is read or is no number."""
    number = _read(text, style)
    if number is None or not _is_out_of_range(number.value):
        return None
    return f"is too {'large' if number.value.adjusted() > 0 else 'small'}; at most {_MAX_DIGITS} digits are read"


def _is_out_of_range(value: Decimal) -> bool:
    return bool(value) and not -_MAX_DIGITS < value.adjusted() < _MAX_DIGITS


def _read(text: str, style: NumberStyle) -> Number | None:
    parts = _take_apart(_normalised(text))
    plain = _plain(parts.digits, style) if parts else None
    if parts is None or plain is None:
        return None
    beside = [word for word in parts.words if word != "%" and not _is_unit(word)]
    factors = [factor for word in beside if (factor := multiplier(word))]
    moneys = [read_currency(word) for word in beside if not multiplier(word)]
    if len(factors) > 1 or len(moneys) > 1 or None in moneys:
        return None
    value = plain[0].scaleb(int(parts.exponent or 0)) * (factors or [Decimal(1)])[0]
    signed = -value if parts.negative else value
    return Number(signed, moneys[0] if moneys else None, "%" in parts.words, plain[1])


def multiplier(word: str) -> Decimal | None:
    """Return what `k` or `Mio.` multiplies by; None when the word is no multiplier."""
    bare = word.casefold().rstrip(".")
    for power, name in enumerate(("thousand", "million", "billion"), 1):
        if bare in words("numbers", name):
            return Decimal(1000) ** power
    return None


def number_style(column: Iterable[str], others: Iterable[str], *, delimiter: str) -> NumberStyle:
    """Look at a whole column, then at the file's other numbers, for cells that only one reading fits."""
    trusts_commas = delimiter != ";"  # a semicolon parts cells where the comma is busy as the decimal sign
    own = {sign for cell in column if (sign := _evidence(cell))}
    if len(own) == 1:
        return NumberStyle(own.pop(), sure=True, trusts_commas=trusts_commas)
    if own:
        return NumberStyle(trusts_commas=False)
    dotted = delimiter in (",", "json")  # where the comma parts cells, and in JSON, the dot is the decimal sign
    foreign = {sign for cell in others if (sign := _evidence(cell))}
    if len(foreign) == 1:
        sign = foreign.pop()
        return NumberStyle(sign, sure=dotted and sign == ".", trusts_commas=trusts_commas)
    return NumberStyle("." if dotted else None, sure=dotted, trusts_commas=trusts_commas)


def _is_unit(word: str) -> bool:
    return word.casefold() in words("numbers", "units")


def _normalised(text: str) -> str:
    spaced = _VULGAR.sub(lambda match: " " + unicodedata.normalize("NFKC", match[1]).replace("\u2044", "/"), text)
    return " ".join(spaced.translate(_DASHES).translate(_APOSTROPHES).split())


def _take_apart(text: str) -> _Parts | None:
    negative = False
    body = re.sub(r"([.,])-{1,2}(?=\D*$)", r"\g<1>0", text)  # `12.-` and `1.000,--`: no cents, no minus
    inner = re.fullmatch(r"(\D*)\(([^()]*)\)(\D*)", body)
    if inner:
        negative, body = True, "".join(inner.groups())
    match = _SHAPE.fullmatch(body.strip())
    if match is None:
        return None
    after = match["after"].strip()
    minuses = [match["sign"], match["sign2"], "-" if after.startswith("-") else ""].count("-")
    if minuses > 1 or (negative and minuses):
        return None
    words = f"{match['before'] or ''} {_apart(after.removeprefix('-'))}".split()
    return _Parts(
        match["number"].strip(),
        (match["exponent"] or "")[1:],
        negative or minuses == 1,
        tuple(words),
    )


def _apart(after: str) -> str:
    """Part a multiplier from a currency that follows it at once: `5mEUR`, `2k€`."""
    glued = re.fullmatch(r"(k|m|mm|mn|bn|M|K)([A-Z]{3}|[€$£¥])", after.strip())
    return f"{glued[1]} {glued[2]}" if glued else after


def _plain(digits: str, style: NumberStyle) -> tuple[Decimal, bool] | None:
    if "'" in digits or " " in digits:
        if not _SPACED.fullmatch(digits):
            return None
        digits = digits.replace("'", "").replace(" ", "")
        return Decimal(digits.replace(",", ".").rstrip(".")), False
    decimal = _decimal_sign(digits)
    if decimal is not None:
        return _exact(digits, decimal)
    if "." not in digits and "," not in digits:
        return Decimal(digits), False
    return _undecided(digits, style)


def _undecided(digits: str, style: NumberStyle) -> tuple[Decimal, bool] | None:
    """Read `1,234` or `1.234`: both a thousand and a decimal fraction are possible."""
    sign = "." if "." in digits else ","
    other = "," if sign == "." else "."
    if style.decimal is not None:
        plain = _exact(digits, style.decimal)
        return plain and (plain[0], sign == style.decimal and not style.sure)
    plain = _exact(digits, "." if sign == "." else other)
    return plain and (plain[0], sign == "." or not style.trusts_commas)


def _exact(digits: str, decimal: str) -> tuple[Decimal, bool] | None:
    group = "," if decimal == "." else "."
    whole, _, fraction = digits.partition(decimal)
    first, *others = whole.split(group)
    if others and not _well_grouped(first, others):
        return None
    if not re.fullmatch(r"\d*", fraction):
        return None
    return Decimal(f"0{first}{''.join(others)}.{fraction or '0'}"), False


def _well_grouped(first: str, others: list[str]) -> bool:
    """Say whether the groups are those of one number: of three digits, or of two as in India, none led by a zero."""
    inner = all(_INDIAN_GROUP <= len(group) <= _GROUP for group in others)
    return inner and len(others[-1]) == _GROUP and 0 < len(first) <= _GROUP and not first.startswith("0")


def _decimal_sign(digits: str) -> str | None:
    """Return the decimal separator where the cell alone tells it."""
    dots, commas = digits.count("."), digits.count(",")
    if dots and commas:
        return "." if digits.rfind(".") > digits.rfind(",") else ","
    if dots > 1 or commas > 1:
        return "," if dots else "."
    for sign in ".,":
        before, found, after = digits.partition(sign)
        if found and (len(after) != _GROUP or len(before) > _GROUP or before in ("", "0")):
            return sign
    return None


def _evidence(cell: str) -> str | None:
    parts = None if cell.isdigit() else _take_apart(_normalised(cell))
    if parts is None:
        return None
    if "'" in parts.digits or " " in parts.digits:
        return next((sign for sign in ".," if sign in parts.digits), None)
    return _decimal_sign(parts.digits)


def read_fraction(text: str) -> Decimal | None:
    """Read `99 1/2` and `99½`; bonds are quoted so. None when it is no such number."""
    match = _FRACTION.fullmatch(_normalised(text))
    if match is None or int(match[3]) not in _DENOMINATORS or int(match[2]) >= int(match[3]):
        return None
    return Decimal(match[1] or 0) + Decimal(match[2]) / Decimal(match[3])
