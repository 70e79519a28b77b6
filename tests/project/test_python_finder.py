"""The scripts find a Python by running it, wherever it is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FINDER = Path(__file__).resolve().parents[2] / "scripts" / "_python"
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A PATH with a shell on it and no Python."""
    folder = tmp_path / "bare"
    folder.mkdir()
    bash = shutil.which("bash")
    assert bash
    (folder / "bash").symlink_to(bash)
    return folder


def find(home: Path, *path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Ask the finder, with nothing else in its environment."""
    joined = os.pathsep.join(str(folder) for folder in path)
    variables = {"PATH": joined, "HOME": str(home), **env}
    return subprocess.run([FINDER], check=False, capture_output=True, text=True, env=variables)


def program(path: Path, script: str) -> Path:
    """An executable at a place."""
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def stand_in(version: str, path: Path) -> str:
    """Put there what answers the finder's question as that Python would; the line it gives."""
    program(path, f"printf '{version}\\t%s\\n' \"$0\"")
    return f"{version}\t{path}\n"


def test_a_python_that_only_pyenv_knows_is_found(tmp_path: Path, bare: Path) -> None:
    """Its name is on no PATH; its folder is enough."""
    line = stand_in("3.12", tmp_path / "root" / "versions" / "3.12.9" / "bin" / "python")
    assert find(tmp_path, bare, PYENV_ROOT=str(tmp_path / "root")).stdout == line


def test_pyenv_in_its_usual_place_needs_no_variable(tmp_path: Path, bare: Path) -> None:
    """`~/.pyenv` is where it is unless said otherwise."""
    line = stand_in("3.13", tmp_path / ".pyenv" / "versions" / "3.13.1" / "bin" / "python")
    assert find(tmp_path, bare).stdout == line


def test_a_python_that_uv_manages_is_found(tmp_path: Path, bare: Path) -> None:
    """Also one that is on no PATH."""
    line = stand_in("3.13", tmp_path / ".local/share/uv/python/cpython-3.13/bin/python3")
    assert find(tmp_path, bare).stdout == line


def test_a_shim_that_refuses_to_run_does_not_hide_the_python_behind_it(tmp_path: Path, bare: Path) -> None:
    """A name on PATH proves nothing, and the next one of that name may do."""
    shim = program(tmp_path / "shims" / "python3", "echo 'command not found' >&2; exit 127")
    line = stand_in("3.11", tmp_path / "later" / "python3")
    found = find(tmp_path, shim.parent, tmp_path / "later", bare)
    assert (found.returncode, found.stdout) == (0, line)


def test_each_version_is_named_once_and_the_first_on_path_wins(tmp_path: Path, bare: Path) -> None:
    """The order on PATH is the user's choice."""
    line = stand_in("3.12", tmp_path / "mine" / "python3")
    stand_in("3.12", tmp_path / ".pyenv/versions/3.12.1/bin/python")
    assert find(tmp_path, tmp_path / "mine", bare).stdout == line


def test_a_folder_with_spaces_in_its_name_is_no_obstacle(tmp_path: Path, bare: Path) -> None:
    """The path comes out whole."""
    home = tmp_path / "my home"
    lines = stand_in("3.11", home / "a bin" / "python3")
    lines += stand_in("3.13", home / ".pyenv" / "versions" / "3.13.2" / "bin" / "python")
    assert find(home, home / "a bin", bare).stdout == lines


def test_a_python_that_is_too_old_does_not_count(tmp_path: Path, bare: Path) -> None:
    """It answers the question with nothing."""
    old = program(tmp_path / "old" / "python3", "exit 0")
    assert find(tmp_path, old.parent, bare).returncode == 1


def test_the_set_up_takes_the_first_python_and_lets_the_finder_end(tmp_path: Path) -> None:
    """Also where SIGPIPE is ignored: a finder whose answers nobody reads would complain of that."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    for name in ("_env", "_python"):
        shutil.copy(FINDER.parent / name, scripts)
    used = tmp_path / "used"
    first = tmp_path / "first" / "python3"
    program(first, f'case $* in *environment.py) echo made; : >"{used}" ;; *) printf "3.11\\t%s\\n" "$0" ;; esac')
    late = tmp_path / ".pyenv" / "versions" / "3.12.1" / "bin" / "python"
    looks = f'i=0; while [ ! -e "{used}" ] && [ $i -lt 50000 ]; do i=$((i + 1)); done'
    program(late, f'{looks}; printf "3.12\\t%s\\n" "$0"')
    set_up = subprocess.run(
        ["bash", "-c", f"trap '' PIPE; . '{scripts}/_env'; wait; echo $python"],
        check=True,
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "PATH": f"{first.parent}:/usr/bin:/bin"},
    )
    assert (set_up.stdout, set_up.stderr) == ("made\n", "")


def test_no_python_at_all_is_a_clear_error(tmp_path: Path, bare: Path) -> None:
    """It says what was looked for and what to install."""
    found = find(tmp_path, bare)
    assert (found.returncode, found.stdout) == (1, "")
    assert "No Python 3.11, 3.12 or 3.13" in found.stderr
    assert "Install one" in found.stderr


def test_an_environments_python_stands_for_the_one_it_was_made_with(tmp_path: Path, bare: Path) -> None:
    """Environments are made from that one: its own may be deleted at any time."""
    found = find(tmp_path, Path(sys.executable).parent, bare).stdout
    base = dict(line.split("\t") for line in found.splitlines())[HERE]
    assert Path(base).resolve() == Path(sys.executable).resolve()
    assert not Path(base).is_relative_to(sys.prefix)
