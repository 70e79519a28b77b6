"""Scripted children for tests: a scenario as Python data becomes an `AgentSpec`, and what it received is read back."""

import json
import sys
from pathlib import Path
from typing import Any

from acp_client import AgentSpec

QUICK: dict[str, Any] = {
    "cancel_grace_seconds": 1.0,
    "eof_grace_seconds": 1.0,
    "term_grace_seconds": 1.0,
    "late_update_grace_seconds": 0.0,
}
"""Graces short enough for a test and long enough for a busy machine."""


class Scripted:
    """A scenario on disk. `spec` runs it; `received` is what the child really got."""

    def __init__(self, folder: Path, scenario: dict[str, Any], **spec: Any) -> None:
        self.folder = folder
        self.record = folder / "received.jsonl"
        self.facts_file = folder / "facts.json"
        self.file = folder / "scenario.json"
        self.file.write_text(json.dumps({"record": str(self.record), **scenario}))
        self.spec = AgentSpec(
            command=(sys.executable, "-m", "acp_agent", "scripted", str(self.file)), **{"cwd": folder, **spec}
        )

    def received(self) -> list[dict[str, Any]]:
        """The frames that the child received, in order; empty if it got none."""
        if not self.record.exists():
            return []
        return [json.loads(line) for line in self.record.read_bytes().split(b"\n") if line]

    def methods(self) -> list[str]:
        """The methods of what it received; answers as `answer`."""
        return [frame.get("method", "answer") for frame in self.received()]
