"""Runs every check that is no test; prints one line for each, and the output of those that failed.

Owns the list of checks. All run, even when one has failed.
"""

import subprocess
import sys
import time
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
IMPORT_LINTER = "from importlinter.cli import lint_imports_command as main; main(['--no-logo'])"
PYTHON = sys.executable
CHECKS: dict[str, list[str]] = {
    "lint": [PYTHON, "-m", "ruff", "check"],
    "format": [PYTHON, "-m", "ruff", "format", "--check", "--diff"],
    "types": [PYTHON, "-m", "mypy"],
    "imports": [PYTHON, "-c", IMPORT_LINTER],
    "sizes": [PYTHON, "-m", "scripts.tools.sizes"],
    "readme": [PYTHON, "-m", "scripts.tools.readme"],
}


def main() -> None:
    """Run the checks named on the command line, or all; exit 1 if any failed."""
    names = sys.argv[1:] or list(CHECKS)
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        sys.exit(f"no such check: {', '.join(unknown)}; there are {', '.join(CHECKS)}")
    outcomes = [_passes(name) for name in names]
    sys.exit(0 if all(outcomes) else 1)


def _passes(name: str) -> bool:
    began = time.monotonic()
    done = subprocess.run(
        CHECKS[name],
        check=False,
        cwd=REPO,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    passed = done.returncode == 0
    word = "pass" if passed else "FAIL"
    print(f"{word}  {name:<8} {time.monotonic() - began:5.1f} s", flush=True)
    if not passed:
        print(done.stdout, flush=True)
    return passed


if __name__ == "__main__":
    main()
