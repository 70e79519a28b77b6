"""What a release needs beside the code is there, and agrees with itself."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]


def test_the_changelog_has_a_section_for_the_current_version() -> None:
    """A version that nobody can read about is not released."""
    headings = re.findall(r"^## \[(.+?)\]", (REPO / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert PROJECT["version"] in headings
    assert headings[0] == "Unreleased"


def test_the_installed_version_is_the_one_in_the_project_file() -> None:
    """The environment is not a stale one."""
    assert version("acp-subagents") == PROJECT["version"]


def test_the_licence_is_the_whole_apache_text() -> None:
    """As the project file claims."""
    text = (REPO / "LICENSE").read_text()
    assert PROJECT["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_one_library_whose_internals_are_used_is_pinned_exactly() -> None:
    """An upgrade is a decision; see acp_client/protocol/dispatch."""
    (pin,) = (one for one in PROJECT["dependencies"] if one.startswith("jsonrpcserver"))
    assert pin == "jsonrpcserver==5.0.9"


def test_the_top_level_holds_only_what_was_agreed() -> None:
    """Two packages, tests, fixtures, scripts and the files that say what this is."""
    agreed = {"acp_client", "acp_agent", "tests", "fixtures", "scripts", "pyproject.toml"}
    agreed |= {"README.md", "LICENSE", "CHANGELOG.md"}
    made = {"build", "dist", "htmlcov"}
    there = {path.name for path in REPO.iterdir() if not path.name.startswith(".")}
    assert there - agreed - made == set()
