"""The wheel is what people get, so the wheel is what is tried here."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
BUILD = "import sys, hatchling.build as build; print(build.build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    argv = [sys.executable, "-c", BUILD, str(folder)]
    built = subprocess.run(argv, check=True, cwd=REPO, capture_output=True, text=True).stdout
    return folder / built.splitlines()[-1]


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it; the libraries are borrowed, the packages are not.

    The borrowed folder's own `.pth` files are not read, so the editable install stays out.
    """
    folder = tmp_path_factory.mktemp("scratch") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    (borrowed,) = Path(sys.prefix).glob("lib/python3*/site-packages")
    (site / "borrowed.pth").write_text(f"{borrowed}\n")
    python = folder / "bin" / "python"
    install = ["install", "-qq", "--no-deps", "--no-index", "--force-reinstall", str(wheel)]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, *install], check=True)
    return python


def test_everything_that_is_no_code_is_in_the_wheel(wheel: Path) -> None:
    """Type markers, the licence, every data file of the agents, and the parts of the trace's page."""
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"acp_client/py.typed", "acp_agent/py.typed"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    data = {
        path.relative_to(REPO).as_posix()
        for pattern in ("acp_agent/**/data/**/*", "acp_client/**/assets/*")
        for path in REPO.glob(pattern)
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert data
    assert data <= names


def test_nothing_but_the_two_packages_is_in_the_wheel(wheel: Path) -> None:
    """No tests, no scripts, nothing from the top level."""
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"acp_client", "acp_agent"}


def test_the_packages_come_from_the_wheel(python: Path, tmp_path: Path) -> None:
    """Else the tests below would try the tree."""
    program = "import acp_agent, acp_client; print(acp_client.__file__); print(acp_agent.__file__)"
    printed = subprocess.check_output([str(python), "-I", "-c", program], cwd=tmp_path, text=True)
    assert all(line.startswith(str(python.parents[1])) for line in printed.splitlines())


def test_the_installed_command_answers_help(python: Path, tmp_path: Path) -> None:
    """`subagent` is on the PATH of whoever installed it."""
    argv = [str(python.with_name("subagent")), "--help"]
    assert "Usage" in subprocess.check_output(argv, cwd=tmp_path, text=True)


def test_both_packages_run_as_modules(python: Path, tmp_path: Path) -> None:
    """`python -m acp_client` is `subagent`; the echo agent ends when its input does."""
    help_text = [str(python), "-I", "-m", "acp_client", "--help"]
    assert "Usage" in subprocess.check_output(help_text, cwd=tmp_path, text=True)
    echo = [str(python), "-I", "-m", "acp_agent", "echo"]
    done = subprocess.run(echo, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=30)
    assert done.returncode == 0
