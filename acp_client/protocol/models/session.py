"""The life of a session (ACP v1, session setup, session list, session delete).

Owns new, load, resume, list, delete and close, and the MCP servers that a session is given. What
happens inside a session is in the chapters on prompts and updates.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from acp_client.protocol.models.base import (
    NULL_AS_EMPTY,
    OR_EMPTY,
    OR_NONE,
    REQUIRED,
    SKIP,
    EmptyObject,
    EnvVariable,
    Kinds,
    LenientStr,
    Strings,
    WireModel,
)
from acp_client.protocol.models.config import ConfigOption, SessionModeState


class HttpHeader(WireModel):
    """One header that the agent sends to an MCP server."""

    name: str
    value: str = Field(repr=False)


class McpServerStdio(WireModel):
    """An MCP server that the agent starts and talks to over its pipes; every agent takes it."""

    name: str
    command: str
    args: Strings
    env: Annotated[list[EnvVariable], NULL_AS_EMPTY]


class McpServerHttp(WireModel):
    """An MCP server reached over HTTP; only for agents that say so."""

    TAG: ClassVar[str] = "type"

    type: Literal["http"] = "http"
    name: str
    url: str
    headers: Annotated[list[HttpHeader], NULL_AS_EMPTY]


class McpServerSse(WireModel):
    """An MCP server reached over server-sent events; only for agents that say so."""

    TAG: ClassVar[str] = "type"

    type: Literal["sse"] = "sse"
    name: str
    url: str
    headers: Annotated[list[HttpHeader], NULL_AS_EMPTY]


_MCP_SERVER = Kinds[McpServerStdio | McpServerHttp | McpServerSse](
    "McpServer", known=(McpServerHttp, McpServerSse), other=McpServerStdio, untagged=McpServerStdio
)

McpServer = Annotated[McpServerStdio | McpServerHttp | McpServerSse, _MCP_SERVER]
McpServers = Annotated[list[McpServer], NULL_AS_EMPTY]


def parse_mcp_server(obj: object) -> McpServer:
    """Read one MCP server; whatever is neither `http` nor `sse` has to fit the stdio form.

    Raises:
        ModelError: it is no object or does not fit its form.
    """
    return _MCP_SERVER.parse(obj)


class NewSessionRequest(WireModel):
    """Params of `session/new`; paths are absolute."""

    cwd: str
    mcp_servers: McpServers
    additional_directories: Strings = Field(default_factory=list)


class _SessionState(WireModel):
    """What a session can be set to, as told when it opens; None where the agent has none."""

    modes: Annotated[SessionModeState | None, OR_NONE] = None
    config_options: Annotated[list[Annotated[ConfigOption, SKIP]] | None, OR_NONE] = None


class NewSessionResponse(_SessionState):
    """Result of `session/new`; an empty id names no session."""

    session_id: str = Field(min_length=1)


class LoadSessionRequest(WireModel):
    """Params of `session/load`: the agent replays the conversation before it answers."""

    session_id: str
    cwd: str
    mcp_servers: McpServers
    additional_directories: Strings = Field(default_factory=list)


class LoadSessionResponse(_SessionState):
    """Result of `session/load`."""


class ResumeSessionRequest(WireModel):
    """Params of `session/resume`: no replay."""

    session_id: str
    cwd: str
    mcp_servers: McpServers = Field(default_factory=list)
    additional_directories: Strings = Field(default_factory=list)


class ResumeSessionResponse(_SessionState):
    """Result of `session/resume`."""


class ListSessionsRequest(WireModel):
    """Params of `session/list`; `cursor` is the `next_cursor` of the page before."""

    cwd: str | None = None
    cursor: str | None = None


class SessionInfo(WireModel):
    """A session that the agent knows."""

    session_id: str
    cwd: str
    additional_directories: Annotated[list[Annotated[str, SKIP]], OR_EMPTY] = Field(default_factory=list)
    title: LenientStr = None
    updated_at: LenientStr = None


class ListSessionsResponse(WireModel):
    """Result of `session/list`: one page; no `next_cursor` on the last."""

    sessions: Annotated[list[Annotated[SessionInfo, SKIP]], OR_EMPTY, REQUIRED]
    next_cursor: LenientStr = None


class DeleteSessionRequest(WireModel):
    """Params of `session/delete`."""

    session_id: str


class DeleteSessionResponse(EmptyObject):
    """Result of `session/delete`."""


class CloseSessionRequest(WireModel):
    """Params of `session/close`; a running prompt is cancelled by it."""

    session_id: str


class CloseSessionResponse(EmptyObject):
    """Result of `session/close`."""
