"""What the agents of one test report, each in a file: whether it was run at all, and what differed.

Owns the files, and what is said of them when the test ends.
"""

from __future__ import annotations

from pathlib import Path

from acp_client.record.format.report import REPORT_OPTION
from acp_client.spec import AgentSpec


class Reports:
    """`watch` a spec, then ask. `files` begins the names of the files."""

    def __init__(self, files: Path) -> None:
        self._files = files
        self._watched: dict[Path, str] = {}
        self._told = False

    def watch(self, spec: AgentSpec, called: str) -> AgentSpec:
        """The same spec, whose agent reports; `called` is what the test has called for it."""
        file = self._files.with_name(f"{self._files.name}_{len(self._watched) + 1}.txt")
        self._watched[file] = called
        at = spec.command.index("acp_agent") + 2  # behind which agent it is
        command = (*spec.command[:at], f"{REPORT_OPTION}{file}", *spec.command[at:])
        return spec.model_copy(update={"command": command})

    def beside(self, said: str) -> str:
        """What differed, for a test that has failed as `said`; empty if nothing did, or if it says so itself."""
        text = self._differences()
        self._told = bool(text)
        return "" if text.partition("\n")[0] in said else text

    def complaint(self, *, passed: bool) -> str:
        """What is wrong now that the test is over: a difference that was not told yet, or what a good test left out."""
        return ("" if self._told else self._differences()) or (self._idle() if passed else "")

    def _differences(self) -> str:
        found = [file.read_text(encoding="utf-8", errors="replace") for file in self._watched if file.exists()]
        return "\n".join(text.strip("\n") for text in found if text)

    def _idle(self) -> str:
        never = [called for file, called in self._watched.items() if not file.exists()]
        if not never:
            return ""
        return (
            f"never run: {', '.join(never)}; run what it returned, or say check=False if it need not be run "
            "(one that is ended at once may not have come so far)"
        )
