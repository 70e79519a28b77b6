"""What the fixtures give: makers of an `AgentSpec`, for a scenario and for a recording.

Owns where their files are, and how a test learns of a difference that it did not look at.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from acp_client.record.format.difference import REPORT_VARIABLE
from acp_client.spec import AgentSpec

_REPORT: Final = "acp_replay_differences.txt"


class Scripted:
    """Makes specs of the scripted agent."""

    def __init__(self, folder: Path, beside: Path) -> None:
        self._folder = folder
        self._beside = beside
        self._made = 0

    def __call__(self, scenario: Mapping[str, Any] | str | os.PathLike[str], **fields: Any) -> AgentSpec:
        """The spec of an agent that plays this scenario."""
        if isinstance(scenario, Mapping):
            self._made += 1
            file = self._folder / f"acp_scenario_{self._made}.json"
            file.write_text(json.dumps(scenario), encoding="utf-8")
        else:
            file = self._beside / scenario
        command = (sys.executable, "-P", "-m", "acp_agent", "scripted", str(file))
        return AgentSpec(**{"command": command, "cwd": self._folder, **fields})


class Replay:
    """Makes specs of recorded runs, and knows what differed."""

    def __init__(self, folder: Path, beside: Path) -> None:
        self._folder = folder
        self._beside = beside
        self._report = folder / _REPORT

    def __call__(
        self,
        file: str | os.PathLike[str],
        *,
        lenient: bool = False,
        pace: float | None = None,
        check: bool = True,
        **fields: Any,
    ) -> AgentSpec:
        """The spec of an agent that is this recording."""
        if check and not lenient:
            fields["env"] = {**fields.get("env", {}), REPORT_VARIABLE: str(self._report)}
        return AgentSpec.replay(self._beside / file, lenient=lenient, pace=pace, **{"cwd": self._folder, **fields})

    def complaint(self) -> str:
        """What differed so far; empty if nothing did."""
        return self._report.read_text(encoding="utf-8", errors="replace") if self._report.exists() else ""
