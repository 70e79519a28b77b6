"""Run sub-agents over ACP, out of process: the parent's side.

Public names are bound when they are first asked for (PEP 562), so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from acp_client._version import __version__

if TYPE_CHECKING:
    from acp_client.approvals.queue import ApprovalQueue
    from acp_client.approvals.terminal.approver import TerminalApprover
    from acp_client.batch import Job
    from acp_client.delegate.declared import SubAgent
    from acp_client.delegate.errors import SubAgentFailed, UnknownSubAgent
    from acp_client.delegate.progress import SubAgentEvent, SubAgentStarted, SubAgentStopped
    from acp_client.delegate.reply import ToolReply
    from acp_client.delegate.sub_agents import SubAgents
    from acp_client.delegate.tools import DelegateTool
    from acp_client.outcome.reasons import REASONS
    from acp_client.outcome.result import Failure, HostToolCall, RunResult
    from acp_client.policy.approval import ApprovalRequest, Approvals, ToolApproval
    from acp_client.policy.budget import Budget, BudgetReport
    from acp_client.policy.permission import Decision, PermissionRequest
    from acp_client.policy.policy_file import load_policy
    from acp_client.policy.rules import PermissionPolicy, Rule
    from acp_client.prompt import Prompt
    from acp_client.record.place import Transcripts
    from acp_client.run.handle import Run
    from acp_client.runner import Runner, run_subagent, run_subagent_sync
    from acp_client.session.events import (
        BudgetUnreported,
        BudgetWarning,
        Event,
        EventsLost,
        HostToolCalled,
        HostToolReturned,
        HostToolsOffered,
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
    from acp_client.tools.context import ToolContext
    from acp_client.tools.results import Image
    from acp_client.tools.tool import HostTool

__all__ = [
    "REASONS",
    "AgentSpec",
    "ApprovalQueue",
    "ApprovalRequest",
    "Approvals",
    "Budget",
    "BudgetReport",
    "BudgetUnreported",
    "BudgetWarning",
    "Decision",
    "DelegateTool",
    "Event",
    "EventsLost",
    "Failure",
    "HostTool",
    "HostToolCall",
    "HostToolCalled",
    "HostToolReturned",
    "HostToolsOffered",
    "Image",
    "Job",
    "Limits",
    "OtherUpdate",
    "PermissionAnswered",
    "PermissionAsked",
    "PermissionPolicy",
    "PermissionRequest",
    "PlanUpdated",
    "Prompt",
    "Rule",
    "Run",
    "RunEnded",
    "RunResult",
    "RunStarted",
    "Runner",
    "SessionStarted",
    "StderrOutput",
    "SubAgent",
    "SubAgentEvent",
    "SubAgentFailed",
    "SubAgentStarted",
    "SubAgentStopped",
    "SubAgents",
    "TerminalApprover",
    "TextChunk",
    "ThoughtChunk",
    "ToolApproval",
    "ToolCallUpdated",
    "ToolContext",
    "ToolReply",
    "Transcripts",
    "UnknownSubAgent",
    "UsageUpdated",
    "__version__",
    "load_policy",
    "run_subagent",
    "run_subagent_sync",
]

_HOMES = {
    "acp_client.approvals.queue": ("ApprovalQueue",),
    "acp_client.approvals.terminal.approver": ("TerminalApprover",),
    "acp_client.policy.approval": ("ApprovalRequest", "Approvals", "ToolApproval"),
    "acp_client.delegate.declared": ("SubAgent",),
    "acp_client.delegate.errors": ("SubAgentFailed", "UnknownSubAgent"),
    "acp_client.delegate.progress": ("SubAgentEvent", "SubAgentStarted", "SubAgentStopped"),
    "acp_client.delegate.reply": ("ToolReply",),
    "acp_client.delegate.sub_agents": ("SubAgents",),
    "acp_client.delegate.tools": ("DelegateTool",),
    "acp_client.outcome.reasons": ("REASONS",),
    "acp_client.outcome.result": ("Failure", "HostToolCall", "RunResult"),
    "acp_client.policy.budget": ("Budget", "BudgetReport"),
    "acp_client.policy.permission": ("Decision", "PermissionRequest"),
    "acp_client.policy.policy_file": ("load_policy",),
    "acp_client.policy.rules": ("PermissionPolicy", "Rule"),
    "acp_client.run.handle": ("Run",),
    "acp_client.record.place": ("Transcripts",),
    "acp_client.batch": ("Job",),
    "acp_client.runner": ("Runner", "run_subagent", "run_subagent_sync"),
    "acp_client.prompt": ("Prompt",),
    "acp_client.session.events": (
        "BudgetUnreported",
        "BudgetWarning",
        "Event",
        "EventsLost",
        "HostToolCalled",
        "HostToolReturned",
        "HostToolsOffered",
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
    "acp_client.tools.context": ("ToolContext",),
    "acp_client.tools.results": ("Image",),
    "acp_client.tools.tool": ("HostTool",),
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
