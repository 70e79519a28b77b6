"""Trades against limits: what each limit means, and why a trade breaks it.

Owns the rules. Pure. Whatever cannot be checked is a reason to reject: a limit that is not known here, a limit of the
wrong shape, a trade without what a limit is about. Amounts are never converted between currencies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

Trade: TypeAlias = Mapping[str, Any]

MAX_REASONS: Final = 50
"""Reasons that are told; one is enough to reject."""

_LISTS: Final = {
    "currencies": ("currency", True),
    "instruments": ("instrument", True),
    "counterparties": ("counterparty", True),
    "sides": ("side", True),
    "blocked_instruments": ("instrument", False),
    "blocked_counterparties": ("counterparty", False),
}
"""A list of names: the trade's field, and whether its name must be in the list or must not."""
_NUMBERS: Final = {"max_quantity": "quantity", "max_price": "price"}
KNOWN: Final = (*_LISTS, *_NUMBERS, "max_notional", "max_total_notional")


def reasons_against(trades: Sequence[Trade], limits: Mapping[str, Any]) -> tuple[str, ...]:
    """Why these trades must not be done; empty if they may. At most `MAX_REASONS`.

    Limits: `max_quantity`, `max_price`; `max_notional` of one trade and `max_total_notional` of all of one currency,
    each a number for any currency or an object with a number for each; `currencies`, `instruments`, `counterparties`,
    `sides`: what is allowed; `blocked_instruments`, `blocked_counterparties`.
    """
    found = [f"there is no limit {name!r}; known are {', '.join(KNOWN)}" for name in limits if name not in KNOWN]
    for number, trade in enumerate(trades, 1):
        name = str(trade.get("trade_id") or f"trade {number}")
        found += [f"{name}: {reason}" for reason in _against_one(trade, limits)]
    if "max_total_notional" in limits:
        found += _against_total(trades, limits["max_total_notional"])
    more = len(found) - MAX_REASONS
    return tuple(found if more <= 0 else [*found[:MAX_REASONS], f"and {more} more"])


def _against_one(trade: Trade, limits: Mapping[str, Any]) -> Iterator[str]:
    for limit, bound in limits.items():
        if limit in _LISTS:
            yield from _listed(trade, limit, bound)
        elif limit in _NUMBERS:
            yield from _bounded(_NUMBERS[limit], _number(trade.get(_NUMBERS[limit])), limit, bound)
        elif limit == "max_notional":
            yield from _bounded("notional", _notional(trade), limit, _in_currency(bound, trade.get("currency")))


def _listed(trade: Trade, limit: str, names: Any) -> Iterator[str]:
    field, wanted = _LISTS[limit]
    value = trade.get(field)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        yield f"the limit {limit} must be a list of names"
    elif not isinstance(value, str):
        yield f"it has no {field}, which {limit} is about"
    elif (value.casefold() in {name.casefold() for name in names}) is not wanted:
        yield f"{field} {value} is {'not in' if wanted else 'in'} {limit}"


def _bounded(what: str, amount: Decimal | None, limit: str, bound: Any) -> Iterator[str]:
    highest = _number(bound)
    if highest is None:
        yield f"{limit} gives no number for it; it must be a number, or one for each currency"
    elif amount is None:
        yield f"it has no {what}, which {limit} is about"
    elif abs(amount) > highest:
        yield f"{what} {_shown(amount)} is over {limit} {_shown(highest)}"


def _against_total(trades: Sequence[Trade], bound: Any) -> Iterator[str]:
    totals: dict[Any, Decimal] = defaultdict(Decimal)
    for trade in trades:
        totals[trade.get("currency")] += abs(_notional(trade) or Decimal())  # one without is told by its own check
    for currency, total in totals.items():
        for reason in _bounded("notional", total, "max_total_notional", _in_currency(bound, currency)):
            yield f"all trades in {currency or 'no currency'}: {reason}"
    if any(_notional(trade) is None for trade in trades):
        yield "all trades: one has no quantity or price, so that there is no total"


def _in_currency(bound: Any, currency: Any) -> Any:
    return bound.get(currency) if isinstance(bound, Mapping) else bound


def _notional(trade: Trade) -> Decimal | None:
    quantity, price = _number(trade.get("quantity")), _number(trade.get("price"))
    return None if quantity is None or price is None else quantity * price


def _number(value: Any) -> Decimal | None:
    return value if isinstance(value, Decimal) and value.is_finite() else None


def _shown(amount: Decimal) -> str:
    return f"{amount.normalize():,f}"
