"""One session from our side: what arrives is folded, what is asked is answered, what we ask is noted.

Owns the routing of updates by session and the signs of life. It is the listener of the peer; all its `on_…` calls are
synchronous and in wire order.
(ACP v1, prompt turn, tool calls; session/update before session/new is answered.)
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import anyio
from pydantic_core import to_json

from acp_client.logs import get_logger
from acp_client.outcome.result import Stage
from acp_client.protocol.dispatch import AtOnce, Dispatcher
from acp_client.protocol.envelope import opens_object
from acp_client.protocol.errors import ConnectionClosed, RemoteError
from acp_client.protocol.framing import with_text
from acp_client.protocol.peer import Peer, Settled
from acp_client.protocol.states import FrameDropped, NoiseReceived
from acp_client.session.asking.audit import Audit
from acp_client.session.asking.forms import FormDesk, serves_forms
from acp_client.session.asking.people import People, Place
from acp_client.session.asking.turns import approve_turn
from acp_client.session.clock import Clock
from acp_client.session.ending import Ending, EndRun, ending_of, ending_of_unasked
from acp_client.session.extension import COMPLETE_METHOD, TRACE_KEY, extension_in
from acp_client.session.permissions import PermissionDesk
from acp_client.session.stream import EventHub
from acp_client.session.turn import Turn
from acp_client.spec import AgentSpec

MAX_EARLY_UPDATES: Final = 1000
"""Updates that came before any session exists, kept until its id is known; a real agent sends two or three."""

MAX_EARLY_BYTES: Final = 8 * 1024 * 1024
"""What those may hold: a list of commands has some ten kilobytes."""

NOISE_LINES_KEPT: Final = 20
NOISE_LINE_BYTES_KEPT: Final = 32 * 1024
"""Far more of a line than a result shows: so that a secret that straddles the cut is still seen whole."""

log = logging.getLogger(__name__)


class Session:
    """The state of one conversation. `decide` is called with a terminal cause; the first one counts."""

    id: str | None = None
    stage: Stage = "initialize"
    open_request: str | None = None
    peer: Peer | None = None
    structured: Any = None
    has_structured = False
    nested_trace: Sequence[Any] = ()
    frames = 0
    dropped_frames = 0
    first_chunk_at: float | None = None
    last_read = 0.0
    reads = 0
    _read_bytes = 0

    def __init__(
        self,
        spec: AgentSpec,
        run_id: str,
        hub: EventHub,
        clock: Clock,
        decide: Callable[[Ending], None],
        *,
        cwd: str = "/",
        approval_cap_seconds: float | None = None,
    ) -> None:
        self.turn: Final = Turn(spec.limits.max_output_bytes, spec.keep)
        self.serves_forms: Final = serves_forms(spec)
        self.audit: Final = Audit(hub)
        place = Place(run_id, spec.label, cwd, (cwd, *spec.additional_directories))
        self.people: Final = People(spec, place, clock, self._on_approval_expired, approval_cap_seconds)
        self.permissions: Final = PermissionDesk(spec, self.audit, self.people)
        self._run_id = run_id
        self._hub = hub
        self._clock = clock
        self._decide = decide
        policy = self.people.policy
        self._forbids_unasked = policy is not None and policy.unasked == "error"
        self._looks = True  # until the first chunk has come
        self._early = _Early()
        self.noise: Final = Noise()

    def dispatcher(self) -> Dispatcher:
        """What we serve: permissions, and forms if there is who fills them in. All else is answered as not found."""
        forms = {"elicitation/create": FormDesk(self.audit, self.people).answer} if self.serves_forms else {}
        permit: AtOnce = lambda request: self.permissions.answer(request, self.id, self.turn)  # noqa: E731
        return Dispatcher(forms, at_once={"session/request_permission": permit})

    def _on_approval_expired(self, message: str) -> None:
        self._decide(Ending("approval_timeout", message, self.stage, self.open_request))

    async def approve_turn(self, prompt: Sequence[dict[str, Any]], turns: int) -> None:
        """Return once a turn after so many others may go on. Raises EndRun if it may not."""
        await approve_turn(self.id, prompt, turns, self.audit, self.people)

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
        self._clock.touch(anyio.current_time())  # until now it was our turn, however long our loop was held up

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
        for message in self._early.take():
            self.on_notification(message)

    # ---- what arrives

    def on_read(self, size: int) -> None:
        """A sign of life."""
        self.reads += 1
        self._read_bytes = size
        self.last_read = anyio.current_time()
        self._clock.touch(self.last_read)

    def on_batch_end(self) -> None:
        """Readers of events wake once a read."""
        self._hub.wake(self._read_bytes)

    def on_eof(self) -> None:
        """Told by the requests that are lost with it."""

    def on_notification(self, message: dict[str, Any]) -> None:
        """Route an update to the turn of its session. The hot path of a run."""
        self.frames += 1
        params = message.get("params")
        if params is None:
            return
        if params.get("sessionId") != self.id or self.id is None:
            if self.id is None and self.turn.phase == "before":
                self._early.keep(message)
        elif message["method"] == "session/update":
            update = params.get("update")
            self.turn.fold(update)
            if self._looks or self._hub.listening:
                self._look_at(update)
            else:
                self._hub.early_lost += 1
        elif message["method"] == COMPLETE_METHOD:
            self.note_trace(params)
            self.complete(params.get("result"))

    def on_texts(self, texts: list[str], like: dict[str, Any]) -> None:
        """Further chunks of the answer are taken at once where nothing must be looked at; else as any update."""
        if self._looks or self.turn.phase != "running" or not _is_answer(like, self.id):
            for text in texts:
                self.on_notification(with_text(like, text))
            return
        message_id = like["params"]["update"].get("messageId")
        self.frames += len(texts)
        self.turn.answer.add("".join(texts), message_id)
        if self._hub.listening:
            self._hub.put_texts(texts, message_id)
        else:
            self._hub.early_lost += len(texts)

    def complete(self, value: Any) -> bool:
        """Take the first value of the turn; False for one that comes second, before the prompt or after the end."""
        taken = not self.has_structured and self.turn.phase in ("running", "late")
        if taken:
            self.structured = value
            self.has_structured = True
        return taken

    def forget_value(self) -> None:
        """Another turn begins, since the value of the last one was of no use."""
        self.structured = None
        self.has_structured = False

    def note_trace(self, message: dict[str, Any]) -> None:
        """What the agent's own sub-agents did, if it hands it up with this message; the last one is all of it."""
        trace = extension_in(message).get(TRACE_KEY)
        if isinstance(trace, list) and trace:
            self.nested_trace = trace

    def _look_at(self, update: Any) -> None:
        """Whatever is done with an update that is folded: not much, and for most of them nothing."""
        turn = self.turn
        if self._forbids_unasked:
            self._look_for_unasked(update)
        if self.first_chunk_at is None and turn.phase == "running":
            self.first_chunk_at = time.monotonic()
            self._looks = self._forbids_unasked
        if not self._hub.listening:
            self._hub.early_lost += 1
        elif type(update) is dict and turn.phase != "closed" and not turn.ignores(update):
            self._hub.put(update)

    def _look_for_unasked(self, update: Any) -> None:
        call_id = update.get("toolCallId") if isinstance(update, dict) else None
        if isinstance(call_id, str) and self.turn.phase != "closed" and self.turn.is_unasked(call_id):
            unasked = [call for call in self.turn.tool_calls() if self.turn.is_unasked(call.id)]
            self._decide(ending_of_unasked(unasked, self.stage, self.open_request))

    def on_noise(self, noise: NoiseReceived) -> None:
        """Count a line that is no frame; a first line that opens an object and does not close it is a fault."""
        first = not self.noise.count and not self.frames and not self.dropped_frames
        self.noise.add(noise.line)
        if first and not noise.unfinished and opens_object(noise.line):
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


def _is_answer(message: dict[str, Any], session_id: str | None) -> bool:
    """True for a chunk of text of this session's answer, to a message of its own or of none."""
    params = message["params"]
    update = params["update"]
    message_id = update.get("messageId")
    ours = session_id is not None and params.get("sessionId") == session_id
    return ours and update["sessionUpdate"] == "agent_message_chunk" and isinstance(message_id, str | None)


class _Early:
    """What came before the session's id was known; the first of it, in bounded memory."""

    def __init__(self) -> None:
        self._messages: deque[dict[str, Any]] | None = None
        self._left = MAX_EARLY_BYTES

    def keep(self, message: dict[str, Any]) -> None:
        self._left -= len(to_json(message))
        if self._left >= 0:
            self._messages = self._messages or deque(maxlen=MAX_EARLY_UPDATES)
            self._messages.append(message)

    def take(self) -> Iterable[dict[str, Any]]:
        taken, self._messages = self._messages, None
        return taken or ()


class Noise:
    """Lines on stdout that are no frames: how many, and the beginning of the first ones.

    As they came: whoever shows them redacts them, and cuts them after that.
    """

    def __init__(self) -> None:
        self.count = 0
        self.first_lines: list[str] = []

    def add(self, line: bytes) -> None:
        """One more."""
        self.count += 1
        if len(self.first_lines) < NOISE_LINES_KEPT:
            self.first_lines.append(line[:NOISE_LINE_BYTES_KEPT].decode(errors="replace").rstrip("\r"))
