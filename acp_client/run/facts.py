"""What a run knows beside its session: what it was given, what it made of it, and what it met.

Owns the environment of the child and the secrets to be redacted. `life` fills it in, `report` reads it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Final

from acp_client.process.child import AgentProcess
from acp_client.process.environment import ScrubbedEnvironment, scrub, secret_values
from acp_client.process.redaction import Redactor
from acp_client.process.spawn import Spawned, launch
from acp_client.process.stderr import StderrEvents, StderrTail
from acp_client.spec import AgentSpec

DEPTH_VARIABLE: Final = "ACP_SUBAGENTS_DEPTH"
"""How many runs are around a process; 0 where there is none."""


@dataclass(slots=True)
class Facts:
    """Filled in as the run goes; times in seconds."""

    run_id: str
    command: tuple[str, ...]
    cwd: str
    environment: ScrubbedEnvironment
    redactor: Redactor
    stderr: StderrTail
    stderr_events: StderrEvents
    depth: int = 0
    process: AgentProcess | None = None
    agent_info: dict[str, Any] | None = None
    auth_methods: str = ""
    stop_reason: str | None = None
    prompt_sent: bool = False
    outlived_stdout: bool = False
    timings: dict[str, float] = field(default_factory=dict)
    dropped_events: int = 0

    def launch(self) -> Spawned:
        """Start the child. Blocks; raises SpawnError."""
        variables = self.environment.variables | {DEPTH_VARIABLE: str(self.depth + 1)}
        return launch(self.command, cwd=self.cwd, env=variables, run_id=self.run_id)


def gather_facts(spec: AgentSpec, run_id: str) -> Facts:
    """What is known before the child is there. The environment is that of the moment of the call."""
    environment = scrub(os.environ, explicit=spec.env, passthrough=spec.env_passthrough)
    pairs = [(pair.name, pair.value) for server in spec.mcp_servers for pair in _pairs(server)]
    redactor = Redactor((*environment.secrets, *secret_values(pairs)))
    return Facts(
        run_id=run_id,
        command=spec.command,
        cwd=spec.cwd or _working_directory(),
        environment=environment,
        redactor=redactor,
        stderr=StderrTail(spec.limits.stderr_tail_bytes, redactor),
        stderr_events=StderrEvents(redactor),
        depth=_depth(),
    )


def _pairs(server: Any) -> list[Any]:
    """The env of a stdio server, the headers of the others: where their secrets are."""
    return [*(getattr(server, "env", None) or ()), *(getattr(server, "headers", None) or ())]


def _depth() -> int:
    given = os.environ.get(DEPTH_VARIABLE, "0")
    return int(given) if given.isdecimal() else 0


def _working_directory() -> str:
    """As text, as it goes on the wire. One that was deleted is named as it was, and the spawn says so."""
    try:
        return os.getcwd()  # noqa: PTH109  # text
    except FileNotFoundError:
        return os.environ.get("PWD", "the working directory")
