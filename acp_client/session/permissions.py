"""The permission requests of one session: each is asked of the policy, answered, and recorded.

Owns those that are open and the record of all. Every request is answered: also with an unknown session id, without any
usable option, and after a cancel. (ACP v1, tool calls, requesting permission.)
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any, Final

import anyio

from acp_client.logs import get_logger
from acp_client.outcome import PermissionRecord
from acp_client.policy.permission import (
    CANCELLED,
    Choice,
    Decision,
    PermissionRequest,
    choose,
    decide_by_preset,
)
from acp_client.protocol.errors import INVALID_PARAMS, RpcError
from acp_client.protocol.models import ModelError, RequestPermissionRequest
from acp_client.protocol.states import TheirRequest
from acp_client.session.clock import Clock
from acp_client.session.events import PermissionAnswered, PermissionAsked
from acp_client.session.stream import EventHub
from acp_client.session.turn import Turn
from acp_client.spec import AgentSpec

MAX_PERMISSIONS_KEPT: Final = 10_000
"""Records that a result holds; a run with more is a flood."""

MAX_WORD_CHARS: Final = 1000
"""What a record keeps of a title or an id."""


class PermissionDesk:
    """Answers `session/request_permission`. `records` are all that were answered, in the order of their answers."""

    def __init__(self, spec: AgentSpec, run_id: str, hub: EventHub, clock: Clock) -> None:
        self.records: list[PermissionRecord] = []
        self._spec = spec
        self._run_id = run_id
        self._hub = hub
        self._clock = clock
        self._closed = False
        self._asking: set[anyio.CancelScope] = set()

    def close(self) -> None:
        """Every open request is answered `cancelled`, and every later one (ACP v1, prompt turn)."""
        self._closed = True
        for scope in self._asking:
            scope.cancel()

    async def answer(self, request: TheirRequest, session_id: str | None, turn: Turn) -> dict[str, Any]:
        """The result for one request; what it says of its tool call is folded if it is of this session."""
        try:
            asked = RequestPermissionRequest.from_wire(request.params)
        except ModelError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        call = request.params["toolCall"]
        if asked.session_id == session_id:
            turn.fold_tool_call(call)
            turn.note_asked(asked.tool_call.tool_call_id)
        question = self._question(asked, call, turn)
        self._tell(PermissionAsked(question))
        began = time.monotonic()
        decision, choice = await self._decide(question)
        self._record(question, decision, choice, time.monotonic() - began)
        return choice.to_wire()

    def _question(self, asked: RequestPermissionRequest, raw: dict[str, Any], turn: Turn) -> PermissionRequest:
        call = asked.tool_call
        return PermissionRequest(
            session_id=asked.session_id,
            tool_call_id=call.tool_call_id,
            title=call.title,
            name=call.name,
            kind=call.kind or turn.kind_of(call.tool_call_id) or "other",
            options=tuple(asked.options),
            raw=raw,
            agent=self._spec.label,
            run_id=self._run_id,
        )

    async def _decide(self, question: PermissionRequest) -> tuple[Decision | None, Choice]:
        if self._closed:
            return None, CANCELLED
        policy = self._spec.permission
        if isinstance(policy, str):
            decision = decide_by_preset(policy, question)
            return decision, choose(decision.action, question.options)
        with anyio.CancelScope() as scope:
            self._asking.add(scope)
            self._clock.pause_idle()
            try:
                decision = await self._consult(policy, question)
            finally:
                self._clock.resume_idle(anyio.current_time())
                self._asking.discard(scope)
        if scope.cancel_called:  # a decision that came with the cancel is too late
            return None, CANCELLED
        return decision, choose(decision.action, question.options)

    async def _consult(self, policy: Callable[..., Any], question: PermissionRequest) -> Decision:
        """Ask the caller's policy; one that fails is logged and rejects."""
        try:
            decision = policy(question)
            if inspect.isawaitable(decision):
                decision = await decision
            return _checked(decision)
        except anyio.get_cancelled_exc_class():
            if _is_cancelled():
                raise
            get_logger(__name__).error("permission policy awaited what was cancelled; rejecting", run_id=self._run_id)
        except Exception:  # noqa: BLE001  # the caller's code: its failure must not decide for the child
            get_logger(__name__).exception("permission policy failed; rejecting", run_id=self._run_id)
        return Decision("reject", "the permission policy failed", "policy failure")

    def _record(self, question: PermissionRequest, decision: Decision | None, choice: Choice, seconds: float) -> None:
        record = PermissionRecord(
            tool_call_id=question.tool_call_id[:MAX_WORD_CHARS],
            title=question.title and question.title[:MAX_WORD_CHARS],
            kind=question.kind[:MAX_WORD_CHARS],
            session_id=question.session_id and question.session_id[:MAX_WORD_CHARS],
            action="cancelled" if decision is None else decision.action,
            outcome=choice.outcome,
            option_id=choice.option.option_id if choice.option else None,
            option_kind=choice.option.kind if choice.option else None,
            wider=choice.wider,
            decided_by="cancellation" if decision is None else decision.decided_by,
            why=None if decision is None else decision.why,
            seconds=seconds,
        )
        if len(self.records) < MAX_PERMISSIONS_KEPT:
            self.records.append(record)
        self._tell(PermissionAnswered(record))

    def _tell(self, event: PermissionAsked | PermissionAnswered) -> None:
        self._hub.put(event)
        self._hub.wake()


def _checked(decision: object) -> Decision:
    if not isinstance(decision, Decision):
        raise TypeError(f"a permission policy must return a Decision, not {type(decision).__name__}")
    return decision


def _is_cancelled() -> bool:
    """True if this task is being cancelled: on asyncio the same exception comes from awaiting a cancelled future."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # trio: there it means nothing else
        return True
    return task is None or task.cancelling() > 0
