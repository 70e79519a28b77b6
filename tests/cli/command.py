"""Runs `python -m acp_client` as a user would: a process of its own, real children, every wait bounded."""

from __future__ import annotations

import json
import os
import selectors
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

REPO = Path(__file__).parents[2]
WAIT_SECONDS = 60.0  # a busy machine; a test that waits so long has failed
READ_BYTES = 65_536


def environment(**changes: str) -> dict[str, str]:
    """Ours, with the tree on the path of children in any folder."""
    return {**os.environ, "PYTHONPATH": str(REPO), "TERM": "xterm", **changes}


def argv(*words: str | Path) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "acp_client", *map(str, words)]


def subagent(*words: str | Path, cwd: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run to the end."""
    return subprocess.run(
        argv(*words), check=False, cwd=cwd, env=environment(), input=stdin, capture_output=True, timeout=WAIT_SECONDS
    )


def playing(folder: Path, **words: Any) -> str:
    """A value for `--agent`: a scripted agent that plays these words of a scenario."""
    number = len(list(folder.glob("scenario-*.json")))
    path = folder / f"scenario-{number}.json"
    path.write_text(json.dumps(words))
    return playing_file(path)


def playing_file(path: Path) -> str:
    """The same for a scenario that is a file already."""
    return shlex.join([sys.executable, "-m", "acp_agent", "scripted", str(path)])


class Subagent:
    """A `subagent` that runs; stdout and stderr are read as the test asks for them."""

    def __init__(self, *words: str | Path, cwd: Path, stdin: int | None = subprocess.DEVNULL) -> None:
        self.process = subprocess.Popen(
            argv(*words),
            cwd=cwd,
            env=environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self.stdout = b""
        self.stderr = b""

    def read_until(self, marker: bytes, *, on: str = "stdout") -> None:
        """Read both until the marker is in one of them."""
        self._read(lambda: marker in getattr(self, on))
        assert marker in getattr(self, on), (marker, self.stdout, self.stderr)

    def end(self) -> int:
        """Read both to their end; the exit code."""
        self._read(lambda: False)
        return self.process.wait(WAIT_SECONDS)

    def send(self, number: signal.Signals) -> None:
        """Signal the command, not its children."""
        self.process.send_signal(number)

    def clean_up(self) -> None:
        """Nothing of it is left."""
        self.process.kill()
        self.process.wait(WAIT_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _read(self, done: Any) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        with selectors.DefaultSelector() as selector:
            for name in ("stdout", "stderr"):
                pipe: IO[bytes] = getattr(self.process, name)
                if not pipe.closed:
                    selector.register(pipe, selectors.EVENT_READ, name)
            while selector.get_map() and not done():
                ready = selector.select(deadline - time.monotonic())
                assert ready, (self.stdout, self.stderr)
                for key, _ in ready:
                    data = os.read(key.fd, READ_BYTES)
                    setattr(self, key.data, getattr(self, key.data) + data)
                    if not data:
                        selector.unregister(key.fileobj)
