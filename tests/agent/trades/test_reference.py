import csv
from importlib import resources

import pytest

from acp_agent.agents.trades.reference import counterparties, instruments, is_isin
from acp_agent.agents.trades.values.currencies import read_currency

LEI_MODULUS = 97


def data(name: str) -> list[dict[str, str]]:
    """Return the rows of one of the package's tables."""
    source = resources.files("acp_agent.agents.trades").joinpath("data", name)
    return list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("row", data("instruments.csv"), ids=lambda row: row["symbol"])
def test_an_instrument_is_found_by_its_own_isin_and_has_a_known_currency(row: dict[str, str]) -> None:
    """An instrument is found by its own isin and has a known currency."""
    assert is_isin(row["isin"])
    assert [entry.canonical for entry in instruments().find(row["isin"])] == [row["symbol"]]
    money = read_currency(row["currency"])
    assert money is not None
    assert money.code == row["currency"]


@pytest.mark.parametrize("row", data("counterparties.csv"), ids=lambda row: row["name"])
def test_a_counterparty_is_found_by_its_name_and_its_lei(row: dict[str, str]) -> None:
    """A counterparty is found by its name and its lei."""
    assert int("".join(str(int(char, 36)) for char in row["lei"])) % LEI_MODULUS == 1
    assert [entry.canonical for entry in counterparties().find(row["lei"])] == [row["name"]]
    assert [entry.canonical for entry in counterparties().find(row["name"])] == [row["name"]]


@pytest.mark.parametrize(("text", "sound"), [("US0378331005", True), ("us0378331006", False), ("AAPL", None)])
def test_the_check_digit_of_an_isin_is_checked(text: str, *, sound: bool | None) -> None:
    """The check digit of an isin is checked."""
    assert is_isin(text) is sound


def test_every_symbol_and_name_is_one_of_its_own() -> None:
    """Every symbol and name is one of its own."""
    rows = data("instruments.csv")
    assert len({row["symbol"] for row in rows}) == len(rows)
    assert len({row["isin"] for row in rows}) == len(rows)


def test_a_suggestion_is_made_once_and_only_if_it_is_one() -> None:
    """A suggestion is made once and only if it is one."""
    book = counterparties()
    assert book.suggestion("Barclay") == "Barclays"
    assert book.suggestion("Barclay") == "Barclays"
    assert book.suggestion("Something quite different") is None
