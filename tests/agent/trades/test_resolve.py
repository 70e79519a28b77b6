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
    ("names", "instrument", "code"),
    [
        ("US0378331005,,Apple", "AAPL", None),
        ("037833100,,", "AAPL", None),
        (",GOOG,Alphabet", "GOOG", None),
        (",,Apple Inc. (AAPL)", "AAPL", None),
        (",,AAPL - Microsoft", "AAPL - Microsoft", "ambiguous_instrument"),
        (",,AAPL - something else", "AAPL - something else", "unknown_instrument"),
        (",AAPL US Equity,", "AAPL", None),
        ("US0378331005,MSFT,", "US0378331005", "conflicting_instrument"),
        ("US0378331006,AAPL,", "AAPL", "invalid_isin"),
        ("DE0001102580,SAP,", "DE0001102580", "unknown_instrument"),
        (",,Nestle SA", "NESN", None),
        (",,L'OREAL", "OR", None),
    ],
)
def test_an_instrument_is_what_all_its_names_agree_on(names: str, instrument: str, code: str | None) -> None:
    """An instrument is what all its names agree on."""
    found = extract(f"Id,ISIN,Ticker,Name,Side,Qty,Price,Ccy\n1,{names},B,5,10,USD\n".encode())
    assert found.trades[0].instrument == instrument
    assert [name for row, name in codes(found) if row == 2] == ([code] if code else [])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Deutsche Bank AG, London Branch", "Deutsche Bank"),
        ("7LTWFZYICNSX8D621K86", "Deutsche Bank"),
        ("SOCIETE GENERALE", "Société Générale"),
        ("Goldman Sachs Intl.", "Goldman Sachs"),
        ("J.P. Morgan", "JPMorgan"),
        ("Barclays Bank plc", "Barclays"),
    ],
)
def test_a_counterparty_is_known_by_its_variants(name: str, expected: str) -> None:
    """A counterparty is known by its variants."""
    found = rows(f'T1,AAPL,buy,100,150.5,USD,2026-01-05,"{name}"')
    assert found.trades[0].counterparty == expected
    assert found.warnings == ()


def test_a_misspelt_counterparty_is_not_corrected_but_the_message_names_the_near_one() -> None:
    """A misspelt counterparty is not corrected but the message names the near one."""
    found = rows("T1,AAPL,buy,100,150.5,USD,2026-01-05,Goldmann Sachs")
    assert found.trades[0].counterparty == "Goldmann Sachs"
    assert "'Goldman Sachs'" in found.warnings[0].message


def test_only_so_many_names_are_compared_with_the_known_ones() -> None:
    """Only so many names are compared with the known ones."""
    lines = [f"T{n},AAPL,buy,100,150.5,USD,2026-01-05,Nobody {n}" for n in range(300)]
    found = rows(*lines, "T,AAPL,buy,100,150.5,USD,2026-01-05,Barclayz Bnk")
    assert codes(found).count((302, "unknown_counterparty")) == 1
