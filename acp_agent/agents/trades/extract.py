"""The pipeline: bytes to trades and warnings, in steps that the agent shows one by one and tests run at once.

Pure: the only thing read is the package's reference data.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from acp_agent.agents.trades.cells import Draft, habits_of, read_draft
from acp_agent.agents.trades.finish import finish
from acp_agent.agents.trades.model import Code, Extraction, Notes, UnusableInput
from acp_agent.agents.trades.repair import fit
from acp_agent.agents.trades.resolve import resolve_counterparties, resolve_instruments
from acp_agent.agents.trades.table.headers import Field
from acp_agent.agents.trades.table.reading import Row, Table, read_table

__all__ = ["Extraction", "UnusableInput", "Work", "extract"]

_EXPECTED = (
    Field.TRADE_ID,
    Field.SIDE,
    Field.QUANTITY,
    Field.PRICE,
    Field.CURRENCY,
    Field.TRADE_DATE,
    Field.COUNTERPARTY,
)


@dataclass(slots=True)
class Work:
    """One file on its way through the steps; call them in order, each once."""

    table: Table
    notes: Notes
    drafts: list[Draft]

    @classmethod
    def parse(cls, content: bytes) -> "Work":
        """Read the content as a table and its rows as drafts, or raise UnusableInput."""
        notes = Notes()
        table = read_table(content, notes)
        _note_columns(table, notes)
        habits = habits_of(table)
        drafts = []
        for row in table.rows:
            _note_quotes(row, notes)
            fitted = fit(row, table.delimiter, habits, notes)
            draft = read_draft(fitted, habits, notes) if fitted else None
            if draft:
                drafts.append(draft)
        return cls(table, notes, drafts)

    def resolve_instruments(self) -> list[str]:
        """Look the instruments up; return the names that stay as they are, each once."""
        self.drafts = resolve_instruments(self.drafts, self.notes)
        return _each_once(draft.instrument for draft in self.drafts if draft.reference_currency is None)

    def resolve_counterparties(self) -> list[str]:
        """Look the counterparties up; return the names that stay as they are, each once."""
        before = len(self.notes.found)
        self.drafts = resolve_counterparties(self.drafts, self.notes)
        lines = {note.row for note in self.notes.found[before:]}
        return _each_once(draft.counterparty for draft in self.drafts if draft.row.line in lines and draft.counterparty)

    def finish(self) -> Extraction:
        """Make the trades and collect the warnings."""
        trades = finish(self.drafts, self.notes)
        return Extraction(trades, self.notes.sorted())


def extract(content: bytes) -> Extraction:
    """Extract the trades from the content of a file, or raise UnusableInput.

    The same bytes give the same answer.
    """
    work = Work.parse(content)
    work.resolve_instruments()
    work.resolve_counterparties()
    return work.finish()


def _note_columns(table: Table, notes: Notes) -> None:
    header = table.header
    missing = [field for field in _EXPECTED if field not in header.fields]
    if Field.INSTRUMENT not in header.fields:
        missing.insert(0, Field.INSTRUMENT)
    for field in missing:
        notes.add(header.line, Code.MISSING_COLUMN, f"no column holds the {field.value.replace('_', ' ')}")
    for field in _EXPECTED:
        for rival in header.rivals(field):
            used = header.column(field)
            message = (
                f"{rival.title!r} names the {field.value} as {used.title if used else ''!r} "
                "does; only the latter was read"
            )
            notes.add(header.line, Code.DUPLICATE_COLUMN, message)
    if not table.rows:
        notes.add(header.line, Code.NO_ROWS, "the file has a header but no rows under it")


def _note_quotes(row: Row, notes: Notes) -> None:
    if row.unbalanced:
        notes.add(
            row.line,
            Code.UNBALANCED_QUOTES,
            "a quote was opened and never closed; the row was read without quotes",
        )


def _each_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
