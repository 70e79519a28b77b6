"""Which permission requests are for a call of our own tools: those that name one exactly. Pure.

Agents show a tool under its own name or one made of the server's and its own. The title is the agent's text, and with
a shell it may be whatever a model has typed, so a name alone is not enough: nothing may say that it is another call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from acp_client.policy.match.paths import has_diff
from acp_client.policy.permission import TOOL_KINDS, PermissionRequest
from acp_client.tools.tool import HostTool

_SHAPES: Final = (
    "{server}__{tool}",
    "mcp__{server}__{tool}",
    "{server}_{tool}",
    "mcp_{server}_{tool}",
    "{server}-{tool}",
    "{server}/{tool}",
    "{server}.{tool}",
    "{server}:{tool}",
    "{tool} ({server} MCP Server)",
)
"""How agents have been seen to name a tool of a server."""

_UNSPECIFIC: Final = frozenset({"other", "think"})
"""Kinds that say nothing of what a call does. The others are guessed from a tool's name by some agents."""


class OwnTools:
    """The tools of one run under all their names. `alone`: no other server is given, whose tools could be called so."""

    def __init__(self, server: str, tools: Sequence[HostTool], *, alone: bool) -> None:
        self._qualified = {shape.format(server=server, tool=tool.name): tool for tool in tools for shape in _SHAPES}
        self._bare = {tool.name: tool for tool in tools} if alone else {}

    def find(self, request: PermissionRequest) -> str | None:
        """The name of the tool that a permission is asked for, if it is one of ours.

        A kind that says nothing: by a name with the server's in it, or by the bare name if no other arguments are
        shown than that tool takes. Any other kind of tool: by a name with the server's, and with such arguments
        shown. Never a call that shows a path or a change of a file.
        """
        if request.kind not in TOOL_KINDS or request.paths or has_diff(request):
            return None
        unspecific = request.kind in _UNSPECIFIC
        qualified = _same(self._qualified.get, request.name, request.title)
        if qualified is not None and (unspecific or _fits(qualified, request.arguments)):
            return qualified.name
        bare = _same(self._lookup, request.name, request.title) if unspecific else None
        if bare is not None and (request.arguments is None or _fits(bare, request.arguments)):
            return bare.name
        return None

    def named(self, call: Mapping[str, Any]) -> str | None:
        """The tool that an announced call goes by a name of; for matching records, not for permission."""
        found = _same(self._lookup, call.get("name"), call.get("title"))
        return found.name if found is not None else None

    def _lookup(self, text: str) -> HostTool | None:
        return self._qualified.get(text) or self._bare.get(text)


def _same(look: Callable[[str], HostTool | None], *texts: Any) -> HostTool | None:
    """The tool that all texts there are name: a call with two names is somebody else's."""
    found = [look(text) for text in texts if isinstance(text, str)]
    return found[0] if found and all(tool is found[0] for tool in found) else None


def _fits(tool: HostTool, arguments: Any) -> bool:
    """True if the arguments shown have only names that the tool has."""
    return isinstance(arguments, dict) and all(key in tool.schema.get("properties", {}) for key in arguments)


def server_name(taken: Iterable[str]) -> str:
    """A name for our server that no other server of the session has, `[a-z0-9_]+`."""
    used = set(taken)
    name, number = "host_tools", 2
    while name in used:
        name, number = f"host_tools_{number}", number + 1
    return name
