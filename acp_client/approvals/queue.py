"""The durable queue as an approver: a run asks, a person answers from another process, the run goes on.

Owns who may make one, and the decision that a run gets. How an answer is waited for is `desk`'s, the file `store`'s.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import ClassVar, Final

from anyio.lowlevel import RunVar

from acp_client.approvals.desk import Desk
from acp_client.approvals.errors import ApprovalQueueError
from acp_client.approvals.store import Entry, Store
from acp_client.policy.approval import ApprovalRequest
from acp_client.policy.permission import Action, Decision

_ACTIONS: Final[dict[str, Action]] = {"approved": "allow", "rejected": "reject"}


class ApprovalQueue:
    """`ApprovalQueue("approvals.db")`: an approver whose questions wait in a file for `subagent approvals`.

    Making one makes the file where there is none (for its owner alone, and so its folder), and closes in it what a
    parent that has gone had asked; raises QueueUnusable for a file that cannot be used. Whoever
    may write the file can decide: its permissions are the protection, names and roles are taken on trust.
    `max_timeout_seconds` is the deployment's cap on how long a request may wait. May be shared by any number of runs,
    event loops and processes; nothing is held open while nothing waits.
    """

    durable: ClassVar[bool] = True
    """A person may take a day: a run with such an approver has no limit on its time unless one is set."""

    def __init__(self, path: str | os.PathLike[str], *, max_timeout_seconds: float | None = None) -> None:
        if max_timeout_seconds is not None and not 0 < max_timeout_seconds < math.inf:
            raise ValueError(
                f"max_timeout_seconds is {max_timeout_seconds!r}; it is a finite number of seconds above 0, or None"
            )
        self.path: Final = Path(path).absolute()
        self.max_timeout_seconds: Final = max_timeout_seconds
        self._desk = RunVar[Desk](f"acp_subagents_approvals_{id(self)}")
        Store(self.path).close()

    def __repr__(self) -> str:
        cap = "" if self.max_timeout_seconds is None else f", max_timeout_seconds={self.max_timeout_seconds!r}"
        return f"ApprovalQueue({str(self.path)!r}{cap})"

    async def __call__(self, request: ApprovalRequest) -> Decision:
        """What a person decides. `decided_by` is that person.

        Raises TimeoutError when the time is up (the request's own, or the cap) and ApprovalQueueError when the file
        fails; neither is an approval. Safe to cancel: the request is then closed, as `expired` if its time is up, else
        as `withdrawn`, and a later answer is refused.
        """
        seconds = min(request.timeout_seconds, self.max_timeout_seconds or math.inf)
        entry = await self._own_desk().ask(request, seconds)
        if entry.state == "expired":
            raise TimeoutError(f"nobody answered approval request {request.id} within {seconds:g} s")
        return _decision(entry)

    def _own_desk(self) -> Desk:
        """The one of this event loop."""
        try:
            return self._desk.get()
        except LookupError:
            desk = Desk(self.path)
            self._desk.set(desk)
            return desk


def _decision(entry: Entry) -> Decision:
    action = _ACTIONS.get(entry.state)
    if action is None:
        raise ApprovalQueueError(f"approval request {entry.id} was closed by another process: {entry.why}")
    return Decision(
        action,
        entry.why,
        decided_by=entry.decided_by or "unknown",
        role=entry.decided_role,
        option_id=entry.option_id,
        content=entry.content,
    )
