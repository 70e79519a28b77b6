"""Every shipped messy file against the result that was checked by hand, row for row."""

import json
from pathlib import Path

import pytest

from acp_agent.agents.trades.extract import extract

FIXTURES = Path(__file__).parents[3] / "fixtures" / "trades"
EXPECTED = Path(__file__).parent / "expected"


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_a_messy_file_gives_the_trades_and_warnings_that_were_checked_by_hand(path: Path) -> None:
    """A messy file gives the trades and warnings that were checked by hand."""
    expected = json.loads((EXPECTED / f"{path.name}.json").read_text(encoding="utf-8"))
    found = json.loads(json.dumps(extract(path.read_bytes()).as_dict()))
    assert found["trades"] == expected["trades"]
    assert [[warning["row"], warning["code"]] for warning in found["warnings"]] == expected["warnings"]


def test_every_expectation_has_its_file() -> None:
    """Every expectation has its file."""
    assert {path.name.removesuffix(".json") for path in EXPECTED.iterdir()} == {p.name for p in FIXTURES.iterdir()}
