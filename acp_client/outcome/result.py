"""How a run ended: the result and its failure; why, `reasons` says. Frozen data, no behaviour.

Owns `RunResult` and what is in it. A leaf: knows neither processes nor the wire, only the protocol's models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, PlainSerializer, SkipValidation

from acp_client.frozen import as_json
from acp_client.outcome.reasons import Reason, Status
from acp_client.policy.budget import BudgetReport

if TYPE_CHECKING:
    from acp_client.protocol.models import ContentBlock, PlanEntry
else:  # nothing looks at them here: they are not validated, and their chapters load when there is one
    ContentBlock = PlanEntry = Any

Stage: TypeAlias = Literal["spawn", "initialize", "authenticate", "session", "prompt", "teardown"]
HostToolStatus: TypeAlias = Literal["running", "completed", "failed", "rejected", "cancelled"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null", defer_build=True)


def _to_wire(model: Any) -> dict[str, Any]:
    return dict(model.to_wire())


_AsWire: Final = PlainSerializer(_to_wire)
"""Models of the protocol stand in a JSON result as they stood on the wire."""


class Failure(_Frozen):
    """Why a run is not `completed`: what failed, the rule, what to do. Redacted; sizes bounded.

    `request` is the method that was open; `rpc_code`, `rpc_message` and `rpc_data` are the agent's own error.
    `retry_safe` is True only if no byte of the prompt can have reached the agent.
    """

    stage: Stage
    message: str
    request: str | None = None
    rpc_code: int | None = None
    rpc_message: str | None = None
    rpc_data: Any = None
    retry_safe: bool = False


class StdoutNoise(_Frozen):
    """Lines on stdout that were no frames: how many, and the first of them."""

    count: int = 0
    first_lines: tuple[str, ...] = ()


class Diagnostics(_Frozen):
    """What there is to know of the process, always present. `signal` is the number that ended it, if one did."""

    exit_code: int | None = None
    signal: int | None = None
    stderr_tail: str = ""
    stderr_dropped_bytes: int = 0
    stdout_noise: StdoutNoise = StdoutNoise()
    path_used: str | None = None
    removed_env: tuple[str, ...] = ()
    dropped_frames: int = 0
    dropped_events: int = 0
    transcript_fault: str | None = None


class Message(_Frozen):
    """One message of the agent: its id where it has one, its text, and its blocks that are not text."""

    id: str | None = None
    text: str = ""
    blocks: tuple[Annotated[SkipValidation[ContentBlock], _AsWire], ...] = ()


class ToolCallState(_Frozen):
    """A tool call as its updates left it. `raw` is all of it in wire names, later fields over earlier ones.

    A call that was only ever updated, or first seen in a permission request, may lack a title; one that the agent
    never closed keeps the status that it had last.
    """

    id: str
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    raw: Mapping[str, Any] = {}


class OptionRecord(_Frozen):
    """An answer that the agent offered; `name` is its text, cut."""

    id: str
    name: str = ""
    kind: str | None = None


class PermissionRecord(_Frozen):
    """One thing that was asked: what for, how it was answered and by whom, and how long that took.

    `subject`: a tool call; a choice that is no permission (a mode, a plan); a form; the turn itself. `action` is what
    was decided, `outcome` and `option_id` what was sent (a form or a turn is accepted or declined). `wider` marks an
    `allow_always` that was sent because there was no `allow_once`. `rule` is what the policy said, `decided_by` who
    decided in the end, `role` the reviewer's role that was asked for; `remembered`: by an approval given before in
    this conversation. `options` are those offered, the first of them if there were very many.
    """

    tool_call_id: str
    title: str | None = None
    kind: str | None = None
    session_id: str | None = None
    subject: Literal["tool", "choice", "elicitation", "turn"] = "tool"
    action: Literal["allow", "reject", "cancelled"]
    outcome: Literal["selected", "cancelled", "accepted", "declined"]
    option_id: str | None = None
    option_kind: str | None = None
    options: tuple[OptionRecord, ...] = ()
    wider: bool = False
    rule: str | None = None
    decided_by: str
    role: str | None = None
    remembered: bool = False
    why: str | None = None
    seconds: float


class HostToolCall(_Frozen):
    """One call of a tool that the parent offered, as its server saw it: what the agent says of it may differ.

    `ordinal` counts from 1. `arguments` are redacted; large ones are cut to text. `seconds` is how long it took, or has
    taken. `error` is what the model was told. `tool_call_id` is that of the agent's own call, where it announced one.
    """

    ordinal: int
    name: str
    arguments: Any = None
    status: HostToolStatus
    seconds: float
    error: str | None = None
    tool_call_id: str | None = None


class Cost(_Frozen):
    """What the agent says the session cost so far."""

    amount: float
    currency: str


class Usage(_Frozen):
    """What the agent reported; what it did not report stays None, never 0. Cost is cumulative, assigned, not summed."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    thought_tokens: int | None = None
    total_tokens: int | None = None
    context_used: int | None = None
    context_size: int | None = None
    cost: Cost | None = None
    source: Literal["prompt_response", "usage_update", "both"] | None = None


class Timings(_Frozen):
    """Seconds. Each is the length of its stage; `first_chunk` counts from the prompt, `total` from the call.

    `queued`: from the call until the run might start its child (a place, a turn at starting, file descriptors).
    `warm`: how long the process had stood ready when the run took it; None for one that the run started itself. A warm
    run's `spawn` and `initialize` are 0.0.
    """

    queued: float | None = None
    warm: float | None = None
    spawn: float | None = None
    initialize: float | None = None
    session: float | None = None
    prompt: float | None = None
    first_chunk: float | None = None
    teardown: float | None = None
    total: float | None = None


class Flags(_Frozen):
    """What a caller may want to look at twice.

    `empty`: completed without any output. `truncated`: text was cut or an update dropped. `late_updates`: how many
    came after the answer. `completed_without_asking`: ids of mutating tool calls that completed unasked. `killed`:
    the signal that it took to end the process tree. `omitted_messages`: how many messages before the last one are not
    in `text` and `messages`, since the spec keeps the last one only.
    """

    empty: bool = False
    truncated: bool = False
    late_updates: int = 0
    completed_without_asking: tuple[str, ...] = ()
    killed: Literal["term", "kill"] | None = None
    omitted_messages: int = 0


class RunResult(_Frozen):
    """All that is known of one run. `failure` is None exactly when `status` is "completed".

    `structured` is the typed value, after `repairs` further prompts. `budget` is what was spent of it, None where
    neither the run nor its runner has one. `host_tools` says whether the agent has listed the tools offered ("none":
    there were none), `host_tool_calls` what it called. `nested_trace` is what the agent's own sub-agents did, as it
    says so itself: JSON data, for display.
    """

    status: Status
    reason: Reason
    stop_reason: str | None = None
    text: str = ""
    last_message: str = ""
    messages: tuple[Message, ...] = ()
    structured: Annotated[Any, PlainSerializer(as_json, when_used="json")] = None
    repairs: int = 0
    failure: Failure | None = None
    diagnostics: Diagnostics = Diagnostics()
    tool_calls: tuple[ToolCallState, ...] = ()
    plan: tuple[Annotated[SkipValidation[PlanEntry], _AsWire], ...] = ()
    permissions: tuple[PermissionRecord, ...] = ()
    host_tools: Literal["none", "not_listed", "listed"] = "none"
    host_tool_calls: tuple[HostToolCall, ...] = ()
    usage: Usage = Usage()
    budget: BudgetReport | None = None
    timings: Timings = Timings()
    flags: Flags = Flags()
    run_id: str
    session_id: str | None = None
    agent_info: Mapping[str, Any] | None = None
    depth: int = 0
    nested_trace: tuple[Any, ...] = ()
    transcript: str | None = None
