"""What a prompt asks, as data: the JSON values in its blocks, and in the context that came with it.

Owns the reading of JSON out of prose. Numbers become Decimals, so that a limit is compared with the digits that were
written. Leaves their meaning to the agents.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from acp_client.protocol.errors import INVALID_PARAMS, RpcError
from acp_client.protocol.models import EmbeddedResource, TextContent, TextResourceContents

if TYPE_CHECKING:
    from acp_agent.context import Context

_START: Final = re.compile(r"[{\[]")
MAX_TEXT: Final = 1_000_000
"""Characters of one text. A trade or a set of limits takes a few hundred."""
MAX_STARTS: Final = 1_000
"""JSON values in one text, those that turn out to be none included: each costs a scan to the fault."""


def texts(context: Context) -> list[str]:
    """All text of the prompt, block by block, embedded text too; links are not followed."""
    found = []
    for block in context.prompt:
        if isinstance(block, TextContent):
            found.append(block.text)
        elif isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
            found.append(block.resource.text)
    return found


def values(text: str) -> list[Any]:
    """The JSON objects and lists in a text, in order, without those inside of others; what is no JSON is passed over.

    Raises RpcError (-32602) for a text over the limits: a part must not be taken for the whole.
    """
    decoder = json.JSONDecoder(parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse)
    found, at, starts = [], 0, 0
    while match := _START.search(text, at):
        start, starts = match.start(), starts + 1
        if len(text) > MAX_TEXT or starts > MAX_STARTS:
            message = f"a text has over {MAX_TEXT} characters or {MAX_STARTS} JSON values; ask for less at once"
            raise RpcError(INVALID_PARAMS, message, {"reason": "too_much"})
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
        else:
            found.append(value)
    return found


def exact(value: Any) -> Any:
    """A JSON value as it came over the wire, its numbers as Decimals with the digits that they print."""
    if isinstance(value, dict):
        return {key: exact(one) for key, one in value.items()}
    if isinstance(value, list):
        return [exact(one) for one in value]
    return Decimal(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


def in_context(context: Context) -> list[Any]:
    """The values in the client's context for this task; none where it gave none."""
    primer = context.primer
    return values(primer) if isinstance(primer, str) else [] if primer is None else [exact(primer)]


def in_prompt(context: Context) -> list[Any]:
    """The values in the prompt's texts, in order."""
    return [value for text in texts(context) for value in values(text)]


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
