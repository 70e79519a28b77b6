"""What a warning says of a cell that was not read."""

import pytest

from acp_agent.agents.trades.extract import extract

HEADER = "Trade ID,Instrument,Side,Quantity,Price,Currency,Trade Date,Counterparty\n"


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("T1,AAPL,buy,NaN,5,USD,2026-01-05,Citi", "unreadable_quantity", "'NaN' is no number"),
        ("T1,AAPL,buy,5,nan,USD,2026-01-05,Citi", "unreadable_price", "'nan' is no number"),
        ("T1,AAPL,buy,1e30,5,USD,2026-01-05,Citi", "unreadable_quantity", "is too large"),
        ("T1,AAPL,buy,5,1e30,USD,2026-01-05,Citi", "unreadable_price", "is too large"),
        ("T1,AAPL,buy,5,1e-30,USD,2026-01-05,Citi", "unreadable_price", "is too small"),
        ("T1,AAPL,buy,5,5,USD,1926-02-03,Citi", "unreadable_date", "is out of the plausible range, 1950 to 2100"),
        ("T1,AAPL,buy,5,5,USD,soon,Citi", "unreadable_date", "'soon' is no date"),
        ("T1,=IBM(),buy,5,5,USD,2026-01-05,Citi", "unknown_instrument", "=IBM()"),
    ],
)
def test_a_warning_says_why_a_cell_was_not_read(line: str, code: str, words: str) -> None:
    """A warning says why a cell was not read."""
    (warning,) = extract((HEADER + line).encode()).warnings
    assert warning.code == code
    assert words in warning.message
