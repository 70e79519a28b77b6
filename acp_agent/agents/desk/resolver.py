"""The counterparty resolver: a name as somebody wrote it to the one that is known, with its LEI.

Owns what of a task is the name. Leaves the looking up to the reference data of `trades`. It never guesses: a name that
may mean several is told with all of them, a misspelt one with the nearest known name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from acp_agent.agents.desk.asked import texts, values
from acp_agent.agents.repair import declined
from acp_agent.agents.trades.reference import Entry, counterparties
from acp_client.protocol.errors import INVALID_PARAMS, RpcError
from acp_client.protocol.models import PromptCapabilities

if TYPE_CHECKING:
    from acp_agent.context import Context
    from acp_client.protocol.models import NewSessionRequest, NewSessionResponse

__all__ = ["CounterpartyResolver"]

_KEYS: Final = ("counterparty", "name", "query")
_QUOTED: Final = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`|“([^”\n]+)”|„([^“”\n]+)[“”]|(?<!\w)'([^\n]+)'(?!\w)")
_LEAD: Final = re.compile(
    r"\s*(?:please\s+)?(?:resolve|look\s+up|find|who\s+is)?\s*(?:the\s+)?(?:counterparty\b|name\b)?\s*:?\s*",
    re.IGNORECASE,
)
MAX_NAME: Final = 200
"""Characters of a name: the longest legal names have about 150."""


class CounterpartyResolver:
    """Completes with `{"query", "name", "lei", "candidates", "near"}`; name and LEI are null unless one is meant."""

    name = "counterparty_resolver"
    title = "Counterparty resolver"
    version = "0.1.0"
    prompt_capabilities = PromptCapabilities(embedded_context=True)

    async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
        """Any session will do."""

    async def prompt(self, context: Context) -> str | None:
        """Resolve the one name of the task. Raises RpcError (-32602) for a task without one."""
        if await declined(context):
            return None
        query = _query(texts(context))
        call = await context.tool_call(
            "Look the name up", name="find_counterparty", kind="search", raw_input={"query": query}
        )
        book = counterparties()
        found = book.find(query)
        near = None if found else book.suggestion(query)
        await call.complete(text=_said(query, found, near), raw_output={"matches": len(found)})
        await context.text(_said(query, found, near))
        await context.complete(_value(query, found, near))
        return None

    async def cancel(self, session_id: str) -> None:
        """Nothing is left to stop."""


def _query(blocks: list[str]) -> str:
    """The name in the last block that says anything: in JSON, in quotes, or all of it but the verb."""
    said = next((text.strip() for text in reversed(blocks) if text.strip()), "")
    objects = [value for value in values(said) if isinstance(value, Mapping)]
    named: list[str] = [value[key] for value in objects for key in _KEYS if isinstance(value.get(key), str)]
    quoted = _QUOTED.search(said)
    if named:
        query = named[-1]
    elif quoted:
        query = str(next(group for group in quoted.groups() if group))
    else:
        query = said[lead.end() :] if (lead := _LEAD.match(said)) else said
    query = query.strip(" \t\n.?!")
    if not query or len(query) > MAX_NAME:
        message = f"the task names no counterparty of 1 to {MAX_NAME} characters; write Resolve the counterparty “GSI”"
        raise RpcError(INVALID_PARAMS, message, {"reason": "no_name"})
    return query


def _value(query: str, found: tuple[Entry, ...], near: str | None) -> dict[str, Any]:
    only = found[0] if len(found) == 1 else None
    return {
        "query": query,
        "name": only and only.canonical,
        "lei": only and only.lei,
        "candidates": [{"name": entry.canonical, "lei": entry.lei} for entry in found],
        "near": near,
    }


def _said(query: str, found: tuple[Entry, ...], near: str | None) -> str:
    names = " or ".join(entry.canonical for entry in found)
    if len(found) == 1:
        return f"{query} is {names} (LEI {found[0].lei})"
    if found:
        return f"{query} may be {names}"
    return f"{query} is not known" + (f"; near is {near}, which was not assumed" if near else "")
