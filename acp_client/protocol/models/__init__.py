"""The objects of ACP v1 as frozen pydantic models, a chapter of the protocol a file.

Owns the names; each is bound when it is first asked for, so that a program loads only the chapters
that it uses. Reading is `from_wire` or `parse_…`, writing is `to_wire`; see `base` for the rules.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # ruff: noqa: F403 - what a type checker sees; _CHAPTERS says the same, and a test compares
    from acp_client.protocol.models.base import *
    from acp_client.protocol.models.capabilities import *
    from acp_client.protocol.models.config import *
    from acp_client.protocol.models.content import *
    from acp_client.protocol.models.elicitation import *
    from acp_client.protocol.models.initialization import *
    from acp_client.protocol.models.prompt import *
    from acp_client.protocol.models.services import *
    from acp_client.protocol.models.session import *
    from acp_client.protocol.models.tool_call import *
    from acp_client.protocol.models.updates import *
else:  # hidden from type checkers: they would take any name for one of ours

    def __getattr__(name: str) -> object:
        """Bind a public name by loading its chapter (PEP 562)."""
        chapter = _CHAPTER_OF.get(name)
        if chapter is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{chapter}"), name)
        globals()[name] = value
        return value


_CHAPTERS = {
    "base": ("EmptyObject EnvVariable ModelError WireModel wire_name"),
    "capabilities": (
        "AgentAuthCapabilities AgentCapabilities AuthCapabilities Capability "
        "ClientCapabilities ClientSessionCapabilities ConfigOptionsCapabilities "
        "ElicitationCapabilities FileSystemCapabilities McpCapabilities PromptCapabilities "
        "SessionCapabilities"
    ),
    "initialization": (
        "AuthMethod AuthMethodAgent AuthMethodTerminal AuthenticateRequest "
        "AuthenticateResponse Implementation InitializeRequest InitializeResponse "
        "LogoutRequest LogoutResponse ProtocolVersion parse_auth_method"
    ),
    "session": (
        "CloseSessionRequest CloseSessionResponse DeleteSessionRequest DeleteSessionResponse "
        "HttpHeader ListSessionsRequest ListSessionsResponse LoadSessionRequest "
        "LoadSessionResponse McpServer McpServerHttp McpServerSse McpServerStdio McpServers "
        "NewSessionRequest NewSessionResponse ResumeSessionRequest ResumeSessionResponse "
        "SessionInfo parse_mcp_server"
    ),
    "config": (
        "BooleanConfigOption ConfigOption ConfigOptionCategory ConfigOptions "
        "ConfigSelectGroup ConfigSelectOption SelectConfigOption SessionMode SessionModeState "
        "SetConfigOptionRequest SetConfigOptionResponse SetSessionModeRequest "
        "SetSessionModeResponse UnknownConfigOption parse_config_option"
    ),
    "prompt": ("CancelNotification CancelRequestNotification PromptRequest PromptResponse RequestId StopReason Usage"),
    "content": (
        "Annotations AudioContent BlobResourceContents ContentBlock EmbeddedResource "
        "ImageContent ResourceLink Role TextContent TextResourceContents UnknownContent "
        "parse_content_block"
    ),
    "updates": (
        "AgentMessageChunk AgentThoughtChunk AvailableCommand AvailableCommandInput "
        "AvailableCommandsUpdate CompactionStatus CompactionSummaryChunk CompactionUpdate "
        "ConfigOptionUpdate Cost CurrentModeUpdate KnownUpdate Notice NoticeSeverity "
        "PlanEntry PlanEntryPriority PlanEntryStatus PlanUpdate SessionInfoUpdate "
        "SessionNotification SessionUpdate ToolCallProgress ToolCallStart UnknownUpdate "
        "UsageUpdate UserMessageChunk parse_session_update"
    ),
    "tool_call": (
        "CancelledOutcome ContentToolCallContent DiffToolCallContent PermissionOption "
        "PermissionOptionKind PermissionOutcome RequestPermissionRequest "
        "RequestPermissionResponse SelectedOutcome TerminalToolCallContent ToolCall "
        "ToolCallContent ToolCallLocation ToolCallStatus ToolCallUpdate ToolKind "
        "UnknownOutcome UnknownToolCallContent parse_permission_outcome "
        "parse_tool_call_content"
    ),
    "services": (
        "CreateTerminalRequest CreateTerminalResponse KillTerminalRequest "
        "KillTerminalResponse ReadTextFileRequest ReadTextFileResponse ReleaseTerminalRequest "
        "ReleaseTerminalResponse TerminalExitStatus TerminalOutputRequest "
        "TerminalOutputResponse WaitForTerminalExitRequest WaitForTerminalExitResponse "
        "WriteTextFileRequest WriteTextFileResponse"
    ),
    "elicitation": (
        "BooleanProperty CompleteElicitationNotification CreateElicitationRequest "
        "CreateElicitationResponse ElicitationAction ElicitationProperty ElicitationSchema "
        "ElicitationValue EnumOption FormElicitationRequest IntegerProperty "
        "MultiSelectProperty NumberProperty StringFormat StringItems StringProperty "
        "TitledItems UnknownItems UnknownProperty UrlElicitationRequest "
        "parse_elicitation_property"
    ),
}
_CHAPTER_OF = {name: chapter for chapter, names in _CHAPTERS.items() for name in names.split()}

__all__ = sorted(_CHAPTER_OF)  # noqa: PLE0605 - the table is the list


def __dir__() -> list[str]:
    return __all__
