"""What a run knows beside its session: what it was given, what it made of it, and what it met.

Owns the environment of the child and the secrets to be redacted. `life` fills it in, `report` reads it.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from acp_client.process.child import AgentProcess
from acp_client.process.environment import ScrubbedEnvironment
from acp_client.process.redaction import Redactor
from acp_client.process.spawn import Spawned, launch
from acp_client.process.stderr import StderrEvents, StderrTail
from acp_client.record.format.call_path import call_path_meta, call_path_variables
from acp_client.record.place import Place
from acp_client.run.child.depth import Depth
from acp_client.run.child.surroundings import surroundings_of
from acp_client.spec import AgentSpec
from acp_client.warm.process import Plan, WarmProcess

TOOLS_SECRET_BYTES: Final = 32


@dataclass(slots=True)
class Facts:
    """Filled in as the run goes; times in seconds."""

    run_id: str
    command: tuple[str, ...]
    cwd: str
    environment: ScrubbedEnvironment
    handed_on: Mapping[str, str] = field(repr=False)
    redactor: Redactor
    stderr: StderrTail
    stderr_events: StderrEvents
    depth: Depth = field(default_factory=Depth)
    call_path: str = ""
    place: Place | None = None
    """Where the transcript goes, if there is one."""
    process: AgentProcess | None = None
    agent_info: dict[str, Any] | None = None
    auth_methods: str = ""
    stop_reason: str | None = None
    prompt_sent: bool = False
    outlived_stdout: bool = False
    launched_at: float = 0.0
    """When a thread was there to start the child in."""
    waited_for_thread: float = 0.0
    """For so long there was none, which is not the agent's time."""
    on_session: Callable[[], None] = lambda: None
    """Told when the session exists."""
    timings: dict[str, float] = field(default_factory=dict)
    done_before: dict[str, float] = field(default_factory=dict)
    """Those of a warm process, which count in place of the run's own."""
    dropped_events: int = 0
    known_secrets: tuple[str, ...] = field(default=(), repr=False)
    approval_cap_seconds: float | None = None
    """The most that an approval may take in this deployment."""

    def make_tools_secret(self, stderr_tail_bytes: int) -> str:
        """Who has it may call the host tools of this run. Made before anything starts, so that it is never shown."""
        secret = secrets.token_urlsafe(TOOLS_SECRET_BYTES)
        self.redactor = Redactor((*self.known_secrets, secret))
        self.stderr = StderrTail(stderr_tail_bytes, self.redactor)
        self.stderr_events = StderrEvents(self.redactor)
        return secret

    def place_meta(self) -> dict[str, Any]:
        """Where the child is among the runs around it, for one that knows our extension."""
        place = self.place.meta() if self.place is not None else {}
        return self.depth.meta() | call_path_meta(self.call_path) | place

    def adopt(self, warm: WarmProcess) -> AgentProcess:
        """Take a process that was started ahead of need."""
        self.process = warm.process
        self.done_before = {"warm": warm.ready_seconds, "spawn": 0.0, "initialize": 0.0}
        return warm.process

    def plan(self) -> Plan:
        """What the child is started with, but what is this run's alone: its marker, its place among others."""
        return Plan(self.command, self.cwd, {**self.handed_on, **self.depth.variables()})

    def launch(self) -> Spawned:
        """Start the child. Blocks; raises SpawnError."""
        plan = self.plan()
        own = call_path_variables(self.call_path) | (self.place.variables() if self.place is not None else {})
        self.launched_at = time.monotonic()
        return launch(plan.command, cwd=plan.cwd, env={**plan.variables, **own}, run_id=self.run_id)


def gather_facts(spec: AgentSpec, run_id: str) -> Facts:
    """What is known before the child is there."""
    around = surroundings_of(spec)
    return Facts(
        run_id=run_id,
        command=spec.command,
        cwd=spec.cwd or _working_directory(),
        environment=around.environment,
        handed_on=around.handed_on,
        redactor=around.redactor,
        known_secrets=around.known_secrets,
        stderr=StderrTail(spec.limits.stderr_tail_bytes, around.redactor),
        stderr_events=StderrEvents(around.redactor),
        depth=around.depth,
    )


def plan_of(spec: AgentSpec, levels: int | None) -> Plan | None:
    """What a run of this spec would be started with now; None where it would be too deep."""
    facts = gather_facts(spec, "")
    facts.depth = facts.depth.limited(levels)
    return facts.plan() if facts.depth.refusal() is None else None


def _working_directory() -> str:
    """As text, as it goes on the wire. One that was deleted is named as it was, and the spawn says so."""
    try:
        return os.getcwd()  # noqa: PTH109  # text
    except FileNotFoundError:
        return os.environ.get("PWD", "the working directory")
