"""How a run came to its end: the first terminal cause, and what the wire's errors mean as one.

Owns the mapping from protocol errors to reasons. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from acp_client.outcome.reasons import REASONS, Reason
from acp_client.outcome.result import Stage, ToolCallState
from acp_client.protocol.errors import AUTH_REQUIRED, FrameTooLong, MalformedAnswer, RemoteError, RequestFailed
from acp_client.spec import Limits

STOP_REASONS: Final[dict[str, Reason]] = {
    "end_turn": "end_turn",
    "max_tokens": "max_tokens",
    "max_turn_requests": "max_turn_requests",
    "refusal": "refusal",
    "cancelled": "cancelled_by_agent",
}
"""What the agent's word for the end of a turn means, where it is not our own cancel."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A terminal cause. `message` says what failed, the rule and the correction; empty for a completed turn."""

    reason: Reason
    message: str = ""
    stage: Stage = "prompt"
    request: str | None = None
    rpc_code: int | None = None
    rpc_message: str | None = None
    rpc_data: Any = None


class EndRun(Exception):  # it carries an ending, which may be no error at all
    """Raised inside a conversation to end it; never leaves the library."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.message)
        self.ending = ending


def ending_of_turn(word: Any) -> Ending:
    """What the agent's stop reason means (any JSON value: it may be missing or malformed)."""
    reason = STOP_REASONS.get(word) if isinstance(word, str) else None
    if reason is None:
        known = ", ".join(STOP_REASONS)
        message = f"`stopReason` is {word!r}; ACP v1 knows: {known}"
        return Ending("unknown_stop_reason", message, request="session/prompt")
    return Ending(reason, "" if reason == "end_turn" else REASONS[reason].meaning, request="session/prompt")


def ending_of_timeout(reason: Reason, limits: Limits, stage: Stage, request: str | None) -> Ending:
    """What to say when a deadline of the limits has passed; `reason` names the limit too."""
    seconds = getattr(limits, f"{reason}_seconds")
    waiting = f"{request} was not answered" if request else "no request was open"
    message = f"{REASONS[reason].meaning} = {seconds:g}; {waiting}; raise limits.{reason}_seconds if it needs longer"
    return Ending(reason, message, stage, request)


def ending_of_unasked(calls: Sequence[ToolCallState], stage: Stage, request: str | None) -> Ending:
    """What to say when calls have changed something without asking, and the policy takes that for an error."""
    named = [f"{call.title or call.name or call.id!r} ({call.kind})" for call in calls]
    message = (
        f"{REASONS['completed_without_asking'].meaning}: {', '.join(named)}; make the agent ask (its mode, its "
        'settings), or take it as a note with PermissionPolicy(unasked="note")'
    )
    return Ending("completed_without_asking", message, stage, request)


def ending_of(error: RemoteError, stage: Stage, request: str) -> Ending:
    """What it means that one of our requests was not answered with a result."""
    if isinstance(error, RequestFailed):
        auth = error.code == AUTH_REQUIRED and request == "session/new"
        code = "no code" if error.code is None else error.code
        return Ending(
            "auth_required" if auth else "agent_error",
            f"{request}: the agent answered with an error: {error.message} ({code})",
            stage,
            request,
            error.code,
            error.message,
            error.data,
        )
    if isinstance(error, MalformedAnswer):
        return Ending("protocol_error", f"the answer to {request} cannot be used: {error.detail}", stage, request)
    if isinstance(error, FrameTooLong):
        message = f"while {request} was open, {error}; raise the limit if such answers are expected"
        return Ending("limit_exceeded", message, stage, request)
    asked = "; is it an ACP agent, and does it need an argument such as `acp` for that?"
    message = f"the agent went away before it answered {request}{asked if stage == 'initialize' else ''}"
    return Ending("agent_exited", message, stage, request)
