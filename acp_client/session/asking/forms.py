"""Forms: what an agent asks of the user is asked of the approver, checked, and sent.

Served only where the spec has an approver that serves forms, and said to the agent only then. (ACP v1, elicitation.)
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Final

from acp_client.policy.asking.forms import fault
from acp_client.policy.permission import Decision, PermissionRequest
from acp_client.protocol import models
from acp_client.protocol.errors import INVALID_PARAMS, RpcError
from acp_client.protocol.states import TheirRequest
from acp_client.session.asking.audit import Answered, Audit
from acp_client.session.asking.people import People, Reply
from acp_client.spec import AgentSpec

KIND: Final = "elicitation"


def serves_forms(spec: AgentSpec) -> bool:
    """True if there is somebody to fill a form in."""
    return spec.approver is not None and bool(getattr(spec.approver, "serves_forms", True))


class FormDesk:
    """Answers `elicitation/create`: what is filled in, a refusal, or `cancel` once the run ends."""

    def __init__(self, audit: Audit, people: People) -> None:
        self._audit = audit
        self._people = people

    async def answer(self, request: TheirRequest) -> dict[str, Any]:
        """The result for one request. Raises RpcError for a mode that is not served."""
        form = _read(request.params)
        raw = request.params
        question = PermissionRequest(
            session_id=form.session_id,
            tool_call_id=form.tool_call_id or "",
            title=form.message,
            name=None,
            kind=KIND,
            options=(),
            raw=raw,
            agent=self._people.place.agent,
            run_id=self._people.place.run_id,
        )
        self._audit.asked(question)
        began = time.monotonic()
        reply = await self._ask(form, raw["requestedSchema"])
        role = self._people.approvals.default_role
        answered = Answered(decision=reply.decision, subject="elicitation", by=reply.by, role=role)
        self._audit.answered(question, answered, time.monotonic() - began)
        return _to_wire(reply.decision)

    async def _ask(self, form: models.FormElicitationRequest, schema: dict[str, Any]) -> Reply:
        people = self._people
        if people.closed:
            return Reply(None)
        request = people.question(
            "elicitation",
            people.approvals.default_role,
            form.message,
            session_id=form.session_id,
            tool=None,
            kind=KIND,
            tool_call_id=form.tool_call_id,
            schema=schema,
        )
        return await people.ask(request, lambda decision: _checked(decision, form))


def _read(params: Any) -> models.FormElicitationRequest:
    try:
        form = models.CreateElicitationRequest.from_wire(params)
    except models.ModelError as error:
        raise RpcError(INVALID_PARAMS, str(error)) from error
    if not isinstance(form, models.FormElicitationRequest):
        raise RpcError(INVALID_PARAMS, f"mode {form.mode!r} is not served; the client advertises: form")
    return form


def _checked(decision: Decision, form: models.FormElicitationRequest) -> Decision:
    """An answer that does not fit the form is not sent."""
    if decision.action != "allow":
        return decision
    wrong = fault(form.requested_schema, decision.content or {})
    if decision.content is None and form.requested_schema.properties:
        wrong = "a form is accepted with its values: Decision.fill({…})"
    if wrong is None:
        return decision
    return replace(decision, action="reject", why=f"what was filled in cannot be sent: {wrong}", content=None)


def _to_wire(decision: Decision | None) -> dict[str, Any]:
    if decision is None:
        return {"action": "cancel"}
    if decision.action == "reject":
        return {"action": "decline"}
    return {"action": "accept", "content": {name: _plain(value) for name, value in (decision.content or {}).items()}}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
