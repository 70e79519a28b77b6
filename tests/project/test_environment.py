"""The environment is built once, and nobody's work is torn from under them."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.tools import environment

PROJECT = hashlib.sha256((environment.REPO / "pyproject.toml").read_bytes()).hexdigest()
NO_BASE = Path("/nonexistent/python")  # building with it fails, and says so


def made(folder: Path, *, at: Path, project: str) -> Path:
    """What a finished environment looks like from outside."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / environment.STAMP).write_text(f"{at}\n{project}")
    return folder


def test_a_finished_environment_is_used_as_it_is(tmp_path: Path) -> None:
    """Also by one who would have built it with another Python."""
    folder = made(tmp_path / "my venv", at=tmp_path / "my venv", project=PROJECT)
    assert environment.ensure(folder, NO_BASE) == folder / "bin" / "python"


def test_an_environment_that_was_moved_is_built_again(tmp_path: Path) -> None:
    """Its programs name the place where they were made."""
    folder = made(tmp_path / "venv", at=tmp_path / "elsewhere", project=PROJECT)
    with pytest.raises(FileNotFoundError, match="nonexistent"):
        environment.ensure(folder, NO_BASE)
    assert not (folder / environment.STAMP).exists()


def test_an_environment_whose_python_has_gone_is_built_again(tmp_path: Path) -> None:
    """A deleted interpreter leaves a dead link behind."""
    folder = made(tmp_path / "venv", at=tmp_path / "venv", project=PROJECT)
    (folder / "bin" / "python").unlink()
    (folder / "bin" / "python").symlink_to(NO_BASE)
    with pytest.raises(FileNotFoundError, match="nonexistent"):
        environment.ensure(folder, NO_BASE)


@pytest.mark.skipif(
    not (environment.REPO / ".venv" / environment.STAMP).exists(),
    reason="run from an environment of one's own: scripts/test makes the one that this looks at",
)
def test_the_set_up_prints_nothing_but_the_interpreter_on_stdout() -> None:
    """`scripts/run` hands stdout on to the program that it starts."""
    program = Path(environment.__file__)
    printed = subprocess.check_output([sys.executable, "-I", program], text=True)
    assert printed.splitlines() == [str(environment.REPO / ".venv" / "bin" / "python")]
