"""The approval of a whole turn, before its prompt is sent: what `Approvals(after_turns=…)` asks for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from acp_client.policy.permission import Decision, PermissionRequest
from acp_client.session.asking.audit import Answered, Audit
from acp_client.session.asking.people import People, Reply
from acp_client.session.ending import Ending, EndRun

KIND: Final = "turn"


async def approve_turn(
    session_id: str | None, prompt: Sequence[dict[str, Any]], turns: int, audit: Audit, people: People
) -> None:
    """Return once a turn after so many may go on: at once where nobody wants to be asked. Raises EndRun if not.

    A turn that is not approved is our side's end of the run, like a cancel: nothing was sent, the agent did no wrong.
    """
    if not people.approvals.wants_turn(turns):
        return
    place, role, title = people.place, people.approvals.default_role, f"turn {turns + 1}"
    raw = {"prompt": list(prompt)}
    question = PermissionRequest(session_id, "", title, None, KIND, (), raw, place.agent, place.run_id)
    request = people.question(KIND, role, title, session_id=session_id, tool=None, kind=KIND, arguments=raw)
    audit.asked(question)
    began = time.monotonic()
    reply = Reply(None)
    try:
        reply = await people.ask(request, _as_it_is)
    finally:  # also when the run ends meanwhile
        answered = Answered(decision=reply.decision, subject="turn", by=reply.by, role=role)
        audit.answered(question, answered, time.monotonic() - began)
    if reply.decision is None:  # what made it useless has decided already; the prompt must not be sent all the same
        raise EndRun(Ending("cancelled", f"{title} waited for approval when the run ended"))
    if reply.decision.action == "reject":
        why = f": {reply.decision.why}" if reply.decision.why else ""
        message = f"{title} was not approved, and nothing was sent; rejected by {reply.decision.decided_by}{why}"
        raise EndRun(Ending("cancelled", message))


def _as_it_is(decision: Decision) -> Decision:
    return decision
