"""Resolved drafts to trades: the currency from all that is known of it, ids, duplicates.

Owns the choice between sources of a currency and the comparison of rows with each other.
"""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from acp_agent.agents.trades.cells import Draft
from acp_agent.agents.trades.model import Code, Notes, Trade
from acp_agent.agents.trades.table.headers import Field
from acp_agent.agents.trades.values.currencies import Money

__all__ = ["finish"]


def finish(drafts: Iterable[Draft], notes: Notes) -> tuple[Trade, ...]:
    """Make the trades, leaving out exact repetitions."""
    kept: list[Trade] = []
    by_content: dict[object, int] = {}
    by_id: dict[str, Trade] = {}
    for draft in drafts:
        trade = _trade(draft, notes)
        content = _content(draft, trade)
        first = by_content.setdefault(content, trade.source_row)
        if first != trade.source_row:
            message = f"the row repeats row {first} exactly; it is counted once"
            notes.add(trade.source_row, Code.DUPLICATE_TRADE, message)
            continue
        if not draft.trade_id:
            message = f"the row has no trade id; {trade.trade_id!r} was made from its number"
            notes.add(trade.source_row, Code.GENERATED_ID, message)
        other = by_id.setdefault(trade.trade_id, trade)
        if other is not trade:
            differing = _differing(other, trade)
            message = (
                f"the id {trade.trade_id!r} was used in row {other.source_row} with another {differing}; both are kept"
            )
            notes.add(trade.source_row, Code.CONFLICTING_ID, message)
        kept.append(trade)
    return tuple(kept)


def _trade(draft: Draft, notes: Notes) -> Trade:
    currency, price = _priced(draft, notes)
    return Trade(
        trade_id=draft.trade_id or f"row-{draft.row.line}",
        instrument=draft.instrument,
        side=draft.side,
        quantity=draft.quantity,
        price=price,
        currency=currency,
        trade_date=draft.trade_date,
        counterparty=draft.counterparty,
        source_row=draft.row.line,
    )


def _content(draft: Draft, trade: Trade) -> object:
    """Return what makes a row the same as another.

    The trade and its status, for a cancellation repeats no trade; without an id of its own, every other cell too.
    """
    bare = replace(trade, source_row=0, trade_id=draft.trade_id)
    return bare, draft.row.value(Field.STATUS).casefold() if draft.trade_id else draft.row.cells


def _differing(one: Trade, other: Trade) -> str:
    names = ("instrument", "side", "quantity", "price", "currency", "trade_date", "counterparty")
    return ", ".join(name for name in names if getattr(one, name) != getattr(other, name)) or "status"


def _priced(draft: Draft, notes: Notes) -> tuple[str | None, Decimal]:
    """Return the currency and the price in it."""
    column, beside = draft.column_money, draft.price_money
    if draft.currency_text and column is None:
        message = f"the currency {draft.currency_text!r} is not known; kept as written"
        notes.add(draft.row.line, Code.UNKNOWN_CURRENCY, message)
        return draft.currency_text, draft.price
    if column is None and beside is None:
        return _assumed(draft, notes), draft.price
    money = _agreed(column, beside) if column and beside else column or beside
    if money is None:
        assert column is not None
        assert beside is not None
        message = (
            f"the currency is {column.written!r} but the price says {beside.written!r}; the currency's column was taken"
        )
        notes.add(draft.row.line, Code.CONFLICTING_CURRENCY, message)
        money = column
    if money.code is None:
        return _chosen(draft, money, notes), draft.price
    return money.code, _converted(draft, money, notes)


def _agreed(column: Money, beside: Money) -> Money | None:
    """Return what both say, the more exact of the two; None when they contradict each other."""
    if column.code is not None and beside.code is not None:
        if column.code != beside.code:
            return None
        return column if column.divisor >= beside.divisor else beside
    if column.code is None and beside.code is None:
        return column if column.candidates == beside.candidates else None
    exact, vague = (column, beside) if column.code is not None else (beside, column)
    return exact if exact.code in vague.candidates else None


def _converted(draft: Draft, money: Money, notes: Notes) -> Decimal:
    if money.divisor == 1:
        return draft.price
    price = draft.price / money.divisor
    message = (
        f"the price {draft.row.value(Field.PRICE)!r} is in hundredths ({money.written}); it is {price} {money.code}"
    )
    notes.add(draft.row.line, Code.CONVERTED_PRICE, message)
    return price


def _chosen(draft: Draft, money: Money, notes: Notes) -> str:
    """Choose among the currencies a symbol may mean.

    The instrument's own, or US dollars; else keep the symbol.
    """
    own = draft.reference_currency
    choice = own if own in money.candidates else "USD" if own is None and "USD" in money.candidates else None
    if choice is None:
        message = f"the currency {money.written!r} may be {', '.join(money.candidates)}; kept as written"
        notes.add(draft.row.line, Code.AMBIGUOUS_CURRENCY, message)
        return money.written
    message = f"the currency {money.written!r} may be {', '.join(money.candidates)}; taken as {choice}"
    notes.add(draft.row.line, Code.ASSUMED_CURRENCY, message)
    return choice


def _assumed(draft: Draft, notes: Notes) -> str | None:
    own = draft.reference_currency
    if own is None:
        notes.add(
            draft.row.line,
            Code.MISSING_CURRENCY,
            "the row has no currency and none could be derived; it is null",
        )
        return None
    message = f"the row has no currency; {own} was taken from the reference data of {draft.instrument!r}"
    notes.add(draft.row.line, Code.ASSUMED_CURRENCY, message)
    return own
