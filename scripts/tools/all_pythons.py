"""Runs the whole suite on every supported Python that starts here; measures coverage on one.

The Python at hand runs async tests on both event loops, the others on one (`LOOP`): that is what twenty minutes allow.
Prints what ran. All run, even when one of them has failed: one look shows everything.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.tools import coverage_gate, environment

REPO = environment.REPO
SUPPORTED = ("3.11", "3.12", "3.13")
LOOP = {"3.11": "asyncio", "3.12": "trio", "3.13": "asyncio"}
"""The oldest and the newest asyncio: it changes with each Python, trio does not."""
AGAIN_VARIABLE = "TEST_AGAIN"
"""Set where the suite has run on another Python before: `tests/support/agents.py` skips what would be the same."""


def main() -> None:
    """Run pytest with the given arguments on each; exit 1 when anything was red."""
    arguments, here = sys.argv[1:], f"{sys.version_info.major}.{sys.version_info.minor}"
    found = pythons()
    failed = [] if _measured(arguments) else [f"Python {here}"]
    for version, base in found.items():
        if version != here:
            python = environment.ensure(REPO / f".venv-{version}", base)
            if not _suite(python, arguments, {"TEST_LOOP": LOOP[version], AGAIN_VARIABLE: version}):
                failed.append(f"Python {version}")
    ran = [version for version in SUPPORTED if version in {here, *found}]
    missing = [version for version in SUPPORTED if version not in ran]
    print(f"ran on Python {', '.join(ran)}; not found here: {', '.join(missing) or 'none'}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def pythons() -> dict[str, Path]:
    """The supported Pythons that start here, by minor version."""
    listed = subprocess.run([str(REPO / "scripts" / "_python")], check=True, capture_output=True, text=True).stdout
    pairs = (line.split("\t") for line in listed.splitlines())
    return {version: Path(path) for version, path in pairs}


def _measured(arguments: list[str]) -> bool:
    """Run on this Python with coverage; the gate holds only for the whole suite."""
    with _data_folder() as folder:
        cov = ["--cov", "--cov-config=pyproject.toml", "--cov-report="]
        green = _suite(Path(sys.executable), [*cov, *arguments], {"COVERAGE_FILE": f"{folder}/data"})
        return green if arguments else coverage_gate.holds(folder / "data") and green


@contextmanager
def _data_folder() -> Iterator[Path]:
    """A place outside the tree for the data files of hundreds of children."""
    folder = Path(tempfile.mkdtemp(prefix="coverage-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _suite(python: Path, arguments: list[str], extra: dict[str, str]) -> bool:
    version = subprocess.check_output([str(python), "-VV"], text=True).strip()
    print(f"== {version} ({python}), {extra.get('TEST_LOOP', 'both event loops')}", flush=True)
    env = os.environ | extra
    argv = [str(python), "-m", "pytest", "-n", str(2 * (os.cpu_count() or 1)), *arguments]
    return subprocess.run(argv, check=False, cwd=REPO, env=env).returncode == 0


if __name__ == "__main__":
    main()
