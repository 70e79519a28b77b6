from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.agents.trades.values.numbers import NumberStyle, number_style, read_fraction, read_number

PLAIN = NumberStyle()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.50", "1234.50"),
        ("1.234,50", "1234.50"),
        ("1 234,50", "1234.50"),
        ("1\u202f234,50", "1234.50"),
        ("1\u00a0234\u00a0567", "1234567"),
        ("1'234.50", "1234.50"),
        ("1\u2019234.50", "1234.50"),
        ("1_000", "1000"),
        ("1.234.567", "1234567"),
        ("1,00,000", "100000"),
        ("(1,234)", "-1234"),
        ("1234-", "-1234"),
        ("\u22125", "-5"),
        ("+100", "100"),
        ("1.5k", "1500"),
        ("2m", "2000000"),
        ("1,5 Mio.", "1500000"),
        ("3bn", "3000000000"),
        ("1e6", "1000000"),
        ("1.5E+06", "1500000"),
        (".5", "0.5"),
        ("1.", "1"),
        ("12.-", "12"),
        ("1.000,-", "1000"),
        ("0.125", "0.125"),
        ("100 shares", "100"),
        ("@ 99.5", "99.5"),
        ("-$12.50", "-12.50"),
        ("$(12.50)", "-12.50"),
    ],
)
def test_a_number_is_read_as_it_is_meant(text: str, value: str) -> None:
    """A number is read as it is meant."""
    number = read_number(text, PLAIN)
    assert number is not None
    assert number.value == Decimal(value)
    assert not number.ambiguous


@pytest.mark.parametrize(
    ("text", "code", "divisor"),
    [
        ("€12.50", "EUR", 1),
        ("USD 99", "USD", 1),
        ("99 GBp", "GBP", 100),
        ("99p", "GBP", 100),
        ("HK$ 350.20", "HKD", 1),
        ("Fr. 12.50", "CHF", 1),
        ("5mEUR", "EUR", 1),
    ],
)
def test_a_currency_beside_a_number_is_read_with_it(text: str, code: str, divisor: int) -> None:
    """A currency beside a number is read with it."""
    number = read_number(text, PLAIN)
    assert number is not None
    assert number.money is not None
    assert (number.money.code, int(number.money.divisor)) == (code, divisor)


def test_a_percent_sign_is_told() -> None:
    """A percent sign is told."""
    number = read_number("98.75%", PLAIN)
    assert number is not None
    assert number.percent


@pytest.mark.parametrize(
    "text",
    ["", "-", "abc", "ca. 100", "--5", "(-5)", "-5-", "1,234,56", "12 34", "1e400", "10:30", "5 apples", "1k 2",
     "USD 5 EUR", "1 k m", "9" * 40, "1.2.3,4", "1,234.5.6", "0,123,456", "1'23"],
)  # fmt: skip
def test_what_is_no_number_is_not_read_as_one(text: str) -> None:
    """What is no number is not read as one."""
    assert read_number(text, PLAIN) is None


@pytest.mark.parametrize(
    ("text", "column", "others", "delimiter", "value", "ambiguous"),
    [
        ("1.234", ["1.234", "98,50"], [], ";", "1234", False),
        ("1.234", ["1.234", "98.50"], [], ";", "1.234", False),
        ("1.234", ["1.234", "98.50", "98,5"], [], ";", "1.234", True),
        ("1.234", ["1.234"], ["98,50"], ";", "1234", False),
        ("1.234", ["1.234"], ["98.50"], ";", "1.234", True),
        ("1.234", ["1.234"], ["98.50"], ",", "1.234", False),
        ("1.234", ["1.234"], [], ",", "1.234", False),
        ("1.234", ["1.234"], [], "\t", "1.234", True),
        ("1,234", ["1,234"], [], ",", "1234", False),
        ("1,234", ["1,234"], [], "\t", "1234", False),
        ("1,234", ["1,234"], [], ";", "1234", True),
        ("1,234", ["1,234"], ["98,5"], ";", "1.234", True),
        ("1,234", ["1,234", "1 000,5"], [], ";", "1.234", False),
        ("1.234", ["1.234"], ["98.5", "98,5"], "\t", "1.234", True),
    ],
)
def test_the_column_tells_what_a_lone_separator_means(
    text: str, column: list[str], others: list[str], delimiter: str, value: str, *, ambiguous: bool
) -> None:
    """The column tells what a lone separator means."""
    number = read_number(text, number_style(column, others, delimiter=delimiter))
    assert number is not None
    assert (number.value, number.ambiguous) == (Decimal(value), ambiguous)


@pytest.mark.parametrize(("text", "value"), [("99 1/2", "99.5"), ("98\u00bd", "98.5"), ("3/8", "0.375")])
def test_a_fraction_is_read(text: str, value: str) -> None:
    """A fraction is read."""
    assert read_fraction(text) == Decimal(value)


@pytest.mark.parametrize("text", ["99", "1/3", "5/4", "99 3/2", "a 1/2"])
def test_what_is_no_fraction_of_a_price_is_not_read(text: str) -> None:
    """What is no fraction of a price is not read."""
    assert read_fraction(text) is None


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2, allow_nan=False), st.sampled_from(["us", "de", "ch"]))
def test_a_formatted_number_comes_back(value: Decimal, style: str) -> None:
    """A formatted number comes back."""
    us = f"{value:,.2f}"
    swapped = us.replace(",", "x").replace(".", ",").replace("x", ".")
    text = {"us": us, "de": swapped, "ch": us.replace(",", "'")}[style]
    number = read_number(text, PLAIN)
    assert number is not None
    assert number.value == value


@given(st.text(max_size=30))
def test_no_text_breaks_the_reader(text: str) -> None:
    """No text breaks the reader."""
    style = number_style([text], [text], delimiter=";")
    number = read_number(text, style)
    assert number is None or number.value.is_finite()
    read_fraction(text)
