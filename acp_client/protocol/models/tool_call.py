"""Tool calls and the permission to run them (ACP v1, tool calls).

Owns the call, its changes, its content, and the permission request with its answer. Folding changes
into a call, and choosing an option, is left to the session and the policy.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from acp_client.protocol.models.base import (
    OR_EMPTY,
    OR_NONE,
    SKIP,
    Fallback,
    Kinds,
    LenientStr,
    LenientUInt,
    WireModel,
)
from acp_client.protocol.models.content import ContentBlock

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
ToolCallStatus = Literal["pending", "in_progress", "completed", "failed"]
PermissionOptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class ContentToolCallContent(WireModel):
    """A block of content that a tool call produced."""

    TAG: ClassVar[str] = "type"

    type: Literal["content"] = "content"
    content: ContentBlock


class DiffToolCallContent(WireModel):
    """A change of a file; without `old_text` the file is new."""

    TAG: ClassVar[str] = "type"

    type: Literal["diff"] = "diff"
    path: str
    old_text: LenientStr = None
    new_text: str


class TerminalToolCallContent(WireModel):
    """A terminal of the client's whose output belongs to the call."""

    TAG: ClassVar[str] = "type"

    type: Literal["terminal"] = "terminal"
    terminal_id: str


class UnknownToolCallContent(WireModel):
    """Content of a kind that v1 does not have, kept as it came."""

    TAG: ClassVar[str] = "type"

    type: str


_KnownToolCallContent = ContentToolCallContent | DiffToolCallContent | TerminalToolCallContent
_TOOL_CALL_CONTENT = Kinds[_KnownToolCallContent | UnknownToolCallContent](
    "ToolCallContent",
    known=(ContentToolCallContent, DiffToolCallContent, TerminalToolCallContent),
    other=UnknownToolCallContent,
)

ToolCallContent = Annotated[_KnownToolCallContent | UnknownToolCallContent, _TOOL_CALL_CONTENT]


def parse_tool_call_content(obj: object) -> ToolCallContent:
    """Read one piece of a tool call's content.

    Raises:
        ModelError: it is no object, has no type, or does not fit the type that it names.
    """
    return _TOOL_CALL_CONTENT.parse(obj)


class ToolCallLocation(WireModel):
    """A file, and maybe a line counted from 1, that a tool call works on."""

    path: str
    line: LenientUInt = None


class ToolCall(WireModel):
    """A tool call as first told; `kind` and `status` are open, None where left out."""

    tool_call_id: str
    title: str
    name: LenientStr = None
    kind: LenientStr = None
    status: LenientStr = None
    content: Annotated[list[Annotated[ToolCallContent, SKIP]], OR_EMPTY] = Field(default_factory=list)
    locations: Annotated[list[Annotated[ToolCallLocation, SKIP]], OR_EMPTY] = Field(default_factory=list)
    raw_input: Any = None
    raw_output: Any = None


class ToolCallUpdate(WireModel):
    """What changed in a tool call; None is unchanged, and a list replaces the former one.

    It may name a call that was never told before.
    """

    tool_call_id: str
    title: LenientStr = None
    name: LenientStr = None
    kind: LenientStr = None
    status: LenientStr = None
    content: Annotated[list[Annotated[ToolCallContent, SKIP]] | None, OR_NONE] = None
    locations: Annotated[list[Annotated[ToolCallLocation, SKIP]] | None, OR_NONE] = None
    raw_input: Any = None
    raw_output: Any = None


class PermissionOption(WireModel):
    """One answer that the agent offers.

    The id is strict, for it is what is sent back. The rest is read leniently: an option without a
    usable kind can still be shown, and must never be chosen by a rule.
    """

    option_id: str
    name: Annotated[str, Fallback(str)] = ""
    kind: LenientStr = None


class RequestPermissionRequest(WireModel):
    """Params of `session/request_permission`; options that cannot be answered with are dropped."""

    session_id: str
    tool_call: ToolCallUpdate
    options: list[Annotated[PermissionOption, SKIP]]


class SelectedOutcome(WireModel):
    """An option was chosen; whether it allows or rejects is the option's kind, not this outcome."""

    TAG: ClassVar[str] = "outcome"

    outcome: Literal["selected"] = "selected"
    option_id: str


class CancelledOutcome(WireModel):
    """Nothing was chosen, as after `session/cancel`."""

    TAG: ClassVar[str] = "outcome"

    outcome: Literal["cancelled"] = "cancelled"


class UnknownOutcome(WireModel):
    """An outcome that v1 does not have; never an approval."""

    TAG: ClassVar[str] = "outcome"

    outcome: str


_OUTCOME = Kinds[SelectedOutcome | CancelledOutcome | UnknownOutcome](
    "RequestPermissionOutcome", known=(SelectedOutcome, CancelledOutcome), other=UnknownOutcome
)

PermissionOutcome = Annotated[SelectedOutcome | CancelledOutcome | UnknownOutcome, _OUTCOME]


def parse_permission_outcome(obj: object) -> PermissionOutcome:
    """Read the outcome of a permission request.

    Raises:
        ModelError: it is no object, has no outcome, or a selected one has no option id.
    """
    return _OUTCOME.parse(obj)


class RequestPermissionResponse(WireModel):
    """Result of `session/request_permission`."""

    outcome: PermissionOutcome
