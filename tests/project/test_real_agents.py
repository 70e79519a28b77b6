"""A real agent that is missing is seen: skipped at home, red in CI."""

import json
import shutil
from pathlib import Path

import pytest

from scripts.tools import agents
from scripts.tools.agents import INDEX_VARIABLE
from scripts.tools.all_pythons import AGAIN_VARIABLE
from tests.support.agents import fast_agent_passthrough, real_agent


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


def test_an_agent_that_this_machine_cannot_have_is_said_and_no_failure(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here one for which there is no Python. It is looked for again the next time, and skipped also in CI."""
    bash, python = shutil.which("bash"), tmp_path / "python3"
    assert bash
    (tmp_path / "bash").symlink_to(bash)
    python.write_text("#!/bin/sh\nprintf '3.11\\t/old\\n'\n")
    python.chmod(0o755)
    for name, value in {"PATH": tmp_path, "HOME": tmp_path, "PYENV_ROOT": tmp_path, "XDG_DATA_HOME": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("UV_PYTHON_INSTALL_DIR", raising=False)
    entry = agents._installed(tmp_path / "fast-agent-1", agents.fast_agent)
    assert entry == {"argv": [], "env": {}, "unavailable": entry.get("unavailable")}
    assert list((tmp_path / "fast-agent-1").iterdir()) == []
    index.write_text(json.dumps({"fast-agent": entry}))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.skip.Exception, match=r"needs Python 3\.13 or 3\.12, and none starts here"):
        real_agent("fast-agent")


def test_a_costly_agent_is_run_on_one_python_of_several(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the same program on each; the others say that they skip it."""
    index.write_text(json.dumps({"fast-agent": {"argv": ["/bin/true"], "env": {}}}))
    monkeypatch.delenv(AGAIN_VARIABLE, raising=False)
    assert fast_agent_passthrough(tmp_path).command[0] == "/bin/true"
    monkeypatch.setenv(AGAIN_VARIABLE, "3.12")
    with pytest.raises(pytest.skip.Exception, match="it was run on another"):
        fast_agent_passthrough(tmp_path)
