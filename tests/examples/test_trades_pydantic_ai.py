"""The parent as a pydantic-ai agent, driven by a function in the place of a model."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.examples.program import example


@pytest.mark.skipif(
    find_spec("pydantic_ai") is None, reason="pydantic-ai is not installed: pip install pydantic-ai-slim"
)
def test_a_pydantic_ai_agent_delegates_through_tools_and_sees_their_results_alone(tmp_path: Path) -> None:
    """One tool result a request; what the children did is told to people beside it."""
    done = example("trades_pydantic_ai.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    said, _, rest = done.stdout.partition("What the model saw")
    results, _, trace = rest.partition("What only people see")
    assert "approved 4 trades, know 2 of 3 names" in said
    assert said.count("Consulting ") == 10
    for name, requests in (("trade_file_extractor", 1), ("risk_judge", 6), ("counterparty_resolver", 3)):
        assert results.count(f"  {name}: {{") == requests
        assert trace.count(f"  Trades Agent › {name}: end") == requests
    assert "Trades Agent" not in results
