"""The catalog is data about agents that it never imports, so it is held against them here."""

import json
from pathlib import Path

from acp_agent.agents import SHIPPED as SERVED
from acp_client import catalog
from tests.cli.command import subagent


def test_every_shipped_agent_is_listed_with_its_own_description() -> None:
    """Not one more, not one less."""
    listed = {name: entry.description for name, entry in catalog.agents().items()}
    assert listed == {name: agent.description for name, agent in SERVED.items()}


def test_an_entry_is_found_by_its_exact_name() -> None:
    """No prefix, no other case."""
    entry = catalog.find("echo")
    assert entry is not None
    assert entry.spec().name == "echo"
    assert entry.spec().command == entry.command
    assert catalog.find("Echo") is None


def test_agents_prints_a_line_for_each(tmp_path: Path) -> None:
    """Name, description, where it comes from."""
    done = subagent("agents", cwd=tmp_path)
    lines = done.stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == list(catalog.agents())
    assert all(line.endswith("(shipped)") for line in lines)
    assert (done.returncode, done.stderr) == (0, b"")


def test_agents_as_json_is_one_list(tmp_path: Path) -> None:
    """With what is started."""
    entries = json.loads(subagent("agents", "--json", cwd=tmp_path).stdout)
    assert [entry["name"] for entry in entries] == list(catalog.agents())
    assert all(entry["command"][-1] == entry["name"] for entry in entries)


def test_files_of_the_working_directory_are_no_modules_of_a_shipped_agent(tmp_path: Path) -> None:
    """A project may well have a `json.py`."""
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the working directory')")
    (tmp_path / "acp_agent").mkdir()
    elsewhere = tmp_path.parent
    done = subagent("run", "--agent", "echo", "--cwd", tmp_path, "--format", "quiet", "hi", cwd=elsewhere)
    assert (done.stdout, done.returncode) == (b"hi\n", 0)
