"""The size check sees what is too big, where, and by how much."""

from pathlib import Path

import pytest

from scripts.tools import sizes


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A tree with nothing in it but the room for a module."""
    (tmp_path / "acp_client").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def function(*, code_lines: int, docstring_lines: int = 0) -> str:
    """A function of so many lines, its `def` line counted with the code."""
    docstring = ['    """Say it."""'] if docstring_lines == 1 else []
    if docstring_lines > 1:
        docstring = ['    """Say it.', *["    more"] * (docstring_lines - 2), '    """']
    return "\n".join(["def talk():", *docstring, *["    x = 1"] * (code_lines - 1)]) + "\n"


def complaints(repo: Path, source: str, name: str = "acp_client/room.py") -> list[str]:
    """What the check says once a file has this source."""
    (repo / name).parent.mkdir(parents=True, exist_ok=True)
    (repo / name).write_text(source)
    return sizes.check(repo)


def test_what_is_exactly_at_its_limit_passes(repo: Path) -> None:
    """30 lines of code, and 50 with the docstring, are allowed."""
    assert complaints(repo, function(code_lines=30, docstring_lines=20)) == []


def test_an_over_long_function_is_named_with_its_line_and_the_rule(repo: Path) -> None:
    """One line more than allowed is one complaint."""
    (complaint,) = complaints(repo, "\n\n" + function(code_lines=31))
    assert complaint.startswith("acp_client/room.py:3: acp_client/room.py::talk: 31 lines")


def test_a_docstring_does_not_save_a_function_from_the_hard_limit(repo: Path) -> None:
    """51 lines with the docstring are too many, allowed or not."""
    allow = '[tool.sizes.allow]\n"acp_client/room.py::talk" = "a table"\n'
    (repo / "pyproject.toml").write_text(allow)
    (complaint,) = complaints(repo, function(code_lines=30, docstring_lines=21))
    assert "51 with its docstring" in complaint


def test_a_function_inside_a_class_is_found_by_its_qualified_name(repo: Path) -> None:
    """Nothing hides by being nested."""
    body = "".join(f"    {line}\n" for line in function(code_lines=31).splitlines())
    (complaint,) = complaints(repo, "class Talker:\n" + body)
    assert "acp_client/room.py::Talker.talk" in complaint


def test_an_over_long_class_is_found(repo: Path) -> None:
    """201 lines are too many."""
    (complaint,) = complaints(repo, "class Talker:\n" + "    x = 1\n" * 200)
    assert "201 lines in a class" in complaint


def test_an_over_long_file_is_found(repo: Path) -> None:
    """301 lines are too many."""
    (complaint,) = complaints(repo, "x = 1\n" * 301)
    assert complaint.startswith("acp_client/room.py:1: ")


def test_a_test_file_is_held_to_the_hard_limit_only(repo: Path) -> None:
    """400 lines of tests pass, 401 do not; a test may be as long as its story."""
    assert complaints(repo, function(code_lines=400), "tests/test_room.py") == []
    assert len(complaints(repo, function(code_lines=401), "tests/test_room.py")) == 1


def test_a_crowded_folder_is_found(repo: Path) -> None:
    """12 files are a room, 13 are a heap."""
    for number in range(12):
        assert complaints(repo, "", f"acp_client/f{number}.py") == []
    assert complaints(repo, "", "acp_client/f12.py") == ["acp_client: acp_client: 13 files in a folder, at most 12"]


def test_an_allowance_lets_a_soft_limit_pass(repo: Path) -> None:
    """A named reason is enough up to the hard limit."""
    allow = '[tool.sizes.allow]\n"acp_client/room.py::talk" = "a table"\n'
    (repo / "pyproject.toml").write_text(allow)
    assert complaints(repo, function(code_lines=31)) == []


def test_an_allowance_that_nothing_needs_is_a_complaint(repo: Path) -> None:
    """The list can only shrink to what is true."""
    (repo / "pyproject.toml").write_text('[tool.sizes.allow]\n"acp_client/gone.py" = "was big"\n')
    (complaint,) = complaints(repo, "x = 1\n")
    assert "acp_client/gone.py" in complaint
    assert "no longer needed" in complaint
