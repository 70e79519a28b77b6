"""What each limit means, and that nothing is approved which could not be checked."""

from decimal import Decimal
from typing import Any

import pytest

from acp_agent.agents.desk.asked import exact
from acp_agent.agents.desk.limits import KNOWN, MAX_REASONS, reasons_against

TRADE = {
    "trade_id": "T1",
    "instrument": "SAP",
    "side": "buy",
    "quantity": 100,
    "price": 120.1,
    "currency": "EUR",
    "counterparty": "UBS",
}


def reasons(limits: dict[str, Any], *trades: dict[str, Any]) -> tuple[str, ...]:
    """Why they are rejected; the one trade above unless others are given."""
    return reasons_against(exact(list(trades) or [TRADE]), exact(limits))


@pytest.mark.parametrize(
    "limits",
    [
        {"max_quantity": 100},
        {"max_price": 120.1},
        {"max_notional": 12010},
        {"max_notional": {"EUR": 12010, "USD": 1}},
        {"max_total_notional": {"EUR": 12_010}},
        {"currencies": ["USD", "EUR"], "sides": ["Buy"], "instruments": ["sap"], "counterparties": ["UBS"]},
        {"blocked_instruments": ["AAPL"], "blocked_counterparties": []},
    ],
)
def test_what_is_within_its_limits_is_approved(limits: dict[str, Any]) -> None:
    """Exactly at a limit is within it, in decimal digits; names regardless of case."""
    assert reasons(limits) == ()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_quantity": 99}, "T1: quantity 100 is over max_quantity 99"),
        ({"max_price": 120.09}, "T1: price 120.1 is over max_price 120.09"),
        ({"max_notional": 12009.99}, "T1: notional 12,010 is over max_notional 12,009.99"),
        ({"max_notional": {"EUR": 1_000}}, "T1: notional 12,010 is over max_notional 1,000"),
        ({"max_total_notional": 9}, "all trades in EUR: notional 12,010 is over max_total_notional 9"),
        ({"currencies": ["USD"]}, "T1: currency EUR is not in currencies"),
        ({"sides": ["sell"]}, "T1: side buy is not in sides"),
        ({"blocked_counterparties": ["ubs"]}, "T1: counterparty UBS is in blocked_counterparties"),
    ],
)
def test_what_is_over_a_limit_is_rejected_with_both_figures(limits: dict[str, Any], reason: str) -> None:
    """A person can read why."""
    assert reasons(limits) == (reason,)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_qty": 1}, f"there is no limit 'max_qty'; known are {', '.join(KNOWN)}"),
        (
            {"max_notional": {"USD": 1}},
            "T1: max_notional gives no number for it; it must be a number, or one for each currency",
        ),
        ({"max_price": "9"}, "T1: max_price gives no number for it; it must be a number, or one for each currency"),
        (
            {"max_quantity": True},
            "T1: max_quantity gives no number for it; it must be a number, or one for each currency",
        ),
        ({"currencies": "EUR"}, "T1: the limit currencies must be a list of names"),
    ],
)
def test_a_limit_that_cannot_be_checked_rejects(limits: dict[str, Any], reason: str) -> None:
    """Not known here, without a figure for this currency, or of the wrong shape."""
    assert reasons(limits) == (reason,)


@pytest.mark.parametrize(
    ("field", "value", "limits", "reason"),
    [
        ("quantity", None, {"max_quantity": 1}, "T1: it has no quantity, which max_quantity is about"),
        ("price", "9", {"max_notional": 1}, "T1: it has no notional, which max_notional is about"),
        ("currency", None, {"currencies": ["EUR"]}, "T1: it has no currency, which currencies is about"),
        (
            "counterparty",
            None,
            {"blocked_counterparties": []},
            "T1: it has no counterparty, which blocked_counterparties is about",
        ),
        (
            "price",
            None,
            {"max_total_notional": 1},
            "all trades: one has no quantity or price, so that there is no total",
        ),
    ],
)
def test_a_trade_without_what_a_limit_is_about_is_rejected(
    field: str, value: object, limits: dict[str, Any], reason: str
) -> None:
    """What is not there cannot be within a limit."""
    assert reasons(limits, TRADE | {field: value}) == (reason,)


def test_a_negative_quantity_counts_as_much_as_a_positive_one() -> None:
    """A short sale is no way around a limit."""
    short = TRADE | {"quantity": -100}
    assert reasons({"max_quantity": 99, "max_notional": 1, "max_total_notional": 1}, short) != ()
    assert len(reasons({"max_quantity": 99, "max_notional": 1, "max_total_notional": 1}, short)) == 3
    assert reasons({"max_total_notional": 12_010}, short, TRADE) != ()


def test_totals_are_by_currency_and_never_converted() -> None:
    """Two of one currency are over what one is under."""
    dollars = TRADE | {"currency": "USD"}
    assert reasons({"max_total_notional": 20_000}, TRADE, dollars) == ()
    assert reasons({"max_total_notional": 20_000}, TRADE, dollars, TRADE) == (
        "all trades in EUR: notional 24,020 is over max_total_notional 20,000",
    )


def test_reasons_are_bounded_and_the_rest_is_counted() -> None:
    """A thousand bad trades are no thousand lines."""
    found = reasons({"max_quantity": 1}, *[TRADE] * (MAX_REASONS + 7))
    assert len(found) == MAX_REASONS + 1
    assert found[-1] == "and 7 more"


def test_a_number_keeps_the_digits_that_it_prints() -> None:
    """No binary fraction gets in between."""
    assert exact({"a": [0.1, 3, True, None, "x"]}) == {"a": [Decimal("0.1"), Decimal(3), True, None, "x"]}
