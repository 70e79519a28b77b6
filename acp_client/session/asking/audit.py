"""The record of all that was asked in a run, and the events that tell of it. Sizes are bounded here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from acp_client.outcome.result import OptionRecord, PermissionRecord
from acp_client.policy.approval import Role, Subject
from acp_client.policy.permission import Choice, Decision, PermissionRequest
from acp_client.session.events import PermissionAnswered, PermissionAsked
from acp_client.session.stream import EventHub

MAX_PERMISSIONS_KEPT: Final = 10_000
"""Records that a result holds; a run with more is a flood."""

MAX_WORD_CHARS: Final = 1000
"""What a record keeps of a title, a name or an id."""

MAX_OPTIONS_KEPT: Final = 20
"""Options that a record holds; four are usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """How one thing was decided. Without a decision it was of no use any more, and `by` says why: nobody decided."""

    decision: Decision | None
    subject: Subject = "tool"
    choice: Choice | None = None
    by: str = "cancellation"
    rule: str | None = None
    role: Role | None = None
    remembered: bool = False

    @property
    def outcome(self) -> Literal["selected", "cancelled", "accepted", "declined"]:
        """What was sent; a form or a turn is accepted or declined."""
        if self.choice is not None:
            return self.choice.outcome
        if self.decision is None:
            return "cancelled"
        return "accepted" if self.decision.action == "allow" else "declined"


class Audit:
    """`records` are all that was answered, in the order of the answers."""

    def __init__(self, hub: EventHub) -> None:
        self.records: list[PermissionRecord] = []
        self.on_record: Callable[[PermissionRecord], None] | None = None
        """Told of each, also of those that are too many to be kept."""
        self._hub = hub

    def asked(self, question: PermissionRequest) -> None:
        """Tell that something is asked."""
        self._tell(PermissionAsked(question))

    def answered(self, question: PermissionRequest, answered: Answered, seconds: float) -> None:
        """Keep and tell how it was decided, after so many seconds."""
        decision, option = answered.decision, answered.choice.option if answered.choice else None
        record = PermissionRecord(
            tool_call_id=question.tool_call_id[:MAX_WORD_CHARS],
            title=_cut(question.title),
            kind=_cut(question.kind),
            session_id=_cut(question.session_id),
            subject=answered.subject,
            action="cancelled" if decision is None else decision.action,
            outcome=answered.outcome,
            option_id=option.option_id if option else None,
            option_kind=option.kind if option else None,
            options=_options(question),
            wider=answered.choice is not None and answered.choice.wider,
            rule=_cut(answered.rule),
            decided_by=answered.by if decision is None else decision.decided_by,
            role=answered.role,
            remembered=answered.remembered,
            why=None if decision is None else _cut(decision.why),
            seconds=seconds,
        )
        if len(self.records) < MAX_PERMISSIONS_KEPT:
            self.records.append(record)
        if self.on_record is not None:
            self.on_record(record)
        self._tell(PermissionAnswered(record))

    def _tell(self, event: PermissionAsked | PermissionAnswered) -> None:
        self._hub.put(event)
        self._hub.wake()


def _options(question: PermissionRequest) -> tuple[OptionRecord, ...]:
    kept = question.options[:MAX_OPTIONS_KEPT]
    return _option_records(tuple((_cut(option.option_id), _cut(option.name), _cut(option.kind)) for option in kept))


@lru_cache(maxsize=16)
def _option_records(options: tuple[tuple[str, str, str], ...]) -> tuple[OptionRecord, ...]:
    """An agent offers the same few each time."""
    return tuple(OptionRecord(id=option_id, name=name, kind=kind) for option_id, name, kind in options)


def _cut(word: Any) -> Any:
    return word[:MAX_WORD_CHARS] if isinstance(word, str) else None
