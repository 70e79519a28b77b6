"""A terminal for `subagent` to run on: a pseudo-terminal, of which the test is the screen."""

from __future__ import annotations

import errno
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any, Final

from tests.cli.command import READ_BYTES, WAIT_SECONDS, argv, environment

CONTROLLED: Final = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
"""A program that makes its stdin the terminal of its session, and becomes another one."""


class Terminal:
    """Runs a command line with stdout and stderr, or one of them, on a terminal; `own`: that of its session."""

    def __init__(  # which of them
        self,
        *words: str | Path,
        cwd: Path,
        stdout: bool = True,
        stderr: bool = True,
        term: str = "xterm",
        own: bool = False,
    ) -> None:
        self.screen = b""
        self._master, slave = pty.openpty()
        try:
            self.process = subprocess.Popen(
                [*([sys.executable, "-c", CONTROLLED] if own else []), *argv(*words)],
                cwd=cwd,
                env=environment(TERM=term, COLUMNS="200"),
                stdin=slave,
                stdout=slave if stdout else subprocess.DEVNULL,
                stderr=slave if stderr else subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(slave)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def modes(self) -> list[Any]:
        """How the terminal is set."""
        return termios.tcgetattr(self._master)

    def read_until(self, marker: bytes) -> None:
        """Read until the marker is on the screen."""
        while marker not in self.screen:
            assert self._read_some(), (marker, self.screen)

    def end(self) -> int:
        """Read to the end; the exit code. What was shown is in `screen`."""
        while self._read_some():
            pass
        os.close(self._master)
        return self.process.wait(WAIT_SECONDS)

    def _read_some(self) -> bool:
        deadline = time.monotonic() + WAIT_SECONDS
        ready, _, _ = select.select([self._master], [], [], deadline - time.monotonic())
        assert ready, self.screen
        try:
            data = os.read(self._master, READ_BYTES)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False  # how Linux says that nobody holds the other end any more
        self.screen += data
        return bool(data)
