"""Builds the project's virtual environment, once, and prints its interpreter.

Owns `.venv` (built with the Python that the scripts found first) and `.venv-3.X` (the others that
`scripts/test --all-pythons` runs on). Runs before anything is installed: standard library only.
Finding a Python is left to `scripts/_python`.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
STAMP = "ready"
PIP_WITH_GROUPS = "pip>=25.1"  # the first that knows `--group`


def main() -> None:
    """Prepare `.venv` for the Python that runs this, and print the path of its interpreter."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    print(ensure(REPO / ".venv", Path(base)))


def ensure(folder: Path, base: Path) -> Path:
    """The interpreter of an environment in `folder` with the project and what its tests need.

    Does nothing when the stamp says that it was built here and from the same `pyproject.toml`. With
    which Python counts only while there is none, or that one has gone: else two users of one folder
    would tear it from under each other. Two that call at once wait for each other.
    """
    python = folder / "bin" / "python"
    wanted = [str(folder), hashlib.sha256((REPO / "pyproject.toml").read_bytes()).hexdigest()]
    if _built_from(folder) == wanted:
        return python
    with _lock(folder.with_name(f"{folder.name}.lock")):
        built_from = _built_from(folder)
        if built_from != wanted:
            _build(folder, base, fresh=built_from[:1] != wanted[:1])
            (folder / STAMP).write_text("\n".join(wanted))
    return python


def _built_from(folder: Path) -> list[str]:
    """What the stamp says, or nothing where there is none or the Python that it used has gone."""
    stamp = folder / STAMP
    if not (stamp.is_file() and (folder / "bin" / "python").exists()):
        return []
    return stamp.read_text().splitlines()


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Held by one process at a time; the kernel lets go of it however that process ends."""
    with path.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _build(folder: Path, base: Path, *, fresh: bool) -> None:
    print(f"setting up {folder.name} …", file=sys.stderr, flush=True)
    if fresh:
        (folder / STAMP).unlink(missing_ok=True)
        _run([str(base), "-I", "-m", "venv", "--clear", str(folder)])
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install"]
    _run([*pip, "-qq", "--upgrade", PIP_WITH_GROUPS])
    _run([*pip, "-qq", "--editable", str(REPO), "--group", f"{REPO / 'pyproject.toml'}:dev"])


def _run(argv: list[str]) -> None:
    """Run a step with its output on stderr: stdout belongs to whom the environment is for."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    code = subprocess.run(argv, check=False, stdout=sys.stderr, env=environment).returncode
    if code:
        sys.exit(f"setting up failed: `{' '.join(argv)}` ended with {code}; its output is above")


if __name__ == "__main__":
    main()
