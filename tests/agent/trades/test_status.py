"""Rows that cancel or change another row of the same trade."""

import pytest

from acp_agent.agents.trades.extract import Extraction, extract

HEADER = "Trade ID,Trade Date,Instrument,Side,Quantity,Price,Currency,Counterparty,Status\n"
NEW = "2,2026-02-03,MSFT,BUY,100,410,USD,Citi,NEW\n"


def after_new(row: str) -> Extraction:
    """Extract a row that follows a new trade; it is row 3."""
    return extract((HEADER + NEW + row).encode())


def test_a_cancellation_of_a_trade_is_kept_and_is_no_exact_repetition() -> None:
    """A cancellation of a trade is kept and is no exact repetition."""
    found = after_new(NEW.replace("NEW", "CANCEL"))
    assert [trade.source_row for trade in found.trades] == [2, 3]
    assert [(warning.row, warning.code) for warning in found.warnings] == [
        (3, "status_not_final"),
        (3, "conflicting_id"),
    ]
    assert "with another status; both are kept" in found.warnings[1].message


def test_a_repetition_with_its_status_in_other_letters_counts_once() -> None:
    """A repetition with its status in other letters counts once."""
    found = after_new(NEW.replace("NEW", "New"))
    assert len(found.trades) == 1
    assert [warning.code for warning in found.warnings] == ["duplicate_trade"]


@pytest.mark.parametrize("status", ["AMEND", "Amended", "CORRECTED", "Correction"])
def test_a_status_that_changes_another_row_is_mentioned(status: str) -> None:
    """A status that changes another row is mentioned."""
    found = after_new(NEW.replace("NEW", status).replace("410", "411"))
    assert [warning.code for warning in found.warnings] == ["status_not_final", "conflicting_id"]
    assert repr(status) in found.warnings[0].message
    assert "another price;" in found.warnings[1].message
