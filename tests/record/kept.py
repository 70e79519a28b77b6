"""Transcripts of real runs, for tests: run, read, and look for what must not be there."""

from pathlib import Path
from typing import Any

import anyio

from acp_client import AgentSpec, Runner, RunResult
from acp_client.record.format.check import check_file
from acp_client.record.format.lines import Frame, Header, Note, Stderr
from acp_client.record.format.reader import read_file

SECONDS = 60.0


class Kept:
    """One transcript, read."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.lines = list(read_file(path, strict=True))
        header = self.lines[0]
        assert isinstance(header, Header)
        self.header = header

    @property
    def frames(self) -> list[dict[str, Any]]:
        """The frames, in both directions."""
        return [line.message for line in self.lines if isinstance(line, Frame) and line.message is not None]

    @property
    def texts(self) -> list[str]:
        """What the agent's message chunks say."""
        updates = [frame["params"]["update"] for frame in self.frames if frame.get("method") == "session/update"]
        return [update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"]

    @property
    def stderr(self) -> str:
        """All of it."""
        return "".join(line.text for line in self.lines if isinstance(line, Stderr))

    def notes(self, kind: str) -> list[dict[str, Any]]:
        """The fields of the notes of this kind."""
        return [line.fields for line in self.lines if isinstance(line, Note) and line.kind == kind]

    def faults(self) -> list[str]:
        """What the validator finds, but for what is harmless."""
        return [str(finding) for finding in check_file(self.path) if not finding.harmless]


def names(folder: Path, pattern: str = "*") -> list[str]:
    """What is in a folder, as paths, in their order."""
    return sorted(str(path) for path in folder.glob(pattern))


async def ran(spec: AgentSpec, prompt: str = "Hello", **runner: Any) -> RunResult:
    """The result of one run."""
    with anyio.fail_after(SECONDS):
        async with Runner(**runner) as opened:
            return await (await opened.start(spec, prompt)).result()
