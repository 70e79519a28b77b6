"""What a parent is told while its sub-agents work: a start, live events, a stop, exactly paired.

Owns the events and how they reach the caller's function: in order, and never so that it could fail or hold a run.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias

import anyio

from acp_client.logs import get_logger
from acp_client.outcome.reasons import Reason, Status
from acp_client.session.events import Event

TOLD_SECONDS: Final = 1.0
"""For one call of an async function; a terminal or a socket takes milliseconds. The run goes on meanwhile."""


@dataclass(frozen=True, slots=True)
class SubAgentStarted(Event):
    """A request to a sub-agent begins. `call_id` is its run's id, `parent` who asks; exactly one stop follows."""

    type: ClassVar[str] = "sub_agent_start"
    name: str
    call_id: str
    parent: str

    @property
    def label(self) -> str:
        """For people: "Consulting risk judge…"."""
        return f"Consulting {self.name.replace('_', ' ').replace('-', ' ').strip()}…"


@dataclass(frozen=True, slots=True)
class SubAgentEvent(Event):
    """Something happened in the run of a sub-agent."""

    type: ClassVar[str] = "sub_agent_event"
    name: str
    call_id: str
    event: Event

    def to_json(self) -> dict[str, Any]:
        """The event within, as it is told of a run."""
        return {"event": self.type, "name": self.name, "call_id": self.call_id, "of": self.event.to_json()}


@dataclass(frozen=True, slots=True)
class SubAgentStopped(Event):
    """A request has ended; `status` and `reason` are those of its result."""

    type: ClassVar[str] = "sub_agent_stop"
    name: str
    call_id: str
    parent: str
    status: Status
    reason: Reason


Progress: TypeAlias = SubAgentStarted | SubAgentEvent | SubAgentStopped
OnProgress: TypeAlias = Callable[[Progress], Awaitable[object] | object]
"""A plain or an async function."""


class Reporter:
    """Tells one request's progress. A function that raises is logged; one that is too slow hears no more live events.

    A start and its stop are always told, each once.
    """

    def __init__(self, on_progress: OnProgress | None, *, told_seconds: float = TOLD_SECONDS) -> None:
        self._tell = on_progress
        self._seconds = told_seconds
        self._slow = False

    @property
    def wants_events(self) -> bool:
        """True while live events are told."""
        return self._tell is not None and not self._slow

    async def tell(self, progress: Progress) -> None:
        """Returns once it is told, after `told_seconds` at the most. Raises only the cancellation of the caller."""
        if self._tell is None:
            return
        try:
            with anyio.move_on_after(self._seconds) as scope:
                told = self._tell(progress)
                if inspect.isawaitable(told):
                    await told
        except Exception:  # noqa: BLE001  # the boundary: the caller's display must not fail the caller's request
            get_logger(__name__).exception("on_progress failed", sub_agent=progress.name, told=progress.type)
            return
        if scope.cancelled_caught and not self._slow:
            self._slow = True
            get_logger(__name__).warning(
                "on_progress is too slow; it hears no more live events of this request",
                sub_agent=progress.name,
                seconds=self._seconds,
            )
