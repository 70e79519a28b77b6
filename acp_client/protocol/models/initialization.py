"""The handshake and logging in (ACP v1, initialization and authentication).

Owns `initialize`, `authenticate` and `logout` and the objects that only they carry. Which version
is acceptable, and which method of authentication to use, is decided by the callers.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from acp_client.protocol.models.base import (
    OR_EMPTY,
    OR_NONE,
    SKIP,
    EmptyObject,
    Fallback,
    Kinds,
    LenientStr,
    NullAs,
    Strings,
    WireModel,
)
from acp_client.protocol.models.capabilities import AgentCapabilities, ClientCapabilities

ProtocolVersion = Annotated[int, Field(ge=0, le=65535)]
"""A version on the wire: an integer, neither a bool nor a string."""


class Implementation(WireModel):
    """Name and version of the program on one side."""

    name: str
    title: LenientStr = None
    version: str


class InitializeRequest(WireModel):
    """Params of `initialize`, the client's first request."""

    protocol_version: ProtocolVersion
    client_capabilities: Annotated[ClientCapabilities, Fallback(ClientCapabilities)] = Field(
        default_factory=ClientCapabilities
    )
    client_info: Annotated[Implementation | None, OR_NONE] = None


class AuthMethodAgent(WireModel):
    """A way to log in that the agent handles itself when asked to `authenticate`."""

    id: str
    name: str
    description: LenientStr = None


class AuthMethodTerminal(WireModel):
    """A way to log in by running the agent's own command in a terminal with other arguments."""

    TAG: ClassVar[str] = "type"

    type: Literal["terminal"] = "terminal"
    id: str
    name: str
    description: LenientStr = None
    args: Strings = Field(default_factory=list)
    env: Annotated[dict[str, str], NullAs(dict)] = Field(default_factory=dict, repr=False)


_AUTH_METHOD = Kinds[AuthMethodAgent | AuthMethodTerminal](
    "AuthMethod", known=(AuthMethodTerminal,), other=AuthMethodAgent, untagged=AuthMethodAgent
)

AuthMethod = Annotated[AuthMethodAgent | AuthMethodTerminal, _AUTH_METHOD]


def parse_auth_method(obj: object) -> AuthMethod:
    """Read a way to log in; one of a type that v1 does not have reads as the agent's own.

    Its `type` is then among the unknown fields (`model_extra`).

    Raises:
        ModelError: it is no object or lacks an id or a name.
    """
    return _AUTH_METHOD.parse(obj)


class InitializeResponse(WireModel):
    """Result of `initialize`."""

    protocol_version: ProtocolVersion
    agent_capabilities: Annotated[AgentCapabilities, Fallback(AgentCapabilities)] = Field(
        default_factory=AgentCapabilities
    )
    auth_methods: Annotated[list[Annotated[AuthMethod, SKIP]], OR_EMPTY] = Field(default_factory=list)
    agent_info: Annotated[Implementation | None, OR_NONE] = None


class AuthenticateRequest(WireModel):
    """Params of `authenticate`: the id of one of the advertised methods."""

    method_id: str


class AuthenticateResponse(EmptyObject):
    """Result of `authenticate`."""


class LogoutRequest(EmptyObject):
    """Params of `logout`."""


class LogoutResponse(EmptyObject):
    """Result of `logout`."""
