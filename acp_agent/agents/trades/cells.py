"""From a row to a draft: every cell read, every doubt noted, nothing looked up.

Owns what makes a row a trade. Leaves reference data to `resolve` and what needs it, or other rows,
to `finish`.
"""

from dataclasses import dataclass
from decimal import Decimal

from acp_agent.agents.trades.model import Code, Notes, Side, json_number
from acp_agent.agents.trades.table.headers import Field
from acp_agent.agents.trades.table.reading import Row, Table
from acp_agent.agents.trades.values.currencies import Money, read_currency
from acp_agent.agents.trades.values.dates import FIRST_YEAR, LAST_YEAR, DateOrder, date_order, read_date
from acp_agent.agents.trades.values.numbers import (
    Number,
    NumberStyle,
    multiplier,
    number_style,
    read_fraction,
    read_number,
    size_problem,
)
from acp_agent.agents.trades.values.sides import read_side
from acp_agent.agents.trades.vocabulary import words

__all__ = ["Draft", "Habits", "habits_of", "read_draft", "row_quantity"]


@dataclass(frozen=True, slots=True)
class Habits:
    """What only whole columns tell about single cells."""

    quantity: NumberStyle
    price: NumberStyle
    dates: DateOrder
    signed: bool  # no column of sides, but quantities below zero: the sign is the side


@dataclass(frozen=True, slots=True)
class Draft:
    """A row that is a trade, as far as its own cells tell."""

    row: Row
    trade_id: str
    names: tuple[str, ...]
    side: Side
    quantity: Decimal
    price: Decimal
    column_money: Money | None
    price_money: Money | None
    currency_text: str
    trade_date: str | None
    counterparty: str | None
    instrument: str
    reference_currency: str | None = None


def habits_of(table: Table) -> Habits:
    """Look over the columns of a table once."""
    quantities = [row.value(Field.QUANTITY) for row in table.rows]
    prices = [row.value(Field.PRICE) for row in table.rows]
    quantity = number_style(quantities, prices, delimiter=table.delimiter)
    price = number_style(prices, quantities, delimiter=table.delimiter)
    dates = date_order(row.value(Field.TRADE_DATE) for row in table.rows)
    if dates is DateOrder.UNKNOWN:  # the file's other dates, of settlement say, were written by the same hand
        dates = date_order(cell for row in table.rows for cell in row.cells)
    read = (read_number(text, quantity) for text in quantities)
    signed = table.header.column(Field.SIDE) is None and any(number and number.value < 0 for number in read)
    return Habits(quantity, price, dates, signed)


def read_draft(row: Row, habits: Habits, notes: Notes) -> Draft | None:
    """Read a row; None, with every reason noted, when it is no trade."""
    quantity = _quantity(row, habits, notes)
    price = _price(row, habits, notes)
    side = _side(row, quantity, habits, notes)
    names = tuple(text for _, text in row.names())
    if not names:
        notes.add(
            row.line,
            Code.MISSING_INSTRUMENT,
            "the row names no instrument; no trade was made of it",
        )
    if quantity is None or price is None or side is None or not names:
        return None
    _note_status(row, notes)
    currency = row.value(Field.CURRENCY)
    return Draft(
        row=row,
        trade_id=row.value(Field.TRADE_ID),
        names=names,
        side=side,
        quantity=abs(quantity),
        price=price.value,
        column_money=read_currency(currency) if currency else None,
        price_money=price.money or _money_of_title(row),
        currency_text=currency,
        trade_date=_trade_date(row, habits, notes),
        counterparty=row.value(Field.COUNTERPARTY) or None,
        instrument=names[0],
    )


def row_quantity(text: str, style: NumberStyle) -> Decimal | None:
    """Read a quantity: a number without a percent sign."""
    number = read_number(text, style)
    return None if number is None or number.percent else number.value


def _quantity(row: Row, habits: Habits, notes: Notes) -> Decimal | None:
    text = _number_cell(row, Field.QUANTITY)
    if not text:
        notes.add(row.line, Code.MISSING_QUANTITY, "the row has no quantity; no trade was made of it")
        return None
    number = read_number(text, habits.quantity)
    if number is None or number.percent:
        problem = size_problem(text, habits.quantity) or "is no number"
        notes.add(
            row.line,
            Code.UNREADABLE_QUANTITY,
            f"the quantity {text!r} {problem}; no trade was made of the row",
        )
        return None
    value = number.value * _scale(row, notes)
    if not value:
        notes.add(
            row.line,
            Code.ZERO_QUANTITY,
            "the quantity is zero and must be positive; no trade was made of the row",
        )
        return None
    _note_number(row, "quantity", text, number, value, notes)
    return value


def _number_cell(row: Row, field: Field) -> str:
    """Return the cell; `NaN` was written for a number and is none, so it is not passed over as nothing."""
    written = row.written(field)
    return written if written.casefold() == "nan" else row.value(field)


def _scale(row: Row, notes: Notes) -> Decimal:
    column = row.header.column(Field.QUANTITY)
    scale = multiplier(column.unit.strip("' ")) if column else None
    if scale is None or column is None:
        return Decimal(1)
    notes.add(
        row.line,
        Code.SCALED_QUANTITY,
        f"the column {column.title!r} counts in units of {scale:,}; multiplied",
    )
    return scale


def _price(row: Row, habits: Habits, notes: Notes) -> Number | None:
    text = _number_cell(row, Field.PRICE)
    if not text:
        notes.add(row.line, Code.MISSING_PRICE, "the row has no price; no trade was made of it")
        return None
    number = read_number(text, habits.price)
    if number is None:
        fraction = read_fraction(text)
        number = None if fraction is None else Number(fraction)
    if number is None:
        problem = size_problem(text, habits.price) or "is no number"
        notes.add(
            row.line,
            Code.UNREADABLE_PRICE,
            f"the price {text!r} {problem}; no trade was made of the row",
        )
        return None
    if number.value <= 0:
        notes.add(row.line, Code.UNUSUAL_PRICE, f"the price {text!r} is not above zero; kept as written")
    _note_number(row, "price", text, number, number.value, notes)
    return number


def _note_number(row: Row, what: str, text: str, number: Number, value: Decimal, notes: Notes) -> None:
    if number.ambiguous:
        message = f"the {what} {text!r} may be a thousand or a decimal fraction; read as {json_number(value)}"
        notes.add(row.line, Code.AMBIGUOUS_NUMBER, message)
    if Decimal(str(json_number(value))) != value:
        message = f"the {what} {text!r} has more digits than a JSON number keeps; rounded to {json_number(value)}"
        notes.add(row.line, Code.ROUNDED_NUMBER, message)


def _side(row: Row, quantity: Decimal | None, habits: Habits, notes: Notes) -> Side | None:
    text = row.value(Field.SIDE)
    negative = quantity is not None and quantity < 0
    if text:
        side = read_side(text)
        if side is None:
            notes.add(
                row.line,
                Code.UNKNOWN_SIDE,
                f"the side {text!r} is neither buy nor sell; no trade was made of the row",
            )
        elif negative and side == "buy":
            notes.add(
                row.line,
                Code.CONFLICTING_SIDE,
                f"the side is {text!r} but the quantity is negative; kept as a buy",
            )
        return side
    if negative or (habits.signed and quantity is not None):
        taken: Side = "sell" if negative else "buy"
        notes.add(
            row.line,
            Code.SIDE_FROM_SIGN,
            f"the row names no side; {taken} was taken from the sign of the quantity",
        )
        return taken
    notes.add(row.line, Code.MISSING_SIDE, "the row does not say buy or sell; no trade was made of it")
    return None


def _trade_date(row: Row, habits: Habits, notes: Notes) -> str | None:
    text = row.value(Field.TRADE_DATE)
    if not text:
        if row.header.column(Field.TRADE_DATE):
            notes.add(row.line, Code.MISSING_DATE, "the row has no trade date; it is null")
        return None
    reading = read_date(text, habits.dates)
    if reading.problem == "serial":
        notes.add(
            row.line,
            Code.SERIAL_DATE,
            f"the trade date {text!r} was read as a spreadsheet's day number, {reading.iso}",
        )
    elif reading.problem == "ambiguous":
        message = f"the trade date {text!r} may be day or month first and the column does not tell; kept as written"
        notes.add(row.line, Code.AMBIGUOUS_DATE, message)
    elif reading.iso is None:
        implausible = f"is out of the plausible range, {FIRST_YEAR} to {LAST_YEAR}"
        problem = implausible if reading.problem == "implausible" else "is no date"
        notes.add(row.line, Code.UNREADABLE_DATE, f"the trade date {text!r} {problem}; kept as written")
    return reading.iso or text


def _money_of_title(row: Row) -> Money | None:
    column = row.header.column(Field.PRICE)
    return read_currency(column.unit) if column and column.unit else None


def _note_status(row: Row, notes: Notes) -> None:
    status = row.value(Field.STATUS)
    if status.casefold().startswith(tuple(words("rows", "dead"))):
        notes.add(
            row.line,
            Code.STATUS_NOT_FINAL,
            f"the row's status is {status!r}; it was kept as a trade",
        )
