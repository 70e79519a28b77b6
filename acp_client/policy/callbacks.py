"""Whether what a caller gives can decide at all: looked at when a spec is built, not when an agent waits. Pure.

Owns what a wrong callback is told. Calling it, and what its failure means, is `session.asking`'s.
"""

from __future__ import annotations

import inspect
from typing import Any

from acp_client.policy.approval import ApprovalRequest
from acp_client.policy.permission import PermissionRequest

_ELSEWHERE = {
    ApprovalRequest: 'it is an approver, so give it as approver=…, beside permission="ask" or a PermissionPolicy',
    PermissionRequest: "it is a policy, so give it as permission=…",
}


def check_policy(given: Any) -> Any:
    """A callable `(PermissionRequest) -> Decision`. Raises ValueError for one that cannot be that."""
    return _checked(given, PermissionRequest, not_for=ApprovalRequest)


def check_approver(given: Any) -> Any:
    """A callable `(ApprovalRequest) -> Decision`. Raises ValueError for one that cannot be that."""
    return _checked(given, ApprovalRequest, not_for=PermissionRequest)


def _checked(given: Any, question: type, *, not_for: type) -> Any:
    name = getattr(given, "__name__", None) or type(given).__name__
    if inspect.isclass(given):
        raise ValueError(f"is the class {name} itself, which decides nothing; make one: {name}(…)")
    try:
        signature = inspect.signature(given)
    except (ValueError, TypeError):  # of some that are written in C nobody can tell
        return given
    try:
        takes = [signature.parameters[parameter].annotation for parameter in signature.bind(None).arguments]
    except TypeError as error:
        rule = f"is called with one argument, the {question.__name__}"
        raise ValueError(f"{name} cannot be called so: it {rule} ({error})") from None
    if any(one is not_for or (isinstance(one, str) and one.rpartition(".")[2] == not_for.__name__) for one in takes):
        raise ValueError(f"{name} answers to {not_for.__name__}, not to {question.__name__}: {_ELSEWHERE[not_for]}")
    return given
