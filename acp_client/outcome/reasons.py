"""The closed table of why a run ended: its status, its exit code and its meaning. Frozen data, a leaf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

Status: TypeAlias = Literal["completed", "aborted", "error"]
Reason: TypeAlias = Literal[
    "end_turn",
    "cancelled",
    "cancelled_by_agent",
    "max_tokens",
    "max_turn_requests",
    "refusal",
    "unknown_stop_reason",
    "spawn_failed",
    "startup_timeout",
    "idle_timeout",
    "run_timeout",
    "protocol_mismatch",
    "protocol_error",
    "unsupported_content",
    "unsupported_capability",
    "internal_error",
    "auth_required",
    "agent_exited",
    "agent_error",
    "limit_exceeded",
    "budget_exceeded",
    "approval_timeout",
    "output_invalid",
    "completed_without_asking",
    "depth_exceeded",
]


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """One row of the table: the status that goes with a reason, the exit code of `subagent run`, and the meaning."""

    status: Status
    exit_code: int
    meaning: str


REASONS: Final[Mapping[Reason, ReasonRow]] = MappingProxyType(
    {
        "end_turn": ReasonRow("completed", 0, "the agent finished its turn"),
        "cancelled": ReasonRow("aborted", 7, "we cancelled it, whatever the agent answered afterwards"),
        "cancelled_by_agent": ReasonRow("aborted", 7, "the agent says cancelled, and nobody here asked for it"),
        "max_tokens": ReasonRow("error", 9, "the model reached its token limit: the answer is cut"),
        "max_turn_requests": ReasonRow("error", 9, "the agent reached its limit of model requests in a turn"),
        "refusal": ReasonRow("error", 8, "the agent refuses to continue"),
        "unknown_stop_reason": ReasonRow("error", 1, "the stop reason is missing, malformed or not one of ACP v1"),
        "spawn_failed": ReasonRow("error", 1, "the process could not be started"),
        "startup_timeout": ReasonRow("error", 3, "no session within startup_timeout_seconds"),
        "idle_timeout": ReasonRow("error", 3, "no frame and no stderr for idle_timeout_seconds"),
        "run_timeout": ReasonRow("error", 3, "longer than run_timeout_seconds"),
        "protocol_mismatch": ReasonRow("error", 1, "the agent answered another protocol version than 1"),
        "protocol_error": ReasonRow("error", 1, "an answer lacks a required field, or is no frame at all"),
        "unsupported_content": ReasonRow("error", 1, "a prompt block that the agent did not advertise"),
        "unsupported_capability": ReasonRow("error", 1, "something was asked for that the agent does not offer"),
        "internal_error": ReasonRow("error", 1, "a fault of this library; its traceback is in the log"),
        "auth_required": ReasonRow("error", 1, "the agent wants a login before it opens a session"),
        "agent_exited": ReasonRow("error", 1, "the process ended, or closed stdout, with a request open"),
        "agent_error": ReasonRow("error", 1, "the agent answered a request with a JSON-RPC error"),
        "limit_exceeded": ReasonRow("error", 1, "a frame over max_frame_bytes that may have been an answer"),
        "budget_exceeded": ReasonRow("error", 6, "a limit of its budget, or of its runner's, was exceeded"),
        "approval_timeout": ReasonRow("error", 3, "nobody answered an approval in time"),
        "output_invalid": ReasonRow("error", 10, "no value that fits result_type, after all its repairs"),
        "completed_without_asking": ReasonRow("error", 1, "a call changed something unasked, which the policy forbids"),
        "depth_exceeded": ReasonRow("error", 1, "a run within runs, deeper than is allowed; nothing was started"),
    }
)
"""Closed and documented; reasons are only ever added."""
