"""Golden transcripts: replayed as a rule, recorded from the real agent on request.

Owns where they are, and what of a transcript is kept: no name of the machine's folders, nothing of the run around it.
How a transcript is written, and without secrets, is `record`'s.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from acp_client.protocol.envelope import encode
from acp_client.record.format.lines import END, SUFFIX, Header, Line, Note, to_object
from acp_client.record.format.normalise import CWD, path_pattern
from acp_client.record.format.reader import read_file
from acp_client.record.place import TRANSCRIPTS_VARIABLE
from acp_client.spec import AgentSpec
from acp_client.testing.factories import Replay
from acp_client.testing.names import Taken, check_name, name_of

FOLDER: Final = "transcripts"
_OF_THE_MACHINE: Final = ("path_used", "removed_env")
_TAKEN: Final = pytest.StashKey[Taken]()


class Record:
    """Makes specs that are replayed, or recorded if there is a `patch` to say so to the runners of the test."""

    def __init__(
        self, request: pytest.FixtureRequest, folder: Path, replay: Replay, patch: pytest.MonkeyPatch | None
    ) -> None:
        self._test = request.node.nodeid
        self._default = name_of(self._test)
        self._taken = request.config.stash.setdefault(_TAKEN, Taken())
        self._goldens = request.path.parent / FOLDER
        self._cwd = folder
        self._fresh = folder / "acp_records"
        self._replay = replay
        self._records = patch is not None
        self._specs: dict[str, AgentSpec] = {}
        if patch is not None:
            patch.setenv(TRANSCRIPTS_VARIABLE, str(self._fresh))

    def __call__(self, spec: AgentSpec, name: str | None = None, **options: Any) -> AgentSpec:
        """The spec to run in this one's place."""
        if not isinstance(spec, AgentSpec):
            raise TypeError(
                f"acp_record takes an AgentSpec, such as AgentSpec(command=('opencode', 'acp')), not {spec!r:.80}; "
                "that of an agent by name is acp_client.catalog.find(NAME).spec()"
            )
        name = check_name(self._default if name is None else name, self._specs)
        if self._records:
            self._taken.take(self.file(name), self._test)
        if spec.cwd is None:
            spec = spec.model_copy(update={"cwd": str(self._cwd)})
        self._specs[name] = spec = spec.model_copy(update={"name": name})
        return spec if self._records else self._replayed(spec, name, options)

    def _replayed(self, spec: AgentSpec, name: str, options: dict[str, Any]) -> AgentSpec:
        file = self.file(name)
        if not file.is_file():
            pytest.fail(
                f"there is no recording {file}; record it with: pytest --acp-record {shlex.quote(self._test)}",
                pytrace=False,
            )
        played = self._replay(file, called=f"acp_record(spec, name={name!r})", **options)
        env = played.env  # what the agent itself needed, its keys above all, is not needed
        return spec.model_copy(update={"command": played.command, "env": env, "env_passthrough": ()})

    def file(self, name: str) -> Path:
        """Where the recording of this name is."""
        return self._goldens / f"{name}{SUFFIX}"

    def keep(self) -> str:
        """Write the recordings of this test, if it recorded any; returns what is wrong with them, or nothing."""
        if not self._records:
            return ""
        found: dict[str, list[Path]] = {name: [] for name in self._specs}
        for path in sorted(self._fresh.glob(f"*{SUFFIX}")):
            header = next(read_file(path), None)
            if isinstance(header, Header):
                found.setdefault(header.agent, []).append(path)
        if wrong := [_miscounted(name, len(found[name])) for name in self._specs if len(found[name]) != 1]:
            return f"nothing is recorded: {'; '.join(wrong)}"
        for name, spec in self._specs.items():
            self._goldens.mkdir(exist_ok=True)
            self.file(name).write_bytes(b"".join(_kept(found[name][0], spec.cwd or "")))
        return ""


def _miscounted(name: str, runs: int) -> str:
    if runs:
        return f"{name!r} ran {runs} times, and a recording is of one run: call acp_record for each, with name="
    return (
        f"no run of {name!r} came to be known: run what acp_record returns, once, by a Runner that is made after "
        "acp_record was called and that is given no `transcripts` of its own"
    )


def _kept(path: Path, cwd: str) -> Iterator[bytes]:
    """The lines of a transcript as a golden one has them."""
    folder = path_pattern(cwd) if cwd.strip("/") else None  # the root stands for too much
    for line in read_file(path):
        yield encode(_moved(to_object(_anywhere(line)), folder))


def _anywhere(line: Line) -> Line:
    """The line without what it says of this machine, and of what was around the run."""
    if isinstance(line, Header):
        command = tuple(os.path.basename(part) if os.path.isabs(part) else part for part in line.command)  # noqa: PTH117, PTH119  # text
        return replace(line, parent_run_id=None, command=command)
    if isinstance(line, Note) and line.kind == END and isinstance(result := line.fields.get("result"), dict):
        facts = {key: value for key, value in result.get("diagnostics", {}).items() if key not in _OF_THE_MACHINE}
        return replace(line, fields={**line.fields, "result": {**result, "diagnostics": facts, "transcript": None}})
    return line


def _moved(value: Any, folder: re.Pattern[str] | None) -> Any:
    if isinstance(value, str):
        return folder.sub(CWD, value) if folder else value
    if isinstance(value, list):
        return [_moved(item, folder) for item in value]
    return {key: _moved(member, folder) for key, member in value.items()} if isinstance(value, dict) else value
