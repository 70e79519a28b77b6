"""What an extraction is made of: trades, warnings, their closed set of codes, and the one error.

Owns the shapes and their JSON form. Leaves reading, resolving and judging rows to the other
modules.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Literal

__all__ = [
    "Code",
    "Extraction",
    "Notes",
    "Side",
    "Trade",
    "TradeWarning",
    "UnusableInput",
    "json_number",
]


Side = Literal["buy", "sell"]


class Code(StrEnum):
    """Every code a warning may carry. The set is closed; it only ever grows."""

    # The row gave no trade.
    MISSING_QUANTITY = "missing_quantity"
    MISSING_PRICE = "missing_price"
    MISSING_SIDE = "missing_side"
    MISSING_INSTRUMENT = "missing_instrument"
    UNREADABLE_QUANTITY = "unreadable_quantity"
    UNREADABLE_PRICE = "unreadable_price"
    UNKNOWN_SIDE = "unknown_side"
    ZERO_QUANTITY = "zero_quantity"
    TOO_MANY_FIELDS = "too_many_fields"
    DUPLICATE_TRADE = "duplicate_trade"
    NOT_A_TRADE = "not_a_trade"
    # The trade is kept and a value stays as it was written (or is null where nothing was written).
    UNKNOWN_INSTRUMENT = "unknown_instrument"
    AMBIGUOUS_INSTRUMENT = "ambiguous_instrument"
    CONFLICTING_INSTRUMENT = "conflicting_instrument"
    INVALID_ISIN = "invalid_isin"
    UNKNOWN_COUNTERPARTY = "unknown_counterparty"
    AMBIGUOUS_COUNTERPARTY = "ambiguous_counterparty"
    MISSING_COUNTERPARTY = "missing_counterparty"
    UNKNOWN_CURRENCY = "unknown_currency"
    AMBIGUOUS_CURRENCY = "ambiguous_currency"
    MISSING_CURRENCY = "missing_currency"
    UNREADABLE_DATE = "unreadable_date"
    AMBIGUOUS_DATE = "ambiguous_date"
    MISSING_DATE = "missing_date"
    # The trade is kept and a value was chosen, derived or converted.
    GENERATED_ID = "generated_id"
    CONFLICTING_ID = "conflicting_id"
    SIDE_FROM_SIGN = "side_from_sign"
    CONFLICTING_SIDE = "conflicting_side"
    AMBIGUOUS_NUMBER = "ambiguous_number"
    ROUNDED_NUMBER = "rounded_number"
    SCALED_QUANTITY = "scaled_quantity"
    UNUSUAL_PRICE = "unusual_price"
    CONVERTED_PRICE = "converted_price"
    ASSUMED_CURRENCY = "assumed_currency"
    CONFLICTING_CURRENCY = "conflicting_currency"
    SERIAL_DATE = "serial_date"
    STATUS_NOT_FINAL = "status_not_final"
    REPAIRED_FIELDS = "repaired_fields"
    TOO_FEW_FIELDS = "too_few_fields"
    UNBALANCED_QUOTES = "unbalanced_quotes"
    # The file as a whole.
    MISSING_COLUMN = "missing_column"
    DUPLICATE_COLUMN = "duplicate_column"
    NO_ROWS = "no_rows"
    # The output.
    WRITE_REJECTED = "write_rejected"
    WRITE_FAILED = "write_failed"


class UnusableInput(ValueError):
    """The content holds no table of trades at all; nothing can be extracted.

    `reason` is one word of `empty`, `binary`, `encoding`, `no_table`; the message says what failed, the rule and what
    to do. Correct the file and try again.
    """

    def __init__(self, reason: str, message: str) -> None:
        """Keep the machine's word beside the person's sentence."""
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class TradeWarning:
    """One thing a reader should look at.

    `row` is the 1-based physical line where the record starts.
    """

    row: int
    code: Code
    message: str

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"row": self.row, "code": self.code.value, "message": self.message}


@dataclass(slots=True)
class Notes:
    """Collects the warnings of one extraction in the order they are found."""

    found: list[TradeWarning] = field(default_factory=list)

    def add(self, row: int, code: Code, message: str) -> None:
        """Note one warning."""
        self.found.append(TradeWarning(row, code, message))

    def sorted(self) -> tuple[TradeWarning, ...]:
        """Return them by row; within a row in the order they were found."""
        return tuple(sorted(self.found, key=lambda warning: warning.row))


@dataclass(frozen=True, slots=True)
class Trade:
    """One normalised trade. None means that the file says nothing and nothing could be derived."""

    trade_id: str
    instrument: str
    side: Side
    quantity: Decimal
    price: Decimal
    currency: str | None
    trade_date: str | None
    counterparty: str | None
    source_row: int

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form, numbers as JSON numbers."""
        return {
            "trade_id": self.trade_id,
            "instrument": self.instrument,
            "side": self.side,
            "quantity": json_number(self.quantity),
            "price": json_number(self.price),
            "currency": self.currency,
            "trade_date": self.trade_date,
            "counterparty": self.counterparty,
            "source_row": self.source_row,
        }


@dataclass(frozen=True, slots=True)
class Extraction:
    """The whole answer for one file."""

    trades: tuple[Trade, ...]
    warnings: tuple[TradeWarning, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form: `{"trades": […], "warnings": […]}`."""
        return {
            "trades": [trade.as_dict() for trade in self.trades],
            "warnings": [warning.as_dict() for warning in self.warnings],
        }


def json_number(value: Decimal) -> int | float:
    """Return an int where the value is whole, else the nearest float, whose shortest form prints the same digits."""
    return int(value) if value == value.to_integral_value() else float(value)
