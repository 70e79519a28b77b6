"""The rows of the queue: a request is added, answered once, or closed. Synchronous; the loop is `queue`'s business.

Owns the states and who may leave which. A row leaves `waiting` once: `approved` or `rejected` by a person, `expired`
when its time is up, `withdrawn` when its run ended first, `abandoned` when its parent has gone. Nothing is deleted.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from acp_client.approvals.database import BUSY_SECONDS, Database
from acp_client.approvals.envelope import seal, seal_request, unseal, unseal_request
from acp_client.approvals.errors import ApprovalQueueError, Refused, UnknownRequest
from acp_client.approvals.judgement import Answer, judge
from acp_client.approvals.owner import Owner, is_gone, this_process
from acp_client.policy.approval import ApprovalRequest

State: TypeAlias = Literal["waiting", "approved", "rejected", "expired", "withdrawn", "abandoned"]

EXPIRED: Final = "nobody answered in time"
WITHDRAWN: Final = "its run ended before anybody answered"
ABANDONED: Final = "its parent has gone"

AMBIGUOUS_SHOWN: Final = 5
"""Ids that an error names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row. `decided_at` is when it left `waiting`; the other `decided_` fields are a person's.

    `delivered`: True once the parent has taken the decision, False if it came too late for its run, None as long as
    neither is known. Times are in seconds since the epoch.
    """

    id: str
    state: State
    role: str
    asked_at: float
    expires_at: float
    owner: Owner | None
    decided_by: str | None
    decided_role: str | None
    decided_at: float | None
    why: str | None
    option_id: str | None
    delivered: bool | None
    sealed_request: str
    sealed_content: str | None

    @property
    def request(self) -> ApprovalRequest:
        """What was asked. Raises Unreadable."""
        return unseal_request(self.sealed_request)

    @property
    def content(self) -> Any:
        """The form, filled in. Raises Unreadable."""
        return unseal(self.sealed_content)


class Store:
    """The queue in a file, which is made if it is not there. Opening it closes what nobody waits for any more.

    To be used by one thread at a time. Raises QueueUnusable, from every method.
    """

    def __init__(
        self, path: Path, *, busy_seconds: float = BUSY_SECONDS, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._file = Database(path, busy_seconds=busy_seconds)
        try:
            self.sweep()
        except BaseException:
            self._file.close()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def close(self) -> None:
        """Nothing of it may be used after that."""
        self._file.close()

    def version(self) -> int:
        """Changes whenever another process, or another store of ours, has written."""
        return self._file.version()

    def is_in_place(self) -> bool:
        """False once the file was removed or replaced."""
        return self._file.is_in_place()

    def add(self, request: ApprovalRequest, expires_at: float) -> None:
        """The request waits, and this process for it. Raises ApprovalQueueError for an id that was there before."""
        values = (
            request.id,
            seal_request(request),
            request.role,
            request.asked_at,
            expires_at,
            this_process().to_json(),
        )
        with self._file.transaction():
            if self._find(request.id) is not None:
                raise ApprovalQueueError(
                    f"a request {request.id!r} is in the queue already; give each an id of its own"
                )
            self._file.change(
                "INSERT INTO requests (id, request, role, state, asked_at, expires_at, owner)"
                " VALUES (?, ?, ?, 'waiting', ?, ?, ?)",
                *values,
            )

    def answer(self, prefix: str, answer: Answer) -> Entry:
        """Decide a request, for good: the first answer holds. Returns it as it is then.

        Raises Refused if it cannot be decided any more or not by this role, WrongAnswer if the answer does not fit,
        UnknownRequest, Unreadable.
        """
        self.sweep()
        entry = self.find(prefix)
        _refuse_closed(entry)
        option_id = judge(entry.request, answer)  # what was asked never changes, so nothing is held meanwhile
        now = self._clock()
        changed = self._file.change(
            "UPDATE requests SET state = ?, decided_by = ?, decided_role = ?, decided_at = ?, why = ?, option_id = ?,"
            " content = ? WHERE id = ? AND state = 'waiting' AND expires_at > ?",
            "approved" if answer.action == "allow" else "rejected",
            answer.by,
            answer.role,
            now,
            answer.why,
            option_id,
            None if answer.content is None else seal(answer.content),
            entry.id,
            now,
        )
        entry = self.find(entry.id)
        if not changed:
            _refuse_closed(entry)
            raise Refused(f"request {entry.id} has expired: {EXPIRED}; there is nothing to decide any more")
        return entry

    def finish(self, request_id: str, state: Literal["expired", "withdrawn"]) -> None:
        """Nobody waits for it any more; a decision that is there already stays, marked as too late."""
        with self._file.transaction():
            if not self._end("id = ?", request_id, state, EXPIRED if state == "expired" else WITHDRAWN):
                self._mark(request_id, delivered=False)

    def deliver(self, request_id: str) -> None:
        """The parent has taken the decision."""
        self._mark(request_id, delivered=True)

    def expire(self, request_ids: Iterable[str]) -> None:
        """Those that still wait have waited long enough, whatever the wall clock says."""
        for request_id in request_ids:
            self._end("id = ?", request_id, "expired", EXPIRED)

    def sweep(self) -> None:
        """Close what has expired, and what a process asked that has gone. Writes only where there is some."""
        here, now = this_process(), self._clock()
        query = "SELECT owner, min(expires_at) AS first FROM requests WHERE state = 'waiting' GROUP BY owner"
        for row in self._file.rows(query):
            if row["first"] <= now:
                self._end("expires_at <= ?", now, "expired", EXPIRED)
            owner = Owner.from_json(row["owner"])
            if owner is not None and is_gone(owner, here):
                self._end("owner = ?", row["owner"], "abandoned", ABANDONED)

    def settled(self, request_ids: Iterable[str]) -> list[Entry]:
        """Those of the requests that wait no more."""
        return self._entries(
            "WHERE id IN (SELECT value FROM json_each(?)) AND state <> 'waiting'", json.dumps(list(request_ids))
        )

    def waiting(self) -> list[Entry]:
        """What can be decided, the oldest first."""
        return self._entries("WHERE state = 'waiting' ORDER BY asked_at, id")

    def everything(self) -> list[Entry]:
        """All that was ever asked, the oldest first."""
        return self._entries("ORDER BY asked_at, id")

    def find(self, prefix: str) -> Entry:
        """The request with this id, or the only one whose id begins so. Raises UnknownRequest."""
        exact = self._find(prefix)
        if exact is not None:
            return exact
        found = self._entries(
            "WHERE substr(id, 1, length(?)) = ? ORDER BY id LIMIT ?", prefix, prefix, AMBIGUOUS_SHOWN + 1
        )
        if len(found) == 1 and prefix:
            return found[0]
        if not found or not prefix:
            raise UnknownRequest(f"no request has the id {prefix!r}; see subagent approvals list --all")
        ids = ", ".join(entry.id for entry in found[:AMBIGUOUS_SHOWN])
        raise UnknownRequest(f"several ids begin with {prefix!r} ({ids}); give more of it")

    def _find(self, request_id: str) -> Entry | None:
        return next(iter(self._entries("WHERE id = ?", request_id)), None)

    def _entries(self, which: str, *values: object) -> list[Entry]:
        return [_entry(row) for row in self._file.rows(f"SELECT * FROM requests {which}", *values)]  # noqa: S608  # ours

    def _end(self, which: str, value: object, state: State, why: str) -> bool:
        statement = f"UPDATE requests SET state = ?, why = ?, decided_at = ? WHERE state = 'waiting' AND {which}"  # noqa: S608  # ours
        return self._file.change(statement, state, why, self._clock(), value) > 0

    def _mark(self, request_id: str, *, delivered: bool) -> None:
        self._file.change(
            "UPDATE requests SET delivered = ?"
            " WHERE id = ? AND delivered IS NULL AND state IN ('approved', 'rejected')",
            delivered,
            request_id,
        )


def _refuse_closed(entry: Entry) -> None:
    if entry.state in ("approved", "rejected"):
        why = f", who said: {entry.why}" if entry.why else ""
        raise Refused(
            f"request {entry.id} was {entry.state} by {entry.decided_by} ({entry.decided_role}) before{why}; "
            f"the first answer holds"
        )
    if entry.state != "waiting":
        raise Refused(f"request {entry.id} is {entry.state}: {entry.why}; there is nothing to decide any more")


def _entry(row: sqlite3.Row) -> Entry:
    return Entry(
        id=row["id"],
        state=row["state"],
        role=row["role"],
        asked_at=row["asked_at"],
        expires_at=row["expires_at"],
        owner=Owner.from_json(row["owner"]),
        decided_by=row["decided_by"],
        decided_role=row["decided_role"],
        decided_at=row["decided_at"],
        why=row["why"],
        option_id=row["option_id"],
        delivered=None if row["delivered"] is None else bool(row["delivered"]),
        sealed_request=row["request"],
        sealed_content=row["content"],
    )
