from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.agents.trades.extract import Extraction, UnusableInput, Work, extract
from acp_agent.agents.trades.model import Code, Notes, json_number

HEADER = "Trade ID,Instrument,Side,Quantity,Price,Currency,Trade Date,Counterparty\n"
GOOD = "T1,AAPL,buy,100,150.5,USD,2026-01-05,Citi"


def codes(extraction: Extraction) -> list[tuple[int, str]]:
    """Return the warnings as pairs of row and code."""
    return [(warning.row, warning.code.value) for warning in extraction.warnings]


def rows(*lines: str) -> Extraction:
    """Extract the lines under the usual header; the first is row 2."""
    return extract((HEADER + "\n".join(lines)).encode())


def test_a_clean_row_is_a_trade_without_a_warning() -> None:
    """A clean row is a trade without a warning."""
    found = rows(GOOD)
    assert found.warnings == ()
    assert found.as_dict()["trades"] == [
        {
            "trade_id": "T1",
            "instrument": "AAPL",
            "side": "buy",
            "quantity": 100,
            "price": 150.5,
            "currency": "USD",
            "trade_date": "2026-01-05",
            "counterparty": "Citi",
            "source_row": 2,
        }
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("T1,AAPL,buy,,150.5,USD,2026-01-05,Citi", "missing_quantity"),
        ("T1,AAPL,buy,100,n/a,USD,2026-01-05,Citi", "missing_price"),
        ("T1,AAPL,,100,150.5,USD,2026-01-05,Citi", "missing_side"),
        ("T1,,buy,100,150.5,USD,2026-01-05,Citi", "missing_instrument"),
        ("T1,AAPL,buy,many,150.5,USD,2026-01-05,Citi", "unreadable_quantity"),
        ("T1,AAPL,buy,5%,150.5,USD,2026-01-05,Citi", "unreadable_quantity"),
        ("T1,AAPL,buy,100,market,USD,2026-01-05,Citi", "unreadable_price"),
        ("T1,AAPL,hold,100,150.5,USD,2026-01-05,Citi", "unknown_side"),
        ("T1,AAPL,buy,0,150.5,USD,2026-01-05,Citi", "zero_quantity"),
        ("T1,AAPL,buy,100,150.5,USD,2026-01-05,Citi,what,is,this,all", "repaired_fields"),
        ("T1,AAPL,New,York,buy,100,150.5,USD,2026-01-05,Citi", "too_many_fields"),
        ("Total,,,100,,,,", "not_a_trade"),
        ("End of report", "not_a_trade"),
    ],
)
def test_a_row_that_is_no_trade_is_a_warning_that_says_why(line: str, code: str) -> None:
    """A row that is no trade is a warning that says why."""
    found = rows(line, "T2" + GOOD[2:])
    assert codes(found) == [(2, code)]
    assert [trade.trade_id for trade in found.trades][-1] == "T2"
    assert len(found.trades) == (2 if code == "repaired_fields" else 1)


@pytest.mark.parametrize(
    ("line", "field", "value", "code"),
    [
        ("T1,XYZ Corp,buy,100,150.5,USD,2026-01-05,Citi", "instrument", "XYZ Corp", "unknown_instrument"),
        ("T1,Alphabet,buy,100,150.5,USD,2026-01-05,Citi", "instrument", "Alphabet", "ambiguous_instrument"),
        ("T1,AAPL,buy,100,150.5,USD,2026-01-05,Nobody Ltd", "counterparty", "Nobody Ltd", "unknown_counterparty"),
        ("T1,AAPL,buy,100,150.5,USD,2026-01-05,Morgan", "counterparty", "Morgan", "ambiguous_counterparty"),
        ("T1,AAPL,buy,100,150.5,USD,2026-01-05,", "counterparty", None, "missing_counterparty"),
        ("T1,AAPL,buy,100,150.5,QQQ,2026-01-05,Citi", "currency", "QQQ", "unknown_currency"),
        ("T1,AAPL,buy,100,150.5,kr,2026-01-05,Citi", "currency", "kr", "ambiguous_currency"),
        ("T1,AAPL,buy,100,150.5,,2026-01-05,Citi", "currency", "USD", "assumed_currency"),
        ("T1,AAPL,buy,100,$150.5,,2026-01-05,Citi", "currency", "USD", "assumed_currency"),
        ("T1,SHOP,buy,100,150.5,$,2026-01-05,Citi", "currency", "CAD", "assumed_currency"),
        ("T1,AAPL,buy,100,€150.5,USD,2026-01-05,Citi", "currency", "USD", "conflicting_currency"),
        ("T1,AAPL,buy,100,¥150.5,$,2026-01-05,Citi", "currency", "USD", "conflicting_currency"),
        ("T1,AAPL,buy,100,150.5,USD,soon,Citi", "trade_date", "soon", "unreadable_date"),
        ("T1,AAPL,buy,100,150.5,USD,03/04/2026,Citi", "trade_date", "03/04/2026", "ambiguous_date"),
        ("T1,AAPL,buy,100,150.5,USD,,Citi", "trade_date", None, "missing_date"),
        ("T1,AAPL,buy,100,150.5,USD,46027,Citi", "trade_date", "2026-01-05", "serial_date"),
        (",AAPL,buy,100,150.5,USD,2026-01-05,Citi", "trade_id", "row-2", "generated_id"),
        ("T1,AAPL,buy,-100,150.5,USD,2026-01-05,Citi", "side", "buy", "conflicting_side"),
        ("T1,AAPL,,-100,150.5,USD,2026-01-05,Citi", "side", "sell", "side_from_sign"),
        ("T1,AAPL,buy,100,-150.5,USD,2026-01-05,Citi", "price", Decimal("-150.5"), "unusual_price"),
        ("T1,AAPL,buy,100,1.00000000000000000001,USD,2026-01-05,Citi", "quantity", Decimal(100), "rounded_number"),
        ("T1,VOD,buy,100,71.2p,GBP,2026-01-05,Citi", "price", Decimal("0.712"), "converted_price"),
        ("T1,VOD,buy,100,71.2,GBX,2026-01-05,Citi", "currency", "GBP", "converted_price"),
        ("T1,AAPL,buy,100,150.5,USD", "counterparty", None, "too_few_fields"),
    ],
)
def test_a_doubtful_value_is_a_trade_with_a_warning(line: str, field: str, value: object, code: str) -> None:
    """A doubtful value is a trade with a warning."""
    found = rows(line)
    assert getattr(found.trades[0], field) == value
    assert (2, code) in codes(found)


def test_an_unknown_instrument_without_a_currency_has_none() -> None:
    """An unknown instrument without a currency has none."""
    found = rows("T1,XYZ,buy,100,150.5,,2026-01-05,Citi")
    assert found.trades[0].currency is None
    assert codes(found) == [(2, "unknown_instrument"), (2, "missing_currency")]


@pytest.mark.parametrize("price", ["$150.5", "USD 150.5", "150.5"])
def test_a_price_that_agrees_with_its_currency_is_no_warning(price: str) -> None:
    """A price that agrees with its currency is no warning."""
    assert rows(f"T1,AAPL,buy,100,{price},USD,2026-01-05,Citi").warnings == ()


def test_an_exact_repetition_counts_once_however_it_is_spelled() -> None:
    """An exact repetition counts once however it is spelled."""
    found = rows(GOOD, "T1,Apple Inc.,BOT,100.0,$150.50,usd,5 Jan 2026,Citibank N.A.")
    assert [trade.source_row for trade in found.trades] == [2]
    assert codes(found) == [(3, "duplicate_trade")]


def test_one_id_with_two_contents_keeps_both() -> None:
    """One id with two contents keeps both."""
    found = rows(GOOD, "T1,AAPL,buy,101,150.5,USD,2026-01-05,Citi")
    assert [trade.quantity for trade in found.trades] == [100, 101]
    assert codes(found) == [(3, "conflicting_id")]
    assert "quantity" in found.warnings[0].message


def test_equal_rows_without_ids_count_once_unless_another_cell_tells_them_apart() -> None:
    """Equal rows without ids count once unless another cell tells them apart."""
    found = extract(
        b"Ticker,Side,Qty,Price,Ccy,Time\nAAPL,B,1,5,USD,10:00\nAAPL,B,1,5,USD,10:01\nAAPL,B,1,5,USD,10:01\n"
    )
    assert [trade.trade_id for trade in found.trades] == ["row-2", "row-3"]
    assert (4, "duplicate_trade") in codes(found)


def test_the_sign_is_the_side_where_no_column_names_one() -> None:
    """The sign is the side where no column names one."""
    found = extract(b"Id,Ticker,Qty,Price,Ccy\n1,AAPL,-5,10,USD\n2,AAPL,5,10,USD\n")
    assert [trade.side for trade in found.trades] == ["sell", "buy"]


def test_a_file_without_sides_and_signs_gives_no_trades() -> None:
    """A file without sides and signs gives no trades."""
    found = extract(b"Id,Ticker,Qty,Price,Ccy\n1,AAPL,5,10,USD\n")
    assert found.trades == ()
    assert (2, "missing_side") in codes(found)


def test_empty_cells_beyond_the_header_are_no_warning() -> None:
    """Empty cells beyond the header are no warning."""
    assert rows(GOOD + ",,,").warnings == ()


@pytest.mark.parametrize(
    ("header", "quantity", "currency", "expected"),
    [
        ("Qty (000s)", 10000, "USD", "scaled_quantity"),
        ("Qty in Mio.", 10000000, "USD", "scaled_quantity"),
        ("Qty (shares)", 10, "USD", None),
    ],
)
def test_a_unit_in_the_name_of_the_quantity_counts(
    header: str, quantity: int, currency: str, expected: str | None
) -> None:
    """A unit in the name of the quantity counts."""
    found = extract(f"Id,Ticker,Side,{header},Price (USD)\n1,SAP,B,10,5\n".encode())
    assert (found.trades[0].quantity, found.trades[0].currency) == (Decimal(quantity), currency)
    assert [code for row, code in codes(found) if row == 2] == ([expected] if expected else [])


def test_a_number_that_may_be_two_is_told() -> None:
    """A number that may be two is told."""
    found = extract(b"Id;Ticker;Side;Qty;Price;Ccy\n1;AAPL;B;10;1.234;USD\n")
    assert found.trades[0].price == Decimal("1.234")
    assert (2, "ambiguous_number") in codes(found)


def test_a_price_in_fractions_is_read() -> None:
    """A price in fractions is read."""
    assert rows("T1,UST10Y-34,buy,100,98 1/2,USD,2026-01-05,Citi").trades[0].price == Decimal("98.5")


def test_a_cancelled_trade_is_kept_with_a_warning() -> None:
    """A cancelled trade is kept with a warning."""
    found = extract(b"Id,Ticker,Side,Qty,Price,Ccy,Status\n1,AAPL,B,10,5,USD,Cancelled\n2,AAPL,B,10,5,USD,Done\n")
    assert len(found.trades) == 2
    assert [pair for pair in codes(found) if pair[0] > 1] == [(2, "status_not_final")]


def test_a_second_column_of_the_same_name_is_told_and_not_read() -> None:
    """A second column of the same name is told and not read."""
    found = extract(b"Id,Ticker,Side,Qty,Price,Price\n1,AAPL,B,10,5,6\n")
    assert found.trades[0].price == 5
    assert (1, "duplicate_column") in codes(found)


def test_a_file_without_a_column_of_instruments_says_so() -> None:
    """A file without a column of instruments says so."""
    found = extract(b"Id,Side,Qty,Price,Ccy\n1,B,10,5,USD\n")
    assert found.trades == ()
    assert (1, "missing_column") in codes(found)
    assert (2, "missing_instrument") in codes(found)


def test_the_settlement_dates_tell_the_order_where_the_trade_dates_do_not() -> None:
    """The settlement dates tell the order where the trade dates do not."""
    found = extract(
        b"Id,Trade Date,Settlement Date,Ticker,Side,Qty,Price\n1,11/02/2026,13/02/2026,AAPL,B,1,5\n"
        b"2,03/04/2026,07/04/2026,AAPL,B,1,5\n"
    )
    assert [trade.trade_date for trade in found.trades] == ["2026-02-11", "2026-04-03"]


def test_the_steps_tell_what_stays_unresolved() -> None:
    """The steps tell what stays unresolved."""
    work = Work.parse((HEADER + GOOD + "\n" + GOOD.replace("AAPL", "XYZ").replace("Citi", "Nobody")).encode())
    assert work.resolve_instruments() == ["XYZ"]
    assert work.resolve_counterparties() == ["Nobody"]
    assert len(work.finish().trades) == 2


def test_the_same_bytes_give_the_same_answer() -> None:
    """The same bytes give the same answer."""
    content = (HEADER + GOOD + "\n,Alphabet,b,1,2,$,03/04/2026,Morgan").encode()
    assert extract(content) == extract(content)


def test_warnings_come_by_row_in_the_order_they_were_found() -> None:
    """Warnings come by row in the order they were found."""
    notes = Notes()
    notes.add(3, Code.NOT_A_TRADE, "c")
    notes.add(1, Code.NO_ROWS, "a")
    notes.add(3, Code.MISSING_PRICE, "d")
    assert [warning.message for warning in notes.sorted()] == ["a", "c", "d"]


@pytest.mark.parametrize(("value", "number"), [("100", 100), ("1E+3", 1000), ("1234.50", 1234.5), ("0.1", 0.1)])
def test_a_whole_number_is_an_int_in_json_and_another_a_float(value: str, number: float) -> None:
    """A whole number is an int in json and another a float."""
    found = json_number(Decimal(value))
    assert found == number
    assert type(found) is type(number)


CELLS = st.sampled_from(["T1", "AAPL", "", "buy", "1,000", "1.000,5", "-", '"', "'", "$5", "03/04/2026", "GS", "Total"])


@given(st.lists(st.lists(CELLS, max_size=10), max_size=6), st.sampled_from([";", ",", "\t", "|"]))
def test_no_mixture_of_cells_breaks_the_extraction(table: list[list[str]], delimiter: str) -> None:
    """No mixture of cells breaks the extraction."""
    lines = [HEADER.strip().replace(",", delimiter), *(delimiter.join(row) for row in table)]
    found = extract("\n".join(lines).encode())
    assert all(trade.quantity > 0 and trade.side in ("buy", "sell") for trade in found.trades)


@given(st.binary(max_size=400) | st.text(max_size=200).map(lambda text: (HEADER + text).encode("utf-8", "replace")))
def test_any_bytes_give_an_extraction_or_a_reasoned_refusal(content: bytes) -> None:
    """Any bytes give an extraction or a reasoned refusal."""
    try:
        reason, found = "", extract(content).warnings
    except UnusableInput as error:
        reason, found = error.reason, ()
    assert reason in ("", "empty", "binary", "encoding", "no_table")
    assert all(warning.message for warning in found)
