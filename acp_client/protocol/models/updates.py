"""What an agent tells while it works (ACP v1, prompt turn: `session/update`).

Owns the kinds of update with the plan, the commands, the usage, notices and compaction. Folding
them into a turn is left to the session, which reads raw dicts and builds models only where it must.
"""

from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import Field

from acp_client.protocol.models.base import (
    OR_EMPTY,
    OR_NONE,
    REQUIRED,
    SKIP,
    Kinds,
    LenientStr,
    UInt,
    WireModel,
)
from acp_client.protocol.models.config import ConfigOptions
from acp_client.protocol.models.content import ContentBlock
from acp_client.protocol.models.tool_call import ToolCall, ToolCallUpdate

PlanEntryPriority = Literal["high", "medium", "low"]
PlanEntryStatus = Literal["pending", "in_progress", "completed"]
NoticeSeverity = Literal["info", "warning", "error"]
CompactionStatus = Literal["in_progress", "completed", "failed", "cancelled"]


class _Update(WireModel):
    """What all updates share: the field that tells them apart."""

    TAG: ClassVar[str] = "session_update"


class _Chunk(_Update):
    """A piece of a message; pieces of one message share its id, where the agent gives one."""

    content: ContentBlock
    message_id: LenientStr = None


class UserMessageChunk(_Chunk):
    """A piece of what the user said, as in a replay."""

    session_update: Literal["user_message_chunk"] = "user_message_chunk"


class AgentMessageChunk(_Chunk):
    """A piece of the agent's answer."""

    session_update: Literal["agent_message_chunk"] = "agent_message_chunk"


class AgentThoughtChunk(_Chunk):
    """A piece of the agent's reasoning."""

    session_update: Literal["agent_thought_chunk"] = "agent_thought_chunk"


class ToolCallStart(ToolCall):
    """A tool call is told for the first time."""

    TAG: ClassVar[str] = "session_update"

    session_update: Literal["tool_call"] = "tool_call"


class ToolCallProgress(ToolCallUpdate):
    """A tool call has changed."""

    TAG: ClassVar[str] = "session_update"

    session_update: Literal["tool_call_update"] = "tool_call_update"


class PlanEntry(WireModel):
    """One step of a plan; priority and status are open."""

    content: str
    priority: str
    status: str


class PlanUpdate(_Update):
    """The whole plan; it replaces the one before."""

    session_update: Literal["plan"] = "plan"
    entries: Annotated[list[Annotated[PlanEntry, SKIP]], OR_EMPTY, REQUIRED]


class AvailableCommandInput(WireModel):
    """That a command takes text after its name, and a hint at what."""

    hint: str


class AvailableCommand(WireModel):
    """A command that a prompt may begin with."""

    name: str
    description: str
    input: Annotated[AvailableCommandInput | None, OR_NONE] = None


class AvailableCommandsUpdate(_Update):
    """All commands that the session now has."""

    session_update: Literal["available_commands_update"] = "available_commands_update"
    available_commands: Annotated[list[Annotated[AvailableCommand, SKIP]], OR_EMPTY, REQUIRED]


class CurrentModeUpdate(_Update):
    """The session is now in another mode."""

    session_update: Literal["current_mode_update"] = "current_mode_update"
    current_mode_id: str


class ConfigOptionUpdate(_Update):
    """All config options as they are now."""

    session_update: Literal["config_option_update"] = "config_option_update"
    config_options: ConfigOptions


class SessionInfoUpdate(_Update):
    """What is known of the session has changed (ACP v1, session list).

    Here null is not absence: a field that was given as null (`model_fields_set`) is cleared, one
    that was not given is unchanged. A bad value counts as not given.
    """

    NULLABLE: ClassVar[frozenset[str]] = frozenset({"title", "updated_at"})

    session_update: Literal["session_info_update"] = "session_info_update"
    title: str | None = None
    updated_at: str | None = None

    @classmethod
    def from_wire(cls, obj: object) -> Self:
        """As `WireModel.from_wire`; title and time of a bad type are left out first."""
        if isinstance(obj, dict):
            bad = {k for k in ("title", "updatedAt") if not isinstance(obj.get(k), str | None)}
            obj = {k: v for k, v in obj.items() if k not in bad}
        return super().from_wire(obj)


class Cost(WireModel):
    """Money spent; the currency is a code of ISO 4217."""

    amount: float
    currency: str


class UsageUpdate(_Update):
    """How much of the context window is used, in tokens, and what the session has cost so far."""

    session_update: Literal["usage_update"] = "usage_update"
    used: UInt
    size: UInt
    cost: Annotated[Cost | None, OR_NONE] = None


class Notice(_Update):
    """Something to tell the user beside the conversation; only for clients that say so."""

    session_update: Literal["notice"] = "notice"
    severity: str
    title: str = Field(min_length=1)
    description: LenientStr = None


class CompactionUpdate(_Update):
    """How a compaction of the context goes on; only for clients that say so."""

    session_update: Literal["compaction_update"] = "compaction_update"
    compaction_id: str
    status: str
    summary: Annotated[list[Annotated[ContentBlock, SKIP]] | None, OR_NONE] = None
    error: LenientStr = None


class CompactionSummaryChunk(_Update):
    """A piece of a compaction's summary; only for clients that say so."""

    session_update: Literal["compaction_summary_chunk"] = "compaction_summary_chunk"
    compaction_id: str
    content: ContentBlock


class UnknownUpdate(_Update):
    """An update of a kind that v1 does not have, kept as it came."""

    session_update: str


KnownUpdate = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallStart
    | ToolCallProgress
    | PlanUpdate
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
)
_UPDATE: Kinds[Any] = Kinds("SessionUpdate", known=get_args(KnownUpdate), other=UnknownUpdate)

SessionUpdate = Annotated[KnownUpdate | UnknownUpdate, _UPDATE]


def parse_session_update(obj: object) -> SessionUpdate:
    """Read one update.

    Raises:
        ModelError: it is no object, has no kind, or does not fit the kind that it names.
    """
    update: SessionUpdate = _UPDATE.parse(obj)
    return update


class SessionNotification(WireModel):
    """Params of `session/update`."""

    session_id: str
    update: SessionUpdate
