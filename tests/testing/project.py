"""A project of somebody else, in a folder of its own: its tests are run by a pytest of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

WAIT_SECONDS = 120.0
PREAMBLE = """
import sys
from acp_client import AgentSpec, run_subagent_sync
ECHO = AgentSpec(command=(sys.executable, "-P", "-m", "acp_agent", "echo"))
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a pytest ended: its exit code, and what it printed."""

    code: int
    output: str


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with tests. `python` is whose packages they see; `plugin` names ours where it is not installed."""

    folder: Path
    python: str = sys.executable
    plugin: bool = True

    def write(self, name: str, text: str) -> Path:
        """A file; a test module begins with what all of them need."""
        file = self.folder / name
        file.write_text(f"{PREAMBLE}\n{text}" if name.startswith("test_") else text)
        return file

    def pytest(self, *arguments: str) -> Ended:
        """Run its tests."""
        options = ["-q", "-p", "no:cacheprovider", *(["-p", "acp_client.testing"] if self.plugin else [])]
        done = subprocess.run(
            [self.python, "-m", "pytest", *options, *arguments],
            check=False,
            cwd=self.folder,
            env={**os.environ, "PYTEST_ADDOPTS": ""},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WAIT_SECONDS,
        )
        return Ended(done.returncode, done.stdout)
