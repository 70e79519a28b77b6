"""Run sub-agents over ACP, out of process: the parent's side.

Public names are bound when they are first asked for (PEP 562), so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from acp_client._version import __version__

if TYPE_CHECKING:
    from acp_client.outcome import REASONS, Failure, RunResult
    from acp_client.policy.permission import Decision, PermissionRequest
    from acp_client.prompt import Prompt
    from acp_client.run.handle import Run
    from acp_client.runner import Job, Runner, run_subagent, run_subagent_sync
    from acp_client.session.events import (
        Event,
        EventsLost,
        OtherUpdate,
        PermissionAnswered,
        PermissionAsked,
        PlanUpdated,
        RunEnded,
        RunStarted,
        SessionStarted,
        StderrOutput,
        TextChunk,
        ThoughtChunk,
        ToolCallUpdated,
        UsageUpdated,
    )
    from acp_client.spec import AgentSpec, Limits

__all__ = [
    "REASONS",
    "AgentSpec",
    "Decision",
    "Event",
    "EventsLost",
    "Failure",
    "Job",
    "Limits",
    "OtherUpdate",
    "PermissionAnswered",
    "PermissionAsked",
    "PermissionRequest",
    "PlanUpdated",
    "Prompt",
    "Run",
    "RunEnded",
    "RunResult",
    "RunStarted",
    "Runner",
    "SessionStarted",
    "StderrOutput",
    "TextChunk",
    "ThoughtChunk",
    "ToolCallUpdated",
    "UsageUpdated",
    "__version__",
    "run_subagent",
    "run_subagent_sync",
]

_HOMES = {
    "acp_client.outcome": ("REASONS", "Failure", "RunResult"),
    "acp_client.policy.permission": ("Decision", "PermissionRequest"),
    "acp_client.run.handle": ("Run",),
    "acp_client.runner": ("Job", "Runner", "run_subagent", "run_subagent_sync"),
    "acp_client.prompt": ("Prompt",),
    "acp_client.session.events": (
        "Event",
        "EventsLost",
        "OtherUpdate",
        "PermissionAnswered",
        "PermissionAsked",
        "PlanUpdated",
        "RunEnded",
        "RunStarted",
        "SessionStarted",
        "StderrOutput",
        "TextChunk",
        "ThoughtChunk",
        "ToolCallUpdated",
        "UsageUpdated",
    ),
    "acp_client.spec": ("AgentSpec", "Limits"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # a checker knows the names above, and says so of others

    def __getattr__(name: str) -> Any:
        home = _HOME.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
