"""The risk judge: holds proposed trades against the limits that come with the task.

Owns which of the values in a prompt are trades and which are limits: where the client gives a context, only it
says the limits, and every trade of the task is judged. Leaves the rules to `limits`. It knows no limits of its own and
approves nothing that it cannot check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING, Any, Final

from acp_agent.agents.desk.asked import in_context, in_prompt
from acp_agent.agents.desk.limits import KNOWN, Trade, reasons_against
from acp_agent.agents.repair import declined
from acp_client.protocol.errors import INVALID_PARAMS, RpcError
from acp_client.protocol.models import PromptCapabilities

if TYPE_CHECKING:
    from acp_agent.context import Context
    from acp_client.protocol.models import NewSessionRequest, NewSessionResponse

__all__ = ["RiskJudge"]

_TRADE_FIELDS: Final = {"instrument", "quantity", "price"}


class RiskJudge:
    """Completes with `{"approved": …, "reasons": […]}`: approved exactly when there is no reason against it."""

    name = "risk_judge"
    title = "Risk judge"
    version = "0.1.0"
    prompt_capabilities = PromptCapabilities(embedded_context=True)

    async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
        """Any session will do."""

    async def prompt(self, context: Context) -> str | None:
        """Judge the trades of the task. Raises RpcError (-32602) for a task without trades, or without limits."""
        if await declined(context):
            return None
        primer, task = in_context(context), in_prompt(context)
        limits = _limits(task if context.primer is None else primer)
        trades = _trades(task) or _trades(primer)
        _check(limits, trades)
        call = await context.tool_call(
            f"Check {_count(trades, 'trade')} against {_count(limits, 'limit')}",
            name="check_limits",
            kind="think",
            raw_input={"trades": len(trades), "limits": sorted(limits)},
        )
        reasons = reasons_against(trades, limits)
        await call.complete(text=f"{_count(reasons, 'reason')} against it", raw_output={"reasons": list(reasons)})
        await context.text("rejected: " + "; ".join(reasons) if reasons else "approved")
        await context.complete({"approved": not reasons, "reasons": list(reasons)})
        return None

    async def cancel(self, session_id: str) -> None:
        """Nothing is left to stop."""


def _limits(values: list[Any]) -> Mapping[str, Any]:
    """The limits in some values: an object under "limits", or one with a limit's name in it; empty for none.

    Raises RpcError where there are several that differ: which of them holds is not for us to choose.
    """
    objects = [value for value in values if isinstance(value, Mapping)]
    named = [value["limits"] for value in objects if isinstance(value.get("limits"), Mapping)]
    found = named or [value for value in objects if not value.keys().isdisjoint(KNOWN)]
    if any(other != found[0] for other in found):
        message = "the task comes with several limits that differ; give those that hold as its context, once"
        raise RpcError(INVALID_PARAMS, message, {"reason": "ambiguous_limits"})
    return found[0] if found else {}


def _trades(values: list[Any]) -> list[Trade]:
    """All trades in some values: each by itself, in a list, or either under "trade" or "trades"."""
    found: list[Trade] = []
    for value in values:
        held = value.get("trades", value.get("trade", value)) if isinstance(value, Mapping) else value
        rows = held if isinstance(held, list) else [held]
        if any(isinstance(row, Mapping) and row.keys() & _TRADE_FIELDS for row in rows):
            found += [row if isinstance(row, Mapping) else {} for row in rows]  # beside a trade, anything is a bad one
    return found


def _check(limits: Mapping[str, Any], trades: list[Trade]) -> None:
    if not limits:
        message = 'the task comes without limits; give them as its context, such as {"limits": {"max_quantity": 1000}}'
        raise RpcError(INVALID_PARAMS, message, {"reason": "no_limits"})
    if not trades:
        message = (
            "the task names no trade; give it as JSON, such as "
            '{"instrument": "SAP", "side": "buy", "quantity": 100, "price": 120.5, "currency": "EUR"}'
        )
        raise RpcError(INVALID_PARAMS, message, {"reason": "no_trade"})


def _count(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"
