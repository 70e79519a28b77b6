"""Asking the approver: bounded in time, once for the same call in a conversation, and never left open.

Owns what is being asked and what was approved. What a decision means for what is asked is the asker's; who answers,
and how, the approver's.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import anyio

from acp_client.logs import get_logger
from acp_client.policy.approval import ApprovalRequest, Approvals, Role, Subject, suffices
from acp_client.policy.asking.memory import Memory
from acp_client.policy.permission import Decision
from acp_client.policy.rules import PRESETS, PermissionPolicy
from acp_client.safe_text import printable
from acp_client.session.asking.callback import raise_if_ours, words_of
from acp_client.session.clock import Clock
from acp_client.spec import AgentSpec

NO_APPROVER: Final = "there is no approver to ask; set AgentSpec(approver=…)"

TITLE_CHARS: Final = 200
"""Of the agent's text in a message of ours."""

ERROR_CHARS: Final = 500
"""Of what the caller's code raised, in the record of what was asked."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a question comes from. `roots` are the directories that the agent was given, `cwd` the first of them."""

    run_id: str
    agent: str
    cwd: str = "/"
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a question. No decision: it was of no use any more, and `by` says why."""

    decision: Decision | None
    by: str = "cancellation"
    remembered: bool = False


_USUAL: Final = Approvals()


class People:
    """The approver of one run's session. `expire` ends the run with a message when nobody has answered in time."""

    def __init__(
        self, spec: AgentSpec, place: Place, clock: Clock, expire: Callable[[str], None], cap_seconds: float | None
    ) -> None:
        self.place: Final = place
        self.closed = False
        self.redact: Callable[[str], str] = str
        """Takes secrets out of a text that is recorded; set by who knows them."""
        self.policy: Final = policy_of(spec)
        self.approvals: Final = (self.policy and self.policy.approvals) or _USUAL
        self._approver = spec.approver
        self._clock = clock
        self._expire = expire
        self._timeout_seconds = min(self.approvals.timeout_seconds, cap_seconds or self.approvals.timeout_seconds)
        self._memory = Memory()
        self._asking: dict[str, anyio.Event] = {}
        self._open: set[anyio.CancelScope] = set()

    def close(self) -> None:
        """Whatever is being asked is of no use any more, and nothing is asked from now on."""
        self.closed = True
        for scope in self._open:
            scope.cancel()

    async def wait(self, step: Callable[[], Awaitable[Reply]], seconds: float | None = None) -> Reply:
        """Let somebody decide while the agent's silence does not count; what comes too late does not count either."""
        if self.closed:
            return Reply(None)
        with anyio.move_on_after(seconds) as scope:
            self._open.add(scope)
            self._clock.pause_idle()
            try:
                reply = await step()
            finally:
                self._clock.resume_idle(anyio.current_time())
                self._open.discard(scope)
        if not scope.cancel_called:
            return reply
        return self._too_late()

    def _too_late(self) -> Reply:
        return Reply(None, "cancellation" if self.closed else "expiry")

    def question(self, subject: Subject, role: Role, title: str, **fields: Any) -> ApprovalRequest:
        """A question to the approver, with all that is the same for each."""
        return ApprovalRequest(
            id=uuid.uuid4().hex,
            subject=subject,
            agent=self.place.agent,
            run_id=self.place.run_id,
            title=title,
            role=role,
            timeout_seconds=self._timeout_seconds,
            **fields,
        )

    async def ask(
        self, request: ApprovalRequest, settle: Callable[[Decision], Decision], key: str | None = None
    ) -> Reply:
        """The approver's decision as `settle` makes it count; an approval is remembered by `key`, if there is one.

        While the same call is being asked about, this one waits: a yes counts for both, after a no it is asked itself.
        """
        if self._approver is None:
            because = f"{request.why}, and " if request.why else ""
            return Reply(Decision("reject", because + NO_APPROVER, "no approver"))

        async def once() -> Reply:
            return await self._ask_once(request, settle, key or request.id)

        limit = f"within {request.timeout_seconds:g} s"
        try:
            reply = await self.wait(once, request.timeout_seconds)
        except TimeoutError as error:  # how an approver with a limit of its own says that its time is up
            reply, limit = self._too_late(), self._shown("in the time of the approver's own, which raised ", error)
        if reply.by == "expiry":
            self.close()
            self._expire(_expired(request, limit))
        return reply

    async def _ask_once(self, request: ApprovalRequest, settle: Callable[[Decision], Decision], key: str) -> Reply:
        while (asking := self._asking.get(key)) is not None:
            await asking.wait()
        if (approved := self._memory.find(key)) is not None:
            return Reply(replace(approved, why="approved before in this conversation"), remembered=True)
        answered = self._asking[key] = anyio.Event()
        try:
            decision = settle(await self._consult(request))
            if decision.action == "allow" and request.remembers:  # one that came too late ends the run, and the memory
                self._memory.keep(key, decision)
        finally:
            del self._asking[key]
            answered.set()
        return Reply(decision)

    async def _consult(self, request: ApprovalRequest) -> Decision:
        decision = await self.consult(self._approver, request, "approver", passing=(TimeoutError,))
        if decision.decided_by == "callable":  # what a Decision says that names nobody
            decision = replace(decision, decided_by="approver")
        if decision.action == "allow" and not suffices(decision.role, request.role):
            why = f"approved as {decision.role!r}, but this wants the role {request.role!r} or a later one"
            return replace(decision, action="reject", why=why, option_id=None, content=None)
        return decision

    async def consult(
        self, ask: Any, question: Any, what: Caller, *, passing: tuple[type[Exception], ...] = ()
    ) -> Decision:
        """The decision of the caller's code; one that fails is logged with its traceback, and rejects.

        What it raised is in the record, without secrets and on one line.
        """
        try:
            decision = ask(question)
            if inspect.isawaitable(decision):
                decision = await decision
            return _checked(decision)
        except passing:
            raise
        except BaseException as error:  # noqa: BLE001  # the caller's code: its failure must not decide for the child
            raise_if_ours(error)
            get_logger(__name__).exception("failed; rejecting", failed=what, run_id=self.place.run_id)
            return Decision("reject", self._shown(f"the {what} failed: ", error), FAILURES[what])

    def _shown(self, what: str, error: BaseException) -> str:
        return printable(what + self.redact(words_of(error)[: 4 * ERROR_CHARS]), max_chars=ERROR_CHARS)


Caller: TypeAlias = Literal["approver", "permission policy"]
"""What of the caller's code is asked."""

FAILURES: Final[Mapping[Caller, str]] = {"approver": "approver failure", "permission policy": "policy failure"}
"""Who has decided where it failed."""


def _checked(decision: object) -> Decision:
    if not isinstance(decision, Decision):
        raise TypeError(f"it must return a Decision, not {type(decision).__name__}")
    return decision


def policy_of(spec: AgentSpec) -> PermissionPolicy | None:
    """The policy of a spec; None where a callable decides."""
    permission = spec.permission
    if isinstance(permission, str):
        return PRESETS[permission]
    return permission if isinstance(permission, PermissionPolicy) else None


def _expired(request: ApprovalRequest, limit: str) -> str:
    title = printable(request.title, max_chars=TITLE_CHARS)
    return (
        f"nobody answered the approval of {title!r} (role {request.role}) {limit}; "
        "run it again with somebody there, or raise Approvals(timeout_seconds=…), the runner's cap, the approver's own"
    )
