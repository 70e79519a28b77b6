"""A real agent that is missing is seen: skipped at home, red in CI."""

import json
from pathlib import Path

import pytest

from scripts.tools.agents import INDEX_VARIABLE
from tests.support.agents import real_agent


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of an index that is not written yet."""
    path = tmp_path / "agents.json"
    monkeypatch.setenv(INDEX_VARIABLE, str(path))
    monkeypatch.delenv("CI", raising=False)
    return path


def test_an_installed_agent_is_started_as_the_index_says(index: Path) -> None:
    """Arguments and environment come from there."""
    entry = {"argv": ["node", "agent.js"], "env": {"A": "1"}}
    index.write_text(json.dumps({"some-agent": entry}))
    assert real_agent("some-agent") == entry


def test_a_missing_agent_skips_its_test_with_the_reason(index: Path) -> None:
    """The reason says what to do."""
    with pytest.raises(pytest.skip.Exception, match=r"some-agent is not in .*; scripts/install_agents"):
        real_agent("some-agent")
    assert not index.exists()


def test_a_missing_agent_is_a_failure_in_ci(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A skip there would look like a check that was made."""
    monkeypatch.setenv("CI", "true")
    index.write_text("{}")
    with pytest.raises(pytest.fail.Exception, match="some-agent"):
        real_agent("some-agent")
