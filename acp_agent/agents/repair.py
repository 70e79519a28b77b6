"""What an agent without a model says when it is asked for another value: it has but one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acp_agent.context import Context


MAX_FAULTS_SAID: Final = 5


async def declined(context: Context) -> bool:
    """True, after saying so, in a turn that asks for a value of another shape."""
    if context.faults:
        faults = "; ".join(context.faults[:MAX_FAULTS_SAID])
        await context.text(
            f"This agent has no model and one shape of value, which does not fit what is asked: {faults}"
        )
    return bool(context.faults)
