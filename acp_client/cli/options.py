"""From what was typed to an `AgentSpec` and a task. Owns every usage error of `subagent run`.

A message says what failed, the rule, and the correction. Values of the environment are in none.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import click

from acp_client import catalog
from acp_client.cli.oversight import oversight

if TYPE_CHECKING:
    from pydantic import ValidationError

    from acp_client.policy.budget import Budget
    from acp_client.record.place import OneFile
    from acp_client.spec import AgentSpec

Format: TypeAlias = Literal["text", "json", "jsonl", "quiet"]

STDIN: Final = "-"
READ_BYTES: Final = 65_536

MAX_DIGITS: Final = 18
"""Of a count: more of them are no limit."""

_OPTION_OF_FIELD: Final = {
    "command": "--agent",
    "run_timeout_seconds": "--timeout",
    "config_options": "--config-option",
    "additional_directories": "--add-dir",
}
"""Where a field's option is called otherwise than the field."""

_RULES: Final = {
    "string_too_short": "must not be empty; give a value, or leave the option out",
    "string_unicode": "must be valid UTF-8; give it in this encoding",
}
"""What pydantic finds, in words for somebody who has typed it."""

_BOOLEANS: Final = {"true": True, "false": False}
"""Words that set a config option of the boolean kind."""


def amount(unit: str, example: str) -> Callable[[str], float]:
    """A finite number above 0 as a person types it. Raises BadParameter, to which click adds the option."""

    def read(typed: str) -> float:
        try:
            number = float(typed)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise click.BadParameter(f"{typed!r} is not a finite number of {unit} greater than 0; say {example}")
        return number

    return read


def count(unit: str, example: str) -> Callable[[str], int]:
    """A whole number above 0, likewise."""

    def read(typed: str) -> int:
        if not (typed.isascii() and typed.isdecimal() and len(typed) <= MAX_DIGITS and int(typed)):
            raise click.BadParameter(f"{typed!r} is not a whole number of {unit} greater than 0; say {example}")
        return int(typed)

    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of `subagent run` as click hands them over."""

    agent: str | None
    cwd: str | None
    timeout: float | None
    permission: str
    format: Format
    file: str | None
    env: tuple[str, ...]
    env_passthrough: tuple[str, ...]
    model: str | None
    mode: str | None
    config_option: tuple[str, ...]
    auth_method: str | None
    add_dir: tuple[str, ...]
    task: tuple[str, ...]
    max_steps: int | None = None
    max_cost_usd: float | None = None
    max_tokens: int | None = None
    max_wall_seconds: float | None = None
    approvals: str | None = None
    approval_timeout: float | None = None
    schema: str | None = None
    transcript: str | None = None

    def spec(self) -> AgentSpec:
        """The agent to run. Raises UsageError."""
        environment = pairs(self.env, "--env", "NAME=VALUE; to hand one of ours on, use --env-passthrough NAME")
        command, name = resolve_agent(self.agent, search_path=environment.get("PATH"))
        options = pairs(self.config_option, "--config-option", "KEY=VALUE")
        from pydantic import ValidationError  # noqa: PLC0415  # a wrong --agent or task needs no models

        from acp_client.spec import AgentSpec, Limits  # noqa: PLC0415

        who_decides = oversight(self.permission, self.approval_timeout, self.approvals)
        try:
            return AgentSpec(
                command=command,
                name=name,
                cwd=self.cwd,
                env=environment,
                env_passthrough=self.env_passthrough,
                **who_decides,
                model=self.model,
                mode=self.mode,
                config_options={key: _BOOLEANS.get(value, value) for key, value in options.items()},
                auth_method=self.auth_method,
                additional_directories=self.add_dir,
                budget=self._budget(),
                limits=Limits() if self.timeout is None else Limits(run_timeout_seconds=self.timeout),
            )
        except ValidationError as error:
            raise click.UsageError(explain(error)) from error

    def _budget(self) -> Budget | None:
        from acp_client.policy.budget import FIGURES, Budget  # noqa: PLC0415  # as above

        limits = {name: getattr(self, name) for name in (f"max_{figure}" for figure in FIGURES)}
        return Budget(**limits) if any(limits.values()) else None

    def transcript_file(self) -> OneFile | None:
        """Where the transcript goes. Raises UsageError where no file can be."""
        if self.transcript is None:
            return None
        path = Path(self.transcript)
        if not self.transcript or path.is_dir() or not path.parent.is_dir():
            fault = "is a folder" if self.transcript and path.is_dir() else "is in no folder that is there"
            raise click.UsageError(f"--transcript {self.transcript!r} {fault}; name a file in one, such as run.jsonl")
        from acp_client.cli.show.files import holds_no_transcript  # noqa: PLC0415  # as above
        from acp_client.record.place import OneFile  # noqa: PLC0415  # as above

        try:
            fault = holds_no_transcript(path)
        except OSError as error:
            fault = f"cannot be read: {error.strerror}; name another file"
        if fault:
            raise click.UsageError(f"--transcript {self.transcript!r} {fault}")
        return OneFile(path)

    def read_task(self) -> str:
        """The task, verbatim. Raises UsageError."""
        source = STDIN if self.task == (STDIN,) else self.file
        if self.file is not None and self.task:
            raise click.UsageError("the task is given twice, as words and with -f; give one of them")
        task = " ".join(self.task) if source is None else _read(source)
        if not task.strip():
            where = "no task is given" if source is None else f"the task in {_called(source)} is empty"
            raise click.UsageError(f"{where}; say what to do: TASK words, -f FILE, or - for stdin")
        try:
            task.encode()
        except UnicodeEncodeError as error:
            raise click.UsageError("the task is not valid UTF-8, which is all that ACP can carry") from error
        return task


def resolve_agent(given: str | None, *, search_path: str | None = None) -> tuple[tuple[str, ...], str | None]:
    """The argv for `--agent`, and the name where it is one of the catalog. Raises UsageError.

    A name of the catalog wins over a program of the same name (write `./echo` for that). Anything else is split into
    words as a shell would, but no shell sees it. A program given by a relative path is one seen from here, not
    from --cwd.
    """
    names = ", ".join(catalog.agents())
    if given is None:
        raise click.UsageError(f"--agent is missing; give a name ({names}) or a command in quotes")
    entry = catalog.find(given)
    if entry is not None:
        return entry.command, entry.name
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise click.UsageError(f"--agent cannot be split into words: {error}; close every quote") from error
    if not words or not words[0]:
        raise click.UsageError(f"--agent is empty; give a name ({names}) or a command in quotes")
    program = words[0]
    if os.sep in program:
        return (os.path.abspath(os.path.expanduser(program)), *words[1:]), None  # noqa: PTH100, PTH111  # keeps links
    if len(words) == 1 and shutil.which(program, path=search_path) is None:
        raise click.UsageError(
            f"--agent {program!r} is neither an agent's name nor a program on PATH; the names are: {names}"
        )
    return tuple(words), None


def pairs(given: Iterable[str], option: str, rule: str) -> Mapping[str, str]:
    """`NAME=VALUE` words as a mapping; the last of a name wins. Raises UsageError, which shows no value."""
    found = {}
    for number, word in enumerate(given, 1):
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise click.UsageError(f"{option} number {number} has no name and '='; it is {rule}")
        found[name] = value
    return found


def _called(source: str) -> str:
    return "stdin" if source == STDIN else repr(source)


def _read(source: str) -> str:
    try:
        data = _read_stdin() if source == STDIN else Path(source).read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise click.UsageError(
            f"the task cannot be read from {_called(source)}: {why}; -f wants a readable file"
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = (
            f"the task in {_called(source)} is not UTF-8 (byte {error.start}); convert it, or name the file in the task"
        )
        raise click.UsageError(message) from error


def _read_stdin() -> bytes:
    """All of it. In small reads, since Python looks for an interrupt only between them."""
    parts = []
    while part := os.read(sys.stdin.fileno(), READ_BYTES):
        parts.append(part)
    return b"".join(parts)


def explain(error: ValidationError) -> str:
    """The first thing that is wrong, by the name of its option."""
    first: Any = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    option = _OPTION_OF_FIELD.get(field, f"--{field.replace('_', '-')}")
    ours = first["msg"].removeprefix("Value error, ") if first["type"] == "value_error" else None
    rule = ours or _RULES.get(first["type"], "is not a value that it takes; see subagent run --help")
    return f"{option}: {rule}"
