"""The instruments and counterparties we know, from the package's data, and every way each may be written.

Owns the keys and their folding. A lookup returns all matches: none and several are for the caller
to report. A misspelt name is never taken for a known one; the nearest known name is only offered
for the message.
"""

import csv
import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from acp_agent.agents.trades.vocabulary import words

__all__ = ["Book", "Entry", "counterparties", "instruments", "is_isin"]

_SHORT_WORDS = {"intl": "international", "secs": "securities", "dt": "deutsche", "svcs": "services", "cl": "class"}
_MARKET_SECTORS = re.compile(r"\s+(?:equity|corp|govt|index)$", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s./:\-_]+")
_ISIN = re.compile(r"[A-Z]{2}[A-Z0-9]{9}[0-9]")
_PARTS = re.compile(r"\s+[-–—/|]\s+|[()\[\]]|\s*/\s*(?=[A-Z0-9]{12,}$)")
_FORMULA = re.compile(r"\s*=.*\(.*\)\s*", re.DOTALL)
_CLOSE_ENOUGH = 0.85


@dataclass(frozen=True, slots=True)
class Entry:
    """One instrument or counterparty.

    The name that it is given in a trade, an instrument's currency, and a counterparty's LEI.
    """

    canonical: str
    currency: str | None = None
    lei: str | None = None


class Book:
    """Looks names up.

    Codes (tickers, ISINs, LEIs) are tried before names, whole texts before their parts.
    """

    def __init__(self, tail_words: frozenset[str]) -> None:
        """`tail_words` may be missing or added at the end of a name without changing what is meant."""
        self._tail_words = tail_words
        self._codes: dict[str, tuple[Entry, ...]] = {}
        self._names: dict[str, tuple[Entry, ...]] = {}

    def add(self, entry: Entry, codes: Iterable[str], names: Iterable[str]) -> None:
        """Enter one entry under all its keys."""
        _enter(self._codes, entry, (_code(code) for code in codes))
        spelled = [_folded(name) for name in names]
        _enter(self._names, entry, (key for name in spelled for key in (name, self._shortened(name))))

    def find(self, text: str) -> tuple[Entry, ...]:
        """Return every entry that the text may mean; a formula means none."""
        if _FORMULA.fullmatch(text):
            return ()
        whole = self._find_whole(text)
        if whole:
            return whole
        parts = [part for part in _PARTS.split(text) if part and part.strip()]
        found = [self._find_whole(part) for part in parts] if len(parts) > 1 else []
        if not found or not all(found):
            return ()
        return _common(found) or _union(found)

    def suggestion(self, text: str) -> str | None:
        """Return the known name that the text most resembles, for a message.

        Never a reading of it.
        """
        near = difflib.get_close_matches(_folded(text), self._names, n=1, cutoff=_CLOSE_ENOUGH)
        entries = self._names[near[0]] if near else ()
        return entries[0].canonical if len(entries) == 1 else None

    def _find_whole(self, text: str) -> tuple[Entry, ...]:
        folded = _folded(text)
        return (
            self._codes.get(_code(text))
            or self._codes.get(_code(_MARKET_SECTORS.sub("", text)))
            or self._names.get(folded)
            or self._names.get(self._shortened(folded))
            or ()
        )

    def _shortened(self, folded: str) -> str:
        words = folded.removeprefix("the ").split()
        while len(words) > 1 and words[-1] in self._tail_words:
            words.pop()
        return " ".join(words)


@cache
def instruments() -> Book:
    """Return the book of instruments; a trade calls one by its symbol."""
    book = Book(words("names", "legal_forms") | words("names", "shares"))
    for row in _data("instruments.csv"):
        entry = Entry(row["symbol"], row["currency"])
        codes = [
            row["symbol"],
            row["isin"],
            _national_code(row["isin"]),
            *row["identifiers"].split(";"),
        ]
        book.add(entry, codes, [row["name"], *row["aliases"].split(";")])
    return book


@cache
def counterparties() -> Book:
    """Return the book of counterparties; a trade calls one by its short name."""
    book = Book(words("names", "legal_forms") | words("names", "branches"))
    for row in _data("counterparties.csv"):
        book.add(Entry(row["name"], lei=row["lei"]), [row["lei"]], [row["name"], *row["aliases"].split(";")])
    return book


def is_isin(text: str) -> bool | None:
    """Say whether a text of an ISIN's shape has the right check digit.

    None when it has not the shape.
    """
    code = text.strip().upper()
    if not _ISIN.fullmatch(code):
        return None
    digits = "".join(str(int(char, 36)) for char in code)
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(value // 10 + value % 10 for value in doubled) % 10 == 0


def _data(name: str) -> Iterable[dict[str, str]]:
    source = resources.files("acp_agent.agents.trades").joinpath("data", name)
    return csv.DictReader(source.read_text(encoding="utf-8").splitlines())


def _national_code(isin: str) -> str:
    """Return the CUSIP, WKN, SEDOL or Valor inside an ISIN, empty elsewhere."""
    readers: dict[str, Callable[[str], str]] = {
        "US": lambda code: code[2:11],
        "CA": lambda code: code[2:11],
        "DE": lambda code: code[5:11],
        "GB": lambda code: code[4:11],
        "CH": lambda code: code[2:11].lstrip("0"),
    }
    reader = readers.get(isin[:2])
    return reader(isin) if reader else ""


def _enter(index: dict[str, tuple[Entry, ...]], entry: Entry, keys: Iterable[str]) -> None:
    for key in keys:
        known = index.get(key, ())
        if key and entry not in known:
            index[key] = (*known, entry)


def _code(text: str) -> str:
    return _SEPARATORS.sub(".", text.strip()).upper()


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold().replace("&", " and ").replace("ß", "ss"))
    kept = "".join(char for char in plain if not unicodedata.combining(char) and char not in ".'’")
    return " ".join(_SHORT_WORDS.get(word, word) for word in re.findall(r"[a-z0-9%]+", kept))


def _common(found: list[tuple[Entry, ...]]) -> tuple[Entry, ...]:
    return tuple(entry for entry in found[0] if all(entry in others for others in found[1:]))


def _union(found: list[tuple[Entry, ...]]) -> tuple[Entry, ...]:
    return tuple(dict.fromkeys(entry for entries in found for entry in entries))
