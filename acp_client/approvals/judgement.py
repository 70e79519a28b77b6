"""Whether an answer fits its question: the reviewer's role, the option, the form. Pure.

An approval never picks an option that refuses, a rejection never one that does not, and between several ways to allow
a person picks, not their order. What the run then makes of the decision is `session`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from acp_client.approvals.errors import Refused, WrongAnswer
from acp_client.policy.approval import ROLES, ApprovalRequest, OfferedOption, Role, suffices
from acp_client.policy.asking.choices import REFUSING
from acp_client.policy.asking.forms import fault
from acp_client.policy.permission import ALLOWING, Action
from acp_client.protocol.models import ModelError
from acp_client.protocol.models.elicitation import ElicitationSchema

SHOWN_OPTIONS: Final = 10
"""In an error: an agent may offer thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reviewer says. `option_id` picks an option, `content` fills a form in."""

    action: Action
    by: str
    role: Role = "standard"
    why: str | None = None
    option_id: str | None = None
    content: Mapping[str, Any] | None = None


def judge(request: ApprovalRequest, answer: Answer) -> str | None:
    """The id of the option that the answer means, None where it names none. Raises Refused and WrongAnswer."""
    if not suffices(answer.role, request.role):
        may = " or ".join(ROLES[ROLES.index(request.role) :])
        raise Refused(f"the role {answer.role} may not decide this, only {may} may; who holds one says so with --role")
    _check_form(request, answer)
    if answer.option_id is not None:
        return _picked(request.options, answer.option_id, answer.action)
    if request.subject == "choice" and answer.action == "allow":
        return _only_way(request.options)
    return None


def _picked(options: Sequence[OfferedOption], option_id: str, action: Action) -> str:
    kinds = {option.kind for option in options if option.id == option_id}
    if not kinds:
        raise WrongAnswer(f"option {option_id!r} is not offered; there are: {_ids(options)}")
    if len(kinds) > 1:
        raise WrongAnswer(f"option {option_id!r} is there with two meanings; pick another, or reject without one")
    kind = kinds.pop()
    if (kind in REFUSING) != (action == "reject"):
        word, other = ("approves", "reject") if action == "allow" else ("rejects", "approve")
        raise WrongAnswer(f"option {option_id!r} is of kind {kind!r}, which {word} nothing; {other} with it")
    return option_id


def _only_way(options: Sequence[OfferedOption]) -> str:
    ways = list({(option.id, option.kind): option for option in options if option.kind not in REFUSING}.values())
    refusing = {option.id for option in options if option.kind in REFUSING}
    if len(ways) == 1 and ways[0].kind in ALLOWING and ways[0].id not in refusing:
        return ways[0].id
    if not ways:
        raise WrongAnswer("the agent offers nothing to approve with; reject it")
    raise WrongAnswer(f"which way to allow this is for a person to say, not for their order; --option: {_ids(ways)}")


def _check_form(request: ApprovalRequest, answer: Answer) -> None:
    if request.subject != "elicitation" or answer.action != "allow":
        if answer.content is not None:
            raise WrongAnswer("values are for the approval of a form; leave --content out")
        return
    try:
        form = ElicitationSchema.from_wire(request.schema)
    except ModelError as error:
        raise WrongAnswer(f"the agent's form cannot be read ({error}); reject it") from error
    if answer.content is None and form.properties:
        names = ", ".join(map(repr, list(form.properties)[:SHOWN_OPTIONS]))
        raise WrongAnswer(f"the agent asks for values ({names}); give them as a JSON object with --content")
    wrong = fault(form, answer.content or {})
    if wrong is not None:
        raise WrongAnswer(f"the values do not fit the form: {wrong}")


def _ids(options: Sequence[OfferedOption]) -> str:
    shown = ", ".join(repr(option.id) for option in options[:SHOWN_OPTIONS])
    more = len(options) - SHOWN_OPTIONS
    return (shown or "none") + (f" and {more} more" if more > 0 else "")
