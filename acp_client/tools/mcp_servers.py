"""MCP servers as people write them down, made into what `session/new` wants: either usual shape, any usual spelling.

Owns the shapes: a list of servers, a map of them by name, and that map under `mcpServers`. What an agent takes of
them is `session.connection`'s. (ACP v1, session setup, MCP servers.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from acp_client.protocol import models

SHAPES: Final = (
    'a list of servers with a "name" each, or a map of them by name, also under "mcpServers", as models or dicts'
)

_TYPES: Final = {"stdio": "stdio", "local": "stdio", "http": "http", "streamablehttp": "http", "sse": "sse"}
"""By the word without case, `-` and `_`."""

_KEYS: Final = {
    "stdio": ("name", "command", "args", "env", "_meta"),
    "http": ("name", "url", "headers", "_meta"),
    "sse": ("name", "url", "headers", "_meta"),
}

_HINTS: Final = frozenset(
    {"alwaysAllow", "autoApprove", "description", "disabled", "enabled", "timeout", "trust", "type", "transport"}
)
"""What other programs write beside a server for themselves; it means nothing to an agent. A server that is `disabled`
is left out."""


def read_mcp_servers(given: Any) -> tuple[models.McpServer, ...]:
    """The servers, in their order. Raises ValueError, which names the server and the rule and shows no value."""
    if isinstance(given, Mapping):
        return _read_map(given)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(f"must be {SHAPES}")  # noqa: TRY004  # pydantic turns a ValueError into its own
    return tuple(server for index, one in enumerate(given) if (server := _read(one, f"[{index}]", None)) is not None)


def _read_map(given: Mapping[Any, Any]) -> tuple[models.McpServer, ...]:
    for key in ("mcpServers", "servers"):
        if isinstance(inner := given.get(key), Mapping | list) and not _looks_like_server(inner):
            if len(given) > 1:
                raise ValueError(f"beside {key!r} nothing may stand; it holds: {', '.join(map(repr, given))}")
            return read_mcp_servers(inner)
    if _looks_like_server(given):
        raise ValueError(f"one server stands alone; put it into a list. It must be {SHAPES}")
    return tuple(server for name, one in given.items() if (server := _read(one, f"[{name!r}]", name)) is not None)


def _looks_like_server(given: Any) -> bool:
    return isinstance(given, Mapping) and any(isinstance(given.get(key), str) for key in ("command", "url"))


def _read(one: Any, where: str, name: Any) -> models.McpServer | None:
    """One server; None for one that is switched off."""
    if not isinstance(one, Mapping):
        return _parsed(one, where)  # a model, or nothing of use
    if name is not None and one.get("name", name) != name:
        raise ValueError(f"{where}: its key and its own name differ; leave the name out")
    if one.get("disabled") is True or one.get("enabled") is False:
        return None
    kind = _kind(one)
    if kind is None and name is None:
        return _parsed(dict(one), where)  # in wire shape: of a kind that is yet to come, which an agent may know
    if kind is None:
        raise ValueError(f'{where}: type is not one of "stdio", "http" (or "streamable-http") and "sse"')
    _check_keys(one, kind, where)
    server = {key: one[key] for key in _KEYS[kind] if key in one} | ({} if name is None else {"name": name})
    if kind == "stdio":
        server |= {"args": server.get("args") or [], "env": _pairs(server.get("env"))}
    else:
        server |= {"type": kind, "headers": _pairs(server.get("headers"))}
    return _parsed(server, where)


def _kind(one: Mapping[Any, Any]) -> str | None:
    word = one.get("type", one.get("transport"))
    if word is None:
        return "http" if "url" in one and "command" not in one else "stdio"
    return _TYPES.get(word.casefold().replace("-", "").replace("_", "")) if isinstance(word, str) else None


def _check_keys(one: Mapping[Any, Any], kind: str, where: str) -> None:
    for key in one:
        if key in _KEYS[kind] or key in _HINTS:
            continue
        near = get_close_matches(str(key), _KEYS[kind], 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it takes: {', '.join(_KEYS[kind][:-1])}"
        raise ValueError(f"{where}: an MCP server over {kind} has no {str(key)[:100]!r}; {hint}")


def _pairs(given: Any) -> Any:
    """A map as the list of names and values that the protocol wants; a list as it is."""
    if isinstance(given, Mapping):
        return [{"name": name, "value": value} for name, value in given.items()]
    return [] if given is None else given


def _parsed(server: Any, where: str) -> models.McpServer:
    try:
        return models.parse_mcp_server(server)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
