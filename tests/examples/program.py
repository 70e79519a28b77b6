"""An example of `scripts/examples`, run as a reader would."""

import subprocess
import sys
from pathlib import Path

from tests.cli.command import REPO, WAIT_SECONDS, environment

EXAMPLES = REPO / "scripts" / "examples"


def example(name: str, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The example as a program, and all that it printed."""
    return subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *words],
        check=False,
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )
