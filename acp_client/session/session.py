"""One session from our side: what arrives is folded, what is asked is answered, what we ask is noted.

Owns the routing of updates by session, the permission requests that are open, and the signs of life. It is the
listener of the peer; all its `on_…` calls are synchronous and in wire order.
(ACP v1, prompt turn, tool calls; session/update before session/new is answered.)
"""

from __future__ import annotations

import inspect
import logging
import time
from collections import deque
from collections.abc import Callable
from json import JSONDecoder
from typing import Any, Final

import anyio
from pydantic_core import from_json

from acp_client.logs import get_logger
from acp_client.outcome import PermissionRecord, Stage, StdoutNoise
from acp_client.policy.permission import (
    CANCELLED,
    Choice,
    Decision,
    PermissionRequest,
    choose,
    decide_by_preset,
)
from acp_client.protocol.dispatch import Dispatcher
from acp_client.protocol.errors import INVALID_PARAMS, ConnectionClosed, RemoteError, RpcError
from acp_client.protocol.models import ModelError, RequestPermissionRequest
from acp_client.protocol.peer import Peer, Settled
from acp_client.protocol.states import FrameDropped, NoiseReceived, TheirRequest
from acp_client.session.clock import Clock
from acp_client.session.connection import COMPLETE_METHOD
from acp_client.session.ending import Ending, EndRun, ending_of
from acp_client.session.events import PermissionAnswered, PermissionAsked
from acp_client.session.stream import EventHub
from acp_client.session.turn import Turn
from acp_client.spec import AgentSpec

MAX_EARLY_UPDATES: Final = 1000
"""Updates that came before any session exists, kept until its id is known; a real agent sends two or three."""

NOISE_LINES_KEPT: Final = 20
NOISE_LINE_BYTES_KEPT: Final = 32 * 1024
"""Far more of a line than a result shows: so that a secret that straddles the cut is still seen whole."""
MAX_PERMISSIONS_KEPT: Final = 10_000

log = logging.getLogger(__name__)


class Session:
    """The state of one conversation. `decide` is called with a terminal cause; the first one counts."""

    def __init__(
        self, spec: AgentSpec, run_id: str, hub: EventHub, clock: Clock, decide: Callable[[Ending], None]
    ) -> None:
        self.turn: Final = Turn(spec.limits.max_output_bytes)
        self.id: str | None = None
        self.stage: Stage = "initialize"
        self.open_request: str | None = None
        self.structured: Any = None
        self.has_structured = False
        self.permissions: list[PermissionRecord] = []
        self.dropped_frames = 0
        self.frames = 0
        self.prompted_at = 0.0
        self.first_chunk_at: float | None = None
        self.last_read = 0.0
        self.cancelling = False
        self.peer: Peer | None = None
        self._spec = spec
        self._run_id = run_id
        self._hub = hub
        self._clock = clock
        self._decide = decide
        self._early: deque[dict[str, Any]] = deque(maxlen=MAX_EARLY_UPDATES)
        self._asking: set[anyio.CancelScope] = set()
        self._noise_count = 0
        self._noise: list[str] = []

    def dispatcher(self) -> Dispatcher:
        """What we serve: nothing but permissions. All else is answered as not found."""
        return Dispatcher({"session/request_permission": self._on_permission})

    # ---- what we ask

    async def ask(
        self, stage: Stage, method: str, params: dict[str, Any], on_settled: Callable[[Settled], None] | None = None
    ) -> Any:
        """Send a request and wait for its result; `on_settled` sees the outcome at its place in wire order.

        Raises EndRun for every outcome but a result.
        """
        assert self.peer is not None  # the run connects before it converses
        self.stage = stage
        self.open_request = method

        def settled(outcome: Settled) -> None:
            self.open_request = None
            self.frames += not isinstance(outcome, ConnectionClosed)
            if on_settled is not None:
                on_settled(outcome)

        try:
            return await self.peer.start_request(method, params, settled).wait()
        except RemoteError as error:
            raise EndRun(ending_of(error, stage, method)) from error

    def begin(self, session_id: str) -> None:
        """The session exists: fold what came before its id was known."""
        self.id = session_id
        self._clock.session_exists()
        early, self._early = self._early, deque()
        for message in early:
            self.on_notification(message)

    def cancel_permissions(self) -> None:
        """Every open permission request is answered `cancelled`, and every later one (ACP v1, prompt turn)."""
        self.cancelling = True
        for scope in self._asking:
            scope.cancel()

    # ---- what arrives

    def on_read(self, _size: int) -> None:
        """A sign of life."""
        self.last_read = anyio.current_time()
        self._clock.touch(self.last_read)

    def on_batch_end(self) -> None:
        """Readers of events wake once a read."""
        self._hub.wake()

    def on_eof(self) -> None:
        """Told by the requests that are lost with it."""

    def on_notification(self, message: dict[str, Any]) -> None:
        """Route an update to the turn of its session."""
        self.frames += 1
        params = message.get("params")
        if params is None:
            return
        session_id = params.get("sessionId")
        if message["method"] == "session/update":
            if session_id == self.id and self.id is not None:
                self._on_update(params.get("update"))
            elif self.id is None and self.turn.phase == "before":
                self._early.append(message)
        elif message["method"] == COMPLETE_METHOD and session_id == self.id:
            self._on_complete(params.get("result"))

    def _on_complete(self, value: Any) -> None:
        """The first value of the turn counts: one from before the prompt or after its end answers nothing."""
        if not self.has_structured and self.turn.phase in ("running", "late"):
            self.structured = value
            self.has_structured = True

    def _on_update(self, update: Any) -> None:
        turn = self.turn
        turn.fold(update)
        if self.first_chunk_at is None and turn.phase == "running":
            self.first_chunk_at = time.monotonic()
        if isinstance(update, dict) and turn.phase != "closed":
            self._hub.put(update)

    def on_noise(self, noise: NoiseReceived) -> None:
        """Count a line that is no frame; a first line that opens an object and does not close it is a fault."""
        first = not self._noise_count and not self.frames and not self.dropped_frames
        self._noise_count += 1
        if len(self._noise) < NOISE_LINES_KEPT:
            self._noise.append(noise.line[:NOISE_LINE_BYTES_KEPT].decode(errors="replace").rstrip("\r"))
        if first and not noise.unfinished and _opens_object(noise.line):
            self._decide(
                Ending(
                    "protocol_error",
                    "the agent's first line opens a JSON object and does not close it; "
                    "ACP wants each message on one line: print it without indentation",
                    self.stage,
                    self.open_request,
                )
            )

    def on_dropped(self, frame: FrameDropped) -> None:
        """Count a frame that was of no use."""
        self.dropped_frames += 1
        self.turn.dropped = self.turn.dropped or frame.method == "session/update"
        if log.isEnabledFor(logging.DEBUG):
            get_logger(__name__).debug("frame dropped", run_id=self._run_id, why=frame.why, method=frame.method)

    def noise(self) -> StdoutNoise:
        """What was on stdout beside frames, as it came: whoever shows it redacts it, and cuts it after that."""
        return StdoutNoise(count=self._noise_count, first_lines=tuple(self._noise))

    # ---- what they ask

    async def _on_permission(self, request: TheirRequest) -> Any:
        try:
            asked = RequestPermissionRequest.from_wire(request.params)
        except ModelError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        call = request.params["toolCall"]
        if asked.session_id == self.id:
            self.turn.fold_tool_call(call)
            self.turn.note_asked(asked.tool_call.tool_call_id)
        question = self._question(asked, call)
        self._hub.put(PermissionAsked(question))
        self._hub.wake()
        began = time.monotonic()
        decision, choice = await self._answer(question)
        self._record(question, decision, choice, time.monotonic() - began)
        return choice.to_wire()

    def _question(self, asked: RequestPermissionRequest, raw: dict[str, Any]) -> PermissionRequest:
        call = asked.tool_call
        return PermissionRequest(
            session_id=asked.session_id,
            tool_call_id=call.tool_call_id,
            title=call.title,
            name=call.name,
            kind=call.kind or self.turn.kind_of(call.tool_call_id) or "other",
            options=tuple(asked.options),
            raw=raw,
            agent=self._spec.label,
            run_id=self._run_id,
        )

    async def _answer(self, question: PermissionRequest) -> tuple[Decision | None, Choice]:
        if self.cancelling:
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
        if scope.cancelled_caught:
            return None, CANCELLED
        return decision, choose(decision.action, question.options)

    async def _consult(self, policy: Callable[..., Any], question: PermissionRequest) -> Decision:
        """Ask the caller's policy; one that fails is logged and rejects."""
        try:
            decision = policy(question)
            if inspect.isawaitable(decision):
                decision = await decision
            return _checked(decision)
        except Exception:  # noqa: BLE001  # the caller's code: its failure must not decide for the child
            get_logger(__name__).exception("permission policy failed; rejecting", run_id=self._run_id)
            return Decision("reject", "the permission policy failed", "policy failure")

    def _record(self, question: PermissionRequest, decision: Decision | None, choice: Choice, seconds: float) -> None:
        record = PermissionRecord(
            tool_call_id=question.tool_call_id,
            title=question.title,
            kind=question.kind,
            session_id=question.session_id,
            action="cancelled" if decision is None else decision.action,
            outcome=choice.outcome,
            option_id=choice.option.option_id if choice.option else None,
            option_kind=choice.option.kind if choice.option else None,
            wider=choice.wider,
            decided_by="cancellation" if decision is None else decision.decided_by,
            why=None if decision is None else decision.why,
            seconds=seconds,
        )
        if len(self.permissions) < MAX_PERMISSIONS_KEPT:
            self.permissions.append(record)
        self._hub.put(PermissionAnswered(record))
        self._hub.wake()


def _checked(decision: object) -> Decision:
    if not isinstance(decision, Decision):
        raise TypeError(f"a permission policy must return a Decision, not {type(decision).__name__}")
    return decision


def _opens_object(line: bytes) -> bool:
    """True if the line is the beginning of a JSON object and not all of it (as a line of a JSON log is)."""
    text = line.decode(errors="replace").lstrip("\ufeff \t\r")
    try:
        if not text.startswith("{") or not isinstance(from_json(text, allow_partial="trailing-strings"), dict):
            return False
    except ValueError:
        return False
    try:
        JSONDecoder().raw_decode(text)
    except ValueError:
        return True
    return False
