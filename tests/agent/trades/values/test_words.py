import pytest

from acp_agent.agents.trades.table.headers import Field, read_header
from acp_agent.agents.trades.values.currencies import read_currency
from acp_agent.agents.trades.values.sides import read_side


@pytest.mark.parametrize(
    "text",
    ["BUY", "b", "Bot", "bought", "purchase", "Kauf", "K", "Ankauf", "Achat", "A", "Compra", "Long", "K\u00f6p",
     "buy to cover", "BUY LIMIT", "Acheté"],
)  # fmt: skip
def test_a_word_for_buying_is_a_buy(text: str) -> None:
    """A word for buying is a buy."""
    assert read_side(text) == "buy"


@pytest.mark.parametrize(
    "text",
    ["SELL", "s", "SLD", "sold", "sale", "Verkauf", "VK", "V", "Vente", "Venta", "short", "S\u00e4lj", "sell short"],
)
def test_a_word_for_selling_is_a_sell(text: str) -> None:
    """A word for selling is a sell."""
    assert read_side(text) == "sell"


@pytest.mark.parametrize("text", ["", "B/S", "buy/sell", "hold", "CXL BUY", "1", "byu", "Storno Verkauf"])
def test_a_word_for_neither_or_both_is_no_side(text: str) -> None:
    """A word for neither or both is no side."""
    assert read_side(text) is None


@pytest.mark.parametrize(
    ("text", "code", "divisor"),
    [("usd", "USD", 1), ("Euro", "EUR", 1), ("€", "EUR", 1), ("US$", "USD", 1), ("GBP", "GBP", 1), ("GBp", "GBP", 100),
     ("GBX", "GBP", 100), ("ZAc", "ZAR", 100), ("SFr.", "CHF", 1), ("US  Dollar", "USD", 1)],
)  # fmt: skip
def test_a_currency_is_read_to_its_code(text: str, code: str, divisor: int) -> None:
    """A currency is read to its code."""
    money = read_currency(text)
    assert money is not None
    assert (money.code, int(money.divisor)) == (code, divisor)


def test_a_symbol_of_several_currencies_names_them_all() -> None:
    """A symbol of several currencies names them all."""
    money = read_currency("¥")
    assert money is not None
    assert money.code is None
    assert money.candidates == ("JPY", "CNY")


def test_an_unknown_code_is_no_currency() -> None:
    """An unknown code is no currency."""
    assert read_currency("XBT") is None


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("Trade_ID", Field.TRADE_ID), ("TradeRef", Field.TRADE_ID), ("Deal ID", Field.TRADE_ID), ("#", Field.TRADE_ID),
        ("Geschäfts-Nr.", Field.TRADE_ID), ("ISIN Code", Field.ISIN), ("RIC", Field.TICKER), ("Symbol", Field.TICKER),
        ("Security", Field.INSTRUMENT), ("Libellé", Field.NAME), ("B/S", Field.SIDE),
        ("BUY_SELL_IND", Field.SIDE), ("Flag: buy or sell?", Field.SIDE), ("Dev.", Field.CURRENCY),
        ("Kauf/Verkauf", Field.SIDE),
        ("Qty.", Field.QUANTITY), ("Menge", Field.QUANTITY), ("Nominal", Field.QUANTITY), ("Shares", Field.QUANTITY),
        ("Filled Qty", Field.QUANTITY), ("Px", Field.PRICE), ("Preis", Field.PRICE), ("Price (USD)", Field.PRICE),
        ("Deal Px Final", Field.PRICE), ("CCY", Field.CURRENCY), ("Whg", Field.CURRENCY), ("Währung", Field.CURRENCY),
        ("Price currency code", Field.CURRENCY), ("T/D", Field.TRADE_DATE), ("Handelstag", Field.TRADE_DATE),
        ("Cpty", Field.COUNTERPARTY), ("Broker", Field.COUNTERPARTY), ("Gegenpartei", Field.COUNTERPARTY),
        ("Settlement Date", Field.IGNORED), ("Valutadatum", Field.IGNORED),
    ],
)  # fmt: skip
def test_a_header_name_tells_its_column(name: str, field: Field) -> None:
    """A header name tells its column."""
    (column,) = read_header(1, [name]).columns
    assert column.field is field


@pytest.mark.parametrize("name", ["", "x" * 80, "Fee Currency", "Hello World", "Trade Date / Price"])
def test_another_name_tells_no_column(name: str) -> None:
    """Another name tells no column."""
    assert read_header(1, [name]).columns == ()


def test_the_surest_and_leftmost_column_is_used() -> None:
    """The surest and leftmost column is used."""
    header = read_header(1, ["Date", "Trade Date", "Handelstag"])
    used = header.column(Field.TRADE_DATE)
    assert used is not None
    assert used.title == "Trade Date"
    assert [column.title for column in header.rivals(Field.TRADE_DATE)] == ["Handelstag"]
