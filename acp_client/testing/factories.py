"""What the fixtures give: makers of an `AgentSpec`, for a scenario and for a recording.

Owns where their files are, and that they are good for something when a spec is made of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from acp_client.record.format.lines import TranscriptError
from acp_client.record.format.reader import read_file
from acp_client.spec import AgentSpec
from acp_client.testing.reports import Reports

_SCRIPTED: Final = (sys.executable, "-P", "-m", "acp_agent", "scripted")
CHECK_SECONDS: Final = 60.0
"""For the check of a scenario: a start of Python, on a busy machine."""


class Scripted:
    """Makes specs of the scripted agent."""

    def __init__(self, folder: Path, beside: Path) -> None:
        self.reports: Final = Reports(folder / "acp_scripted")
        self._folder = folder
        self._beside = beside
        self._made = 0

    def __call__(
        self, scenario: Mapping[str, Any] | str | os.PathLike[str], *, check: bool = True, **fields: Any
    ) -> AgentSpec:
        """The spec of an agent that plays this scenario. Raises ValueError for one that cannot be played."""
        if "command" in fields:
            raise ValueError("acp_scripted takes no command: that is what plays the scenario; leave it out")
        file, name = self._file(scenario)
        _check_scenario(file, fields.get("env") or {})
        spec = AgentSpec(**{"command": (*_SCRIPTED, str(file)), "cwd": self._folder, **fields})
        return self.reports.watch(spec, f"acp_scripted({name})") if check else spec

    def _file(self, scenario: Any) -> tuple[Path, str]:
        if isinstance(scenario, str | os.PathLike):
            return self._beside / scenario, repr(os.fspath(scenario))
        if not isinstance(scenario, Mapping):
            kind = type(scenario).__name__
            raise TypeError(f"a scenario is a mapping, or the path of a YAML or JSON file, not {kind}")
        self._made += 1
        file = self._folder / f"acp_scenario_{self._made}.json"
        file.write_text(json.dumps(scenario), encoding="utf-8")
        return file, "{…}"


class Replay:
    """Makes specs of recorded runs."""

    def __init__(self, folder: Path, beside: Path) -> None:
        self.reports: Final = Reports(folder / "acp_replay")
        self._folder = folder
        self._beside = beside

    def __call__(
        self,
        file: str | os.PathLike[str],
        *,
        lenient: bool = False,
        pace: float | None = None,
        check: bool = True,
        called: str = "",
        **fields: Any,
    ) -> AgentSpec:
        """The spec of an agent that is this recording. Raises ValueError for a file that is none.

        `called` is what the test has written, for what is said of it.
        """
        path = _beside(self._beside, file)
        spec = AgentSpec.replay(path, lenient=lenient, pace=pace, **{"cwd": self._folder, **fields})
        if next(read_file(path), None) is None:
            rule = "it is no recording: none of its lines is a frame of a run"
            raise TranscriptError(rule, "give a transcript, or JSON-RPC frames, one a line", file=str(path))
        return self.reports.watch(spec, called or f"acp_replay({os.fspath(file)!r})") if check else spec


def _beside(folder: Path, file: Any) -> Any:
    """Relative to the test; what is no path is refused by who gets it."""
    return folder / file if isinstance(file, str | os.PathLike) else file


def _check_scenario(file: Path, env: Mapping[str, str | None]) -> None:
    """By the agent itself, which knows the words; a scenario may name variables that the spec sets."""
    variables = {name: value for name, value in {**os.environ, **env}.items() if value is not None}
    done = subprocess.run(  # noqa: S603  # our own agent
        [*_SCRIPTED, "--check", str(file)],
        check=False,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=CHECK_SECONDS,
    )
    if done.returncode:
        raise ValueError(f"the scenario cannot be played:\n{done.stderr.strip()}")
