"""Drafts to what the reference data know: the instrument by all its names together, the counterparty by its one.

Owns agreement and contradiction between names. What is unknown or ambiguous stays as it was
written, with a note.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache

from acp_agent.agents.trades.cells import Draft
from acp_agent.agents.trades.model import Code, Notes
from acp_agent.agents.trades.reference import Book, Entry, counterparties, instruments, is_isin
from acp_agent.agents.trades.table.headers import Field

__all__ = ["resolve_counterparties", "resolve_instruments"]

_MAX_SUGGESTED = 200  # comparing with every known name is slow; the names after these are told without advice


class _Lookup:
    """A book as one file uses it: the same few names over and over, and advice for so many strange ones."""

    def __init__(self, book: Book) -> None:
        self.find: Callable[[str], tuple[Entry, ...]] = cache(book.find)
        self._book = book
        self._suggested: dict[str, str | None] = {}

    def suggestion(self, text: str) -> str | None:
        """Return the known name that is nearest, or None."""
        if text not in self._suggested and len(self._suggested) < _MAX_SUGGESTED:
            self._suggested[text] = self._book.suggestion(text)
        return self._suggested.get(text)


def resolve_instruments(drafts: Iterable[Draft], notes: Notes) -> list[Draft]:
    """Name every instrument by its symbol where the file's names agree on one."""
    lookup = _Lookup(instruments())
    return [_instrument(draft, lookup, notes) for draft in drafts]


def resolve_counterparties(drafts: Iterable[Draft], notes: Notes) -> list[Draft]:
    """Name every counterparty by its short name where the file's name is a known one."""
    lookup = _Lookup(counterparties())
    return [_counterparty(draft, lookup, notes) for draft in drafts]


def _instrument(draft: Draft, lookup: _Lookup, notes: Notes) -> Draft:
    names, foreign = _identifying(draft, lookup, notes)
    matches = [(name, lookup.find(name)) for name in names]
    known = [found for _, found in matches if found]
    line = draft.row.line
    if foreign or not known:
        written = foreign or draft.instrument
        notes.add(line, Code.UNKNOWN_INSTRUMENT, _unknown("instrument", written, lookup.suggestion(written)))
        return draft
    agreed = [entry for entry in known[0] if all(entry in found for found in known)]
    if len(agreed) == 1:
        return replace(draft, instrument=agreed[0].canonical, reference_currency=agreed[0].currency)
    if agreed:
        notes.add(line, Code.AMBIGUOUS_INSTRUMENT, _ambiguous("instrument", draft.instrument, agreed))
        return draft
    said = ", ".join(f"{name!r} is {_list(found)}" for name, found in matches if found)
    notes.add(
        line,
        Code.CONFLICTING_INSTRUMENT,
        f"the row's names contradict each other: {said}; kept as written",
    )
    return draft


def _identifying(draft: Draft, lookup: _Lookup, notes: Notes) -> tuple[list[str], str]:
    """Return the names to look up, without broken ISINs, and an ISIN that is sound but unknown to us."""
    names, foreign = [], ""
    for name in draft.names:
        sound = is_isin(name)
        if sound is False:
            notes.add(
                draft.row.line,
                Code.INVALID_ISIN,
                f"{name!r} has the shape of an ISIN but a wrong check digit",
            )
            continue
        if sound and not lookup.find(name):
            foreign = name
        names.append(name)
    return names, foreign


def _counterparty(draft: Draft, lookup: _Lookup, notes: Notes) -> Draft:
    written, line = draft.counterparty, draft.row.line
    if written is None:
        if draft.row.header.column(Field.COUNTERPARTY):
            notes.add(line, Code.MISSING_COUNTERPARTY, "the row names no counterparty; it is null")
        return draft
    found = lookup.find(written)
    if len(found) == 1:
        return replace(draft, counterparty=found[0].canonical)
    if found:
        notes.add(line, Code.AMBIGUOUS_COUNTERPARTY, _ambiguous("counterparty", written, found))
    else:
        notes.add(
            line,
            Code.UNKNOWN_COUNTERPARTY,
            _unknown("counterparty", written, lookup.suggestion(written)),
        )
    return draft


def _unknown(what: str, written: str, near: str | None) -> str:
    advice = f" (near {near!r}, which was not assumed)" if near else ""
    return f"the {what} {written!r} is not in the reference data{advice}; kept as written"


def _ambiguous(what: str, written: str, found: Sequence[Entry]) -> str:
    return f"the {what} {written!r} may be {_list(found)}; kept as written"


def _list(found: Sequence[Entry]) -> str:
    return " or ".join(repr(entry.canonical) for entry in found)
