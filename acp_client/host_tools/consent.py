"""Which permission requests are for a call of our own tools: those that name one exactly. Pure.

Agents show a tool under its own name or one made of the server's and its own. The title is the agent's text, and with
a shell it may be whatever a model has typed, so a name alone is not enough: nothing may say that it is another call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
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
    """The tools of one run under all their names, but those that a tool of `others`, its other servers, can have."""

    def __init__(self, server: str, tools: Sequence[HostTool], *, others: Iterable[str] = ()) -> None:
        names = {shape.format(server=server, tool=tool.name): tool for tool in tools for shape in _SHAPES}
        theirs = [ends for other in others for ends in _ends(other)]
        self._qualified = {name: tool for name, tool in names.items() if not _may_be_theirs(name, theirs)}
        self._bare = {} if theirs else {tool.name: tool for tool in tools}

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


def _ends(server: str) -> list[tuple[str, str]]:
    """What stands before and after a tool's name, in each shape, in any spelling that agents make of a server's."""
    spellings = {server, _ODD.sub("_", server)}
    shapes = [shape.format(server=spelling, tool="\0").casefold() for shape in _SHAPES for spelling in spellings]
    return [(head, tail) for head, _, tail in (shape.partition("\0") for shape in shapes)]


def _may_be_theirs(name: str, theirs: Sequence[tuple[str, str]]) -> bool:
    """True if there is a name for a tool that makes this of it: a server `mcp` may have a tool `host_tools__x`."""
    low = name.casefold()
    return any(low.startswith(head) and low.endswith(tail) and len(low) > len(head + tail) for head, tail in theirs)


def server_name(taken: Iterable[str]) -> str:
    """A name for our server, `[a-z0-9_]+`, that no other server's begins and that begins none.

    Else a tool of one could read as a tool of the other: `tools_x` of a server `host`.
    """
    others = [words for name in taken if (words := _WORD.findall(name.casefold()))]
    names = (f"host{'' if number == 1 else number}_tools" for number in count(1))
    return next(name for name in names if not any(_begins(words, name.split("_")) for words in others))


def _begins(one: Sequence[str], other: Sequence[str]) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


_ODD: Final = re.compile(r"[^a-zA-Z0-9_-]")
"""What agents replace by `_`, since model APIs do not take it."""
_WORD: Final = re.compile(r"[a-z0-9]+")
