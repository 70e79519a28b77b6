"""Write and serve an ACP agent: the child's side.

Public names are bound when they are first asked for (PEP 562), so that a child starts with what it uses.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acp_agent.agent import Agent
    from acp_agent.context import Context, PermissionAnswer, ToolCallHandle, Updates
    from acp_agent.delegation import delegating
    from acp_agent.server import main, serve
    from acp_client.protocol.errors import RpcError
    from acp_client.protocol.models import NewSessionRequest, NewSessionResponse

__all__ = [
    "Agent",
    "Context",
    "NewSessionRequest",
    "NewSessionResponse",
    "PermissionAnswer",
    "RpcError",
    "ToolCallHandle",
    "Updates",
    "delegating",
    "main",
    "serve",
]

_HOMES = {
    "acp_agent.agent": ("Agent",),
    "acp_agent.context": ("Context", "PermissionAnswer", "ToolCallHandle", "Updates"),
    "acp_agent.delegation": ("delegating",),
    "acp_agent.server": ("main", "serve"),
    "acp_client.protocol.errors": ("RpcError",),
    "acp_client.protocol.models": ("NewSessionRequest", "NewSessionResponse"),
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
