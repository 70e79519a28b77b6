"""One agent of ours as a real process over raw pipes, every wait bounded: what its client would see."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from tests.agent.scripted.child import REPO, WAIT_SECONDS, Child, is_running, text_of

ODD: Final = REPO / "tests" / "support" / "odd_agent.py"
SOON_SECONDS: Final = 4.0
"""Promised is one second; the rest is for a busy machine. What it is told from takes minutes."""

__all__ = ["ODD", "REPO", "SOON_SECONDS", "WAIT_SECONDS", "Served", "is_running", "soon", "text_of"]


class Served(Child):
    """A running agent: `argv` after the interpreter. The scripted agent's driver with another command."""

    def __init__(self, *argv: str | Path, cwd: Path, backend: str = "asyncio") -> None:  # not super's: another command
        path = os.pathsep.join(filter(None, [str(REPO), os.environ.get("PYTHONPATH")]))
        odd = [backend] if argv and argv[0] == ODD else []
        self.process = subprocess.Popen(
            [sys.executable, *map(str, argv), *odd],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
            bufsize=0,
        )
        self.cwd = cwd
        self.session = ""
        self.reads = []
        self._rest = b""
        self._next_id = 100

    def begin(self, **capabilities: Any) -> str:
        """Initialize, with these capabilities of the client, and begin a session in `cwd`."""
        self.call("initialize", protocolVersion=1, clientCapabilities=capabilities)
        answer = self.call("session/new", cwd=str(self.cwd), mcpServers=[])
        self.session = answer["result"]["sessionId"]
        return self.session

    def ask(self, text: str) -> int:
        """A prompt in the session; returns the id of the request."""
        return self.prompt(text, self.session)

    def answer(self, text: str) -> tuple[str, Any]:
        """A whole turn: the text of the answer, and the response."""
        frames = self.turn(text, self.session)
        return text_of(frames), frames[-1]

    def begin_turn(self, text: str) -> tuple[int, str]:
        """A turn that is going on: its request, and the first text that it said."""
        self.begin()
        request = self.ask(text)
        return request, text_of([self.frame()])

    def cancel(self) -> None:
        """Cancel the turn of the session."""
        self.notify("session/cancel", sessionId=self.session)

    def hang_up(self) -> None:
        """Close our reading end."""
        assert self.process.stdout is not None
        self.process.stdout.close()

    def terminate(self) -> None:
        """SIGTERM to the agent alone."""
        self.process.send_signal(signal.SIGTERM)


class soon:  # noqa: N801  # reads as a word: `with soon():`
    """What happens inside takes less than `SOON_SECONDS`."""

    def __enter__(self) -> None:
        self.began = time.monotonic()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            taken = time.monotonic() - self.began
            assert taken < SOON_SECONDS, f"it took {taken:.1f} s"
