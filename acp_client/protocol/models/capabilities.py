"""What each side says it can do (ACP v1, initialization: capabilities).

Owns the capability objects of client and agent. Who checks them before a call is decided elsewhere.

An omitted capability is unsupported, an object (`{}`) is supported, null is unsupported. A bad
value reads as unsupported.
"""

from typing import Annotated

from pydantic import Field

from acp_client.protocol.models.base import OR_NONE, EmptyObject, Fallback, LenientBool, WireModel


class Capability(EmptyObject):
    """A capability without settings: that it is there says it all."""


_OptionalCapability = Annotated[Capability | None, OR_NONE]


class FileSystemCapabilities(WireModel):
    """Which file methods a client serves (ACP v1, file system)."""

    read_text_file: LenientBool = False
    write_text_file: LenientBool = False


class AuthCapabilities(WireModel):
    """Which ways to authenticate a client offers (ACP v1, authentication)."""

    terminal: LenientBool = False


class ConfigOptionsCapabilities(WireModel):
    """Which kinds of config option, beside select, a client can show."""

    boolean: _OptionalCapability = None


class ClientSessionCapabilities(WireModel):
    """What a client understands in a session beyond the baseline."""

    compaction: _OptionalCapability = None
    config_options: Annotated[ConfigOptionsCapabilities | None, OR_NONE] = None
    notices: _OptionalCapability = None


class ElicitationCapabilities(WireModel):
    """Which modes of elicitation a client serves (ACP v1, elicitation); none when empty."""

    form: _OptionalCapability = None
    url: _OptionalCapability = None


class ClientCapabilities(WireModel):
    """What a client can do (ACP v1, initialization: client capabilities)."""

    fs: Annotated[FileSystemCapabilities, Fallback(FileSystemCapabilities)] = Field(
        default_factory=FileSystemCapabilities
    )
    terminal: LenientBool = False
    session: Annotated[ClientSessionCapabilities | None, OR_NONE] = None
    auth: Annotated[AuthCapabilities, Fallback(AuthCapabilities)] = Field(default_factory=AuthCapabilities)
    elicitation: Annotated[ElicitationCapabilities | None, OR_NONE] = None


class PromptCapabilities(WireModel):
    """Which content an agent takes in a prompt beyond text and resource links."""

    image: LenientBool = False
    audio: LenientBool = False
    embedded_context: LenientBool = False


class McpCapabilities(WireModel):
    """Which transports to MCP servers an agent has beyond stdio."""

    http: LenientBool = False
    sse: LenientBool = False


class SessionCapabilities(WireModel):
    """Which session methods an agent serves beyond the baseline."""

    list: _OptionalCapability = None
    delete: _OptionalCapability = None
    additional_directories: _OptionalCapability = None
    resume: _OptionalCapability = None
    close: _OptionalCapability = None


class AgentAuthCapabilities(WireModel):
    """What an agent offers for authentication beyond its methods."""

    logout: _OptionalCapability = None


class AgentCapabilities(WireModel):
    """What an agent can do (ACP v1, initialization: agent capabilities)."""

    load_session: LenientBool = False
    prompt_capabilities: Annotated[PromptCapabilities, Fallback(PromptCapabilities)] = Field(
        default_factory=PromptCapabilities
    )
    mcp_capabilities: Annotated[McpCapabilities, Fallback(McpCapabilities)] = Field(default_factory=McpCapabilities)
    session_capabilities: Annotated[SessionCapabilities, Fallback(SessionCapabilities)] = Field(
        default_factory=SessionCapabilities
    )
    auth: Annotated[AgentAuthCapabilities, Fallback(AgentAuthCapabilities)] = Field(
        default_factory=AgentAuthCapabilities
    )
