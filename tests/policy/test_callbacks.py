"""What cannot decide is told when the spec is built: a class, the other kind of callback, one that takes no request."""

import functools
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from acp_client import (
    AgentSpec,
    ApprovalQueue,
    ApprovalRequest,
    Decision,
    PermissionPolicy,
    PermissionRequest,
    TerminalApprover,
)


async def judge(_request: PermissionRequest) -> Decision:
    """A policy."""
    return Decision.allow()


async def ask(_request: ApprovalRequest) -> Decision:
    """An approver."""
    return Decision.allow()


async def quoted(_request: "ApprovalRequest") -> Decision:
    """An approver whose annotation is text, as all are under `from __future__ import annotations`."""
    return Decision.allow()


class Team:
    """An object with a method for each."""

    def judge(self, _request: PermissionRequest) -> Decision:
        """A policy."""
        return Decision.allow()

    def ask(self, _request: ApprovalRequest, _hint: str = "") -> Decision:
        """An approver."""
        return Decision.allow()


def refusal(**fields: Any) -> str:
    """What a spec with these fields is told, which is one thing."""
    with pytest.raises(ValidationError) as caught:
        AgentSpec(command=("x",), **fields)
    (error,) = caught.value.errors()
    assert error["loc"] == tuple(fields)
    return error["msg"].removeprefix("Value error, ")


GOOD: list[dict[str, Any]] = [
    {"permission": judge},
    {"permission": Team().judge},
    {"permission": functools.partial(judge)},
    {"permission": lambda _request: Decision.allow()},
    {"permission": lambda *_any: Decision.allow()},
    {"permission": print},
    {"approver": ask},
    {"approver": Team().ask},
    {"approver": lambda _request, _hint="": Decision.allow()},
]


@pytest.mark.parametrize("fields", GOOD)
def test_what_takes_the_question_may_decide(fields: dict[str, Any]) -> None:
    """A function, a method, one with more parameters that need not be given."""
    (name,) = fields
    assert getattr(AgentSpec(command=("x",), **fields), name) is fields[name]


def test_approvers_of_ours_are_approvers_and_no_policies(tmp_path: Path) -> None:
    """As `permission` they would be called with the wrong question, and every answer were a failure."""
    for approver in (ApprovalQueue(tmp_path / "q.db"), TerminalApprover()):
        assert AgentSpec(command=("x",), approver=approver).approver is approver
        says = refusal(permission=approver)
        assert says.startswith(f"{type(approver).__name__} answers to ApprovalRequest, not to PermissionRequest: ")
        assert "give it as approver=…, beside permission=" in says


@pytest.mark.parametrize("approver", [ask, quoted, Team().ask, functools.partial(ask)], ids=range(4))
def test_any_approver_that_says_so_is_no_policy(approver: Any) -> None:
    """By the type of its parameter."""
    assert "it is an approver, so give it as approver=…" in refusal(permission=approver)


@pytest.mark.parametrize("policy", [judge, Team().judge], ids=range(2))
def test_a_policy_is_no_approver(policy: Any) -> None:
    """Likewise."""
    assert "it is a policy, so give it as permission=…" in refusal(approver=policy)
    assert "must be an approver" in refusal(approver=PermissionPolicy())


@pytest.mark.parametrize("field", ["permission", "approver"])
@pytest.mark.parametrize("given", [TerminalApprover, ApprovalQueue, Decision, PermissionPolicy])
def test_a_class_is_no_decider(field: str, given: Any) -> None:
    """It can be called, and gives no decision."""
    says = f"is the class {given.__name__} itself, which decides nothing; make one: {given.__name__}(…)"
    assert refusal(**{field: given}) == says


@pytest.mark.parametrize("given", [lambda: None, lambda _one, _two: None, lambda *, _named: None], ids=range(3))
def test_what_cannot_take_the_question_is_told_what_it_is_called_with(given: Any) -> None:
    """Before any agent waits for it."""
    assert "is called with one argument, the PermissionRequest (" in refusal(permission=given)
    assert "is called with one argument, the ApprovalRequest (" in refusal(approver=given)


@pytest.mark.parametrize(("typed", "meant"), [("readonly", "read-only"), ("Allow", "allow"), ("rejct", "reject")])
def test_a_preset_that_is_misspelt_is_told_the_nearest(typed: str, meant: str) -> None:
    """Beside all that there is."""
    says = refusal(permission=typed)
    assert says.startswith("must be one of 'reject', 'allow', 'read-only', 'ask', a PermissionPolicy")
    assert says.endswith(f"; did you mean {meant!r}?")


# ---- decisions

WRONG: dict[str, tuple[Any, str]] = {
    "a word": (lambda: Decision("yes"), 'action must be "allow" or "reject", not \'yes\'; see Decision.allow'),  # type: ignore[arg-type]  # on purpose, as all here
    "no word": (lambda: Decision(None), "not None"),  # type: ignore[arg-type]
    "a flood": (lambda: Decision("x" * 10_000), "not 'xxx"),  # type: ignore[arg-type]
    "an error as reason": (lambda: Decision.reject(ValueError("x")), "why must be a text or None, not ValueError"),  # type: ignore[arg-type]
    "nobody": (lambda: Decision("allow", decided_by=None), "decided_by must be a text, not NoneType"),  # type: ignore[arg-type]
    "a role": (lambda: Decision("allow", role=3), "role must be a text or None, not int"),  # type: ignore[arg-type]
    "an option": (lambda: Decision.select(3), "option_id must be a text or None, not int"),  # type: ignore[arg-type]
    "a form": (lambda: Decision.fill([("a", 1)]), "content must be a mapping or None, not list"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", WRONG)
def test_a_decision_that_decides_nothing_is_told_where_it_is_made(name: str) -> None:
    """Naming the field and the rule, on a line that stays short."""
    make, says = WRONG[name]
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert says in str(caught.value)
    assert len(str(caught.value)) < 150
