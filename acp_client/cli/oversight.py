"""Who decides for `subagent run`: the policy that `--permission` names, and the person that it can turn to.

Owns their usage errors. The rules are the library's, and so are the approvers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from acp_client.policy.approval import Approver
    from acp_client.policy.rules import PermissionPolicy

TERMINAL: Final = "/dev/tty"


def oversight(permission: str, timeout_seconds: float | None, queue: str | None) -> dict[str, Any]:
    """The fields of an AgentSpec that say who decides. Raises UsageError."""
    from acp_client.policy.rules import PRESETS  # noqa: PLC0415  # no policy before it is needed

    policy = read_policy(permission, timeout_seconds)
    approver = choose_approver(permission, policy, queue)
    return {"permission": permission if policy is PRESETS.get(permission) else policy, "approver": approver}


def read_policy(given: str, timeout_seconds: float | None) -> PermissionPolicy:
    """A preset's policy, else that of a file; approvals wait so long, if a time is given. Raises UsageError."""
    from acp_client.policy.approval import Approvals  # noqa: PLC0415  # no policy before it is needed
    from acp_client.policy.rules import PRESETS  # noqa: PLC0415

    policy = PRESETS.get(given) or _load(given)
    if timeout_seconds is None:
        return policy
    approvals = (policy.approvals or Approvals()).model_copy(update={"timeout_seconds": timeout_seconds})
    return policy.model_copy(update={"approvals": approvals})


def _load(given: str) -> PermissionPolicy:
    from acp_client.policy.policy_file import PolicyFileError, find_policy  # noqa: PLC0415  # yaml

    try:
        return find_policy(given)
    except PolicyFileError as error:
        raise click.UsageError(f"--permission: {error}") from error


def choose_approver(permission: str, policy: PermissionPolicy, queue: str | None) -> Approver | None:
    """The queue, where one is given; else whoever sits at the terminal, if the policy may ask. Raises UsageError."""
    if queue is not None:
        return _open_queue(queue)
    if not can_ask(policy):
        return None
    if has_terminal():
        from acp_client.approvals.terminal.approver import TerminalApprover  # noqa: PLC0415  # for people only

        return TerminalApprover()
    if permission == "ask":
        raise click.UsageError(
            "--permission ask has nobody to ask: there is no terminal, and no --approvals FILE for "
            "`subagent approvals`; give one, or a policy that decides by itself"
        )
    return None


def _open_queue(file: str) -> Approver:
    from acp_client.approvals.errors import ApprovalQueueError  # noqa: PLC0415  # sqlite3
    from acp_client.approvals.queue import ApprovalQueue  # noqa: PLC0415

    try:
        return ApprovalQueue(file)
    except ApprovalQueueError as error:
        raise click.UsageError(f"--approvals: {error}") from error


def can_ask(policy: PermissionPolicy) -> bool:
    """True if a request, or a turn, can come that the policy wants a person for."""
    turns = policy.approvals is not None and policy.approvals.after_turns is not None
    return turns or policy.default == "ask" or any(rule.action == "ask" for rule in policy.rules)


def has_terminal() -> bool:
    """True if this process has a controlling terminal, wherever its stdin and stdout go."""
    try:
        os.close(os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True
