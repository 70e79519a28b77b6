"""The permission requests of one session: each is decided by the policy, or by who it turns to, and answered.

Every request is answered: also with an unknown session id, without any usable option, and after a cancel. Whom to ask,
and for how long, is `asking`'s. (ACP v1, tool calls, requesting permission.)
"""

from __future__ import annotations

import functools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from acp_client.outcome.result import PermissionRecord
from acp_client.policy.approval import Diff, OfferedOption, Subject
from acp_client.policy.asking.choices import is_choice, settle, settle_program
from acp_client.policy.asking.memory import key_of
from acp_client.policy.permission import CANCELLED, Decision, PermissionRequest, choose
from acp_client.policy.rules import Ruling
from acp_client.protocol import models
from acp_client.protocol.dispatch import Rest
from acp_client.protocol.errors import INVALID_PARAMS, RpcError
from acp_client.protocol.states import TheirRequest
from acp_client.session.asking.audit import Answered, Audit
from acp_client.session.asking.people import FAILURES, People, Reply
from acp_client.session.turn import Turn
from acp_client.spec import AgentSpec

LOST: Final = (
    "what was announced of the call is too much to keep, and its request does not say it again, so nobody can judge "
    "it; raise max_output_bytes"
)
OFFERED: Final = "the parent offers this tool itself"
EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
"""Values that say nothing."""
TEXTS: Final = frozenset({"title", "name", "kind"})

_Deciding: TypeAlias = Callable[[], Awaitable[Answered]]
"""What has to be awaited for a decision."""


class PermissionDesk:
    """Answers `session/request_permission`. `records` are all that was asked, in the order of the answers."""

    def __init__(self, spec: AgentSpec, audit: Audit, people: People) -> None:
        self._spec = spec
        self._audit = audit
        self._people = people
        self.own_tool: Callable[[PermissionRequest], str | None] = lambda _question: None
        """The name of the tool of the parent's that a request is for, if it is one."""

    @property
    def records(self) -> list[PermissionRecord]:
        """All that was asked in this session: of permissions, and forms and turns too."""
        return self._audit.records

    def close(self) -> None:
        """Every open request is answered `cancelled`, and every later one (ACP v1, prompt turn)."""
        self._people.close()

    def answer(self, request: TheirRequest, session_id: str | None, turn: Turn) -> dict[str, Any] | Rest:
        """The result for one request, or what is to be awaited for it: a person, or the caller's own function.

        What it says of its tool call is folded if it is of this session.
        """
        try:
            asked = models.RequestPermissionRequest.from_wire(request.params)
        except models.ModelError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        raw, call_id = request.params["toolCall"], asked.tool_call.tool_call_id
        ours, said = asked.session_id == session_id, {key: value for key, value in raw.items() if _says(key, value)}
        lost = ours and turn.lacks(call_id, said)
        if turn.meter is not None:  # also before the prompt, and for whatever session: it is a call
            turn.meter.on_tool_call(call_id if ours else f"{asked.session_id} {call_id}")
        question = self._question(asked, said, turn if ours else None)
        self._audit.asked(question)
        began = time.monotonic()
        answered = _of_lost(question) if lost and not self._people.closed else self._decide(question)
        if isinstance(answered, Answered):
            return self._settle(question, answered, began)
        return functools.partial(self._await, question, answered, began)

    async def _await(self, question: PermissionRequest, rest: _Deciding, began: float) -> dict[str, Any]:
        return self._settle(question, await rest(), began)

    def _settle(self, question: PermissionRequest, answered: Answered, began: float) -> dict[str, Any]:
        self._audit.answered(question, answered, time.monotonic() - began)
        return (answered.choice or CANCELLED).to_wire()

    def _question(
        self, asked: models.RequestPermissionRequest, raw: dict[str, Any], turn: Turn | None
    ) -> PermissionRequest:
        """The request, on top of what was announced under the id of its call.

        Some agents send no more than that id, others a copy of it from before its arguments came.
        """
        call = asked.tool_call
        announced_kind = turn.kind_of(call.tool_call_id) if turn is not None else None
        if turn is not None:
            announced = turn.call(call.tool_call_id)
            turn.fold_tool_call(raw)
            turn.note_asked(call.tool_call_id)
            raw = announced | raw
        place = self._people.place
        return PermissionRequest(
            session_id=asked.session_id,
            tool_call_id=call.tool_call_id,
            title=call.title or _text(raw.get("title")),
            name=call.name or _text(raw.get("name")),
            kind=call.kind or announced_kind or "other",
            options=tuple(asked.options),
            raw=raw,
            agent=place.agent,
            run_id=place.run_id,
            cwd=place.cwd,
            roots=place.roots,
        )

    def _decide(self, question: PermissionRequest) -> Answered | _Deciding:
        people = self._people
        if people.closed:
            return Answered(decision=None, choice=CANCELLED, subject=_subject(question))
        if people.policy is None:
            return functools.partial(self._call_policy, question)
        own = self.own_tool(question)
        if own is not None and not is_choice(question):
            return _of_own(question, people.policy.rule(replace(question, name=own)))
        ruling = people.policy.rule(question)
        if ruling.action != "ask":
            decision, choice = settle(Decision(ruling.action, ruling.why, ruling.by), question)
            if decision.action == ruling.action:  # else it is not clear what an allow would mean
                return Answered(decision=decision, choice=choice, subject=_subject(question), rule=ruling.by)
        return functools.partial(self._ask, _subject(question), question, ruling)

    async def permit_own(self, call_id: str, tool: str, arguments: Mapping[str, Any]) -> Decision:
        """For a call of a tool of the parent's: what a rule says of it, after asking if it says so; else it is allowed.

        Recorded only where a rule decides: that the call was made is recorded elsewhere.
        """
        policy, place = self._people.policy, self._people.place
        if self._people.closed:
            return Decision("reject", "the run is over", "cancellation")
        question = PermissionRequest(
            session_id=None,
            tool_call_id=call_id,
            title=tool,
            name=tool,
            kind="other",
            options=_own_options(),
            raw={"toolCallId": call_id, "name": tool, "title": tool, "kind": "other", "rawInput": dict(arguments)},
            agent=place.agent,
            run_id=place.run_id,
            cwd=place.cwd,
            roots=place.roots,
        )
        ruling = None if policy is None else policy.rule(question)
        if ruling is None or not ruling.explicit or ruling.action == "allow":
            return Decision("allow", OFFERED, "host tools")
        self._audit.asked(question)
        began = time.monotonic()
        answered = _of_own(question, ruling) if ruling.action == "reject" else await self._ask("tool", question, ruling)
        self._audit.answered(question, answered, time.monotonic() - began)
        return _for_model(answered.decision or Decision("reject", "the run is over", answered.by))

    async def _call_policy(self, question: PermissionRequest) -> Answered:
        async def decide() -> Reply:
            return Reply(await self._people.consult(self._spec.permission, question, "permission policy"))

        reply = await self._people.wait(decide)
        if reply.decision is None:
            return Answered(decision=None, choice=CANCELLED, by=reply.by, subject=_subject(question))
        decision, choice = settle_program(reply.decision, question)
        return Answered(decision=decision, choice=choice, subject=_subject(question))

    async def _ask(self, subject: Subject, question: PermissionRequest, ruling: Ruling) -> Answered:
        """Ask a person, if the tool's mode says so: a choice always is."""
        how = self._people.approvals.of(question, explicit=ruling.explicit)
        if subject == "tool" and how.mode == "never_ask":
            decision = Decision("allow", None, "approvals: never_ask")
            return Answered(decision=decision, choice=choose("allow", question.options), rule=ruling.by)
        first_use = subject == "tool" and how.mode == "ask_on_first_use"
        assert how.role is not None  # `of` fills it in
        request = self._people.question(
            subject, how.role, _title(question), why=ruling.why or ruling.by, remembers=first_use, **_shown(question)
        )
        key = key_of(question) if first_use else None
        reply = await self._people.ask(request, lambda decision: settle(decision, question)[0], key)
        return _answered(reply, question, subject=subject, rule=ruling.by, role=how.role)


def _of_lost(question: PermissionRequest) -> Answered:
    decision = Decision("reject", LOST, "limit")
    return Answered(decision=decision, choice=choose("reject", question.options), subject=_subject(question))


def _of_own(question: PermissionRequest, ruling: Ruling) -> Answered:
    """The parent offers it, which is consent: only a rule rejects it. One that says to ask is obeyed at the call."""
    rejected = ruling.explicit and ruling.action == "reject"
    decision = Decision("reject", ruling.why, ruling.by) if rejected else Decision("allow", OFFERED, "host tools")
    return Answered(decision=decision, choice=choose(decision.action, question.options), rule=ruling.by)


def _for_model(decision: Decision) -> Decision:
    """What the caller's code raised is the caller's to read: it is in the record, and no model is told."""
    return replace(decision, why="the approver failed") if decision.decided_by == FAILURES["approver"] else decision


def _answered(reply: Reply, question: PermissionRequest, **facts: Any) -> Answered:
    if reply.decision is None:
        return Answered(decision=None, choice=CANCELLED, by=reply.by, **facts)
    if reply.remembered:  # what was picked then may not be there now
        return Answered(decision=reply.decision, choice=choose("allow", question.options), remembered=True, **facts)
    decision, choice = settle(reply.decision, question)
    return Answered(decision=decision, choice=choice, **facts)


def _subject(question: PermissionRequest) -> Subject:
    return "choice" if is_choice(question) else "tool"


def _title(question: PermissionRequest) -> str:
    return question.title or question.name or question.tool_call_id


def _shown(question: PermissionRequest) -> dict[str, Any]:
    """What a person sees of a request."""
    return {
        "session_id": question.session_id,
        "tool": question.name,
        "kind": question.kind,
        "tool_call_id": question.tool_call_id,
        "arguments": question.arguments,
        "paths": question.paths,
        "diffs": _diffs(question),
        "options": tuple(OfferedOption(option.option_id, option.name, option.kind) for option in question.options),
    }


def _diffs(question: PermissionRequest) -> tuple[Diff, ...]:
    content = question.raw.get("content")
    return tuple(filter(None, map(_diff, content))) if isinstance(content, list) else ()


def _diff(item: Any) -> Diff | None:
    if not isinstance(item, dict) or item.get("type") != "diff":
        return None
    path, old, new = item.get("path"), item.get("oldText"), item.get("newText")
    return Diff(path, _text(old), new) if isinstance(path, str) and isinstance(new, str) else None


def _says(key: str, value: Any) -> bool:
    """False for what is empty, and for a text that is none.

    It takes nothing back of what was announced, else no path would be judged, and one yes would count for any call.
    """
    return value not in EMPTY and (key not in TEXTS or isinstance(value, str))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _own_options() -> tuple[models.PermissionOption, ...]:
    """What a person may answer to a call of a tool of ours, which no agent asks for."""
    return (
        models.PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
        models.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
    )
