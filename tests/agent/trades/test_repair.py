from decimal import Decimal

import pytest

from acp_agent.agents.trades.extract import Extraction, extract

HEADER = "Trade ID,Instrument,Side,Quantity,Price,Currency,Trade Date,Counterparty\n"


def codes(extraction: Extraction) -> list[tuple[int, str]]:
    """Return the warnings as pairs of row and code."""
    return [(warning.row, warning.code.value) for warning in extraction.warnings]


def rows(*lines: str) -> Extraction:
    """Extract the lines under the usual header; the first is row 2."""
    return extract((HEADER + "\n".join(lines)).encode())


@pytest.mark.parametrize(
    ("line", "quantity", "price", "instrument"),
    [
        ("T1,AAPL,buy,1,000,150.5,USD,2026-01-05,Citi", 1000, "150.5", "AAPL"),
        ("T1,AAPL,buy,1,000,000,150.5,USD,2026-01-05,Citi", 1000000, "150.5", "AAPL"),
        ("T1,AAPL,buy,100,1,150.5,USD,2026-01-05,Citi", 100, "1150.5", "AAPL"),
        ("T1,Apple, Inc.,buy,100,150.5,USD,2026-01-05,Citi", 100, "150.5", "AAPL"),
        ("T1,AAPL,buy,100,150.5,USD,2026-01-05,Citi,remark", 100, "150.5", "AAPL"),
    ],
)
def test_a_row_that_a_comma_cut_is_mended_if_only_one_way_fits(
    line: str, quantity: int, price: str, instrument: str
) -> None:
    """A row that a comma cut is mended if only one way fits."""
    found = rows(line)
    trade = found.trades[0]
    assert (trade.quantity, trade.price, trade.instrument) == (Decimal(quantity), Decimal(price), instrument)
    assert codes(found) == [(2, "repaired_fields")]


def test_a_row_that_could_be_mended_in_two_ways_is_left_out() -> None:
    """A row that could be mended in two ways is left out."""
    found = extract(b"Id,Ticker,Side,Qty,Price\n1,AAPL,B,1,500,150.25\n")
    assert found.trades == ()
    assert (2, "too_many_fields") in codes(found)


def test_a_short_row_of_aligned_columns_is_left_out_because_its_gap_cannot_be_placed() -> None:
    """A short row of aligned columns is left out because its gap cannot be placed."""
    found = extract(b"Id  Ticker  Side  Qty  Price\n1   AAPL    B     5    6\n2   AAPL    B     5\n")
    assert [trade.trade_id for trade in found.trades] == ["1"]
    assert (3, "too_few_fields") in codes(found)


def test_decimal_commas_that_cut_a_row_are_mended_where_the_file_has_them() -> None:
    """Decimal commas that cut a row are mended where the file has them."""
    found = extract('Id,Ticker,Side,Qty,Price,Ccy\n1,SAP,B,10,"5,25",EUR\n2,SAP,B,10,€5,75,EUR\n'.encode())
    assert [trade.price for trade in found.trades] == [Decimal("5.25"), Decimal("5.75")]
    assert (3, "repaired_fields") in codes(found)
