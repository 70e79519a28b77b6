"""The rows of the queue: left once, by who may, and never approved by accident."""

import dataclasses
import math
import time
from pathlib import Path
from typing import Any

import pytest

from acp_client.approvals.database import Database
from acp_client.approvals.errors import ApprovalQueueError, Refused, UnknownRequest, Unreadable
from acp_client.approvals.owner import Owner, this_process
from acp_client.approvals.store import ABANDONED, Store
from acp_client.policy.approval import ROLES, ApprovalRequest, Diff
from tests.approvals.questions import ALWAYS, NO, YES, add, approval, question, rejection, state_of


def test_a_request_comes_back_as_it_was(store: Store) -> None:
    """All of it, odd characters too."""
    asked = question(
        title="half a pair \ud800, \x1b[2J, \u202e",
        arguments={"deep": [1, 2.5, None, {"x": "é"}]},
        paths=("/a", "/b"),
        diffs=(Diff("/a", None, "new\n"), Diff("/b", "old", "new")),
        options=(YES, ALWAYS, NO),
        schema={"type": "object"},
        role="admin",
        why="rule 3",
        remembers=True,
    )
    add(store, asked)
    assert store.find("q-1").request == asked


def test_a_decision_is_kept_with_who_when_and_why(store: Store) -> None:
    """For good."""
    add(store, question(options=(YES, NO)))
    before = time.time()
    entry = store.answer("q-1", approval(role="senior", why="it is a copy", option_id="yes"))
    assert (entry.state, entry.decided_by, entry.decided_role) == ("approved", "alice", "senior")
    assert (entry.why, entry.option_id, entry.delivered) == ("it is a copy", "yes", None)
    assert entry.decided_at is not None
    assert before <= entry.decided_at <= time.time()


def test_the_second_reviewer_is_told_who_was_first(store: Store, path: Path) -> None:
    """From another process, too."""
    add(store, question())
    other = Store(path)
    store.answer("q-1", rejection(why="not today"))
    with pytest.raises(Refused, match=r"was rejected by bob \(standard\) before, who said: not today"):
        other.answer("q-1", approval())
    other.close()
    assert state_of(store, "q-1") == "rejected"


@pytest.mark.parametrize("wanted", ROLES)
@pytest.mark.parametrize("held", ROLES)
def test_a_role_decides_what_wants_it_or_an_earlier_one(held: Any, wanted: Any, store: Store) -> None:
    """The others are told who may."""
    add(store, question(role=wanted))
    if ROLES.index(held) >= ROLES.index(wanted):
        assert store.answer("q-1", approval(role=held)).state == "approved"
        return
    for answer in (approval(role=held), rejection(role=held)):
        with pytest.raises(Refused, match=f"role {held} may not decide this, only .*{wanted}.* may"):
            store.answer("q-1", answer)
    assert state_of(store, "q-1") == "waiting"


def test_an_expired_request_cannot_be_answered(store: Store) -> None:
    """Nobody has closed it yet; the time alone counts."""
    add(store, question(asked_at=time.time() - 10, timeout_seconds=5))
    with pytest.raises(Refused, match="is expired: nobody answered in time"):
        store.answer("q-1", approval())
    assert state_of(store, "q-1") == "expired"


def test_a_request_that_expires_at_the_last_moment_is_not_approved(path: Path) -> None:
    """Between the look and the answer."""
    times = iter([1000.0, 1000.0, 1000.0, 1006.0])
    store = Store(path, clock=lambda: next(times, 1006.0))
    add(store, question(asked_at=1000.0, timeout_seconds=5))
    store.sweep()
    with pytest.raises(Refused, match="expired"):
        store.answer("q-1", approval())
    store.close()


def test_a_clock_that_is_set_back_does_not_revive_what_has_expired(path: Path) -> None:
    """What left `waiting` does not come back to it."""
    now = [1000.0]
    store = Store(path, clock=lambda: now[0])
    add(store, question(asked_at=1000.0, timeout_seconds=5))
    now[0] = 1006.0
    store.sweep()
    now[0] = 900.0
    with pytest.raises(Refused, match="is expired"):
        store.answer("q-1", approval())
    store.close()


def test_a_run_that_ended_withdraws_its_request(store: Store) -> None:
    """An answer that comes then is refused."""
    add(store, question())
    store.finish("q-1", "withdrawn")
    with pytest.raises(Refused, match="is withdrawn: its run ended before anybody answered"):
        store.answer("q-1", approval())


def test_an_answer_that_came_too_late_stays_and_says_so(store: Store) -> None:
    """The run did not use it; who decided is kept."""
    add(store, question())
    store.answer("q-1", approval())
    store.finish("q-1", "expired")
    assert (state_of(store, "q-1"), store.find("q-1").delivered) == ("approved", False)


def test_an_answer_that_was_taken_is_marked_once(store: Store) -> None:
    """What follows changes nothing."""
    add(store, question())
    store.deliver("q-1")
    assert store.find("q-1").delivered is None
    store.answer("q-1", approval())
    store.deliver("q-1")
    store.finish("q-1", "withdrawn")
    assert (state_of(store, "q-1"), store.find("q-1").delivered) == ("approved", True)


HERE = this_process()
GONE = {
    "no such process": dataclasses.replace(HERE, pid=2**22 + 1),
    "the pid was given again": dataclasses.replace(HERE, started="1"),
    "the machine was started again": dataclasses.replace(HERE, boot="an earlier one"),
}
THERE = {
    "ourselves": HERE,
    "another host": dataclasses.replace(HERE, host="elsewhere", pid=2**22 + 1),
    "another container": dataclasses.replace(HERE, namespace="pid:[1]", pid=2**22 + 1),
}


def owned_by(path: Path, owner: Owner) -> None:
    """As if that process had asked."""
    file = Database(path)
    file.change("UPDATE requests SET owner = ?", owner.to_json())
    file.close()


@pytest.mark.parametrize("owner", GONE.values(), ids=GONE)
def test_a_request_whose_parent_has_gone_is_abandoned_and_cannot_be_approved(
    owner: Owner, store: Store, path: Path
) -> None:
    """At the next opening, by whoever opens it."""
    add(store, question())
    owned_by(path, owner)
    Store(path).close()
    assert (state_of(store, "q-1"), store.find("q-1").why) == ("abandoned", ABANDONED)
    with pytest.raises(Refused, match="is abandoned: its parent has gone"):
        store.answer("q-1", approval())


@pytest.mark.parametrize("owner", GONE.values(), ids=GONE)
def test_a_parent_that_goes_while_the_queue_is_open_is_noticed_before_the_answer(
    owner: Owner, store: Store, path: Path
) -> None:
    """`watch` may be open for days."""
    add(store, question())
    owned_by(path, owner)
    with pytest.raises(Refused, match="its parent has gone"):
        store.answer("q-1", approval())


@pytest.mark.parametrize("owner", THERE.values(), ids=THERE)
def test_a_request_waits_where_its_parent_may_live(owner: Owner, store: Store, path: Path) -> None:
    """What cannot be known is not guessed."""
    add(store, question())
    owned_by(path, owner)
    Store(path).close()
    assert store.answer("q-1", approval()).state == "approved"


def test_nothing_is_deleted(store: Store, path: Path) -> None:
    """Decided, expired, withdrawn: all is listed, the oldest first."""
    for index, name in enumerate(("d", "c", "b", "a")):
        add(store, question(name, asked_at=time.time() - 100 + index))
    store.answer("d", approval())
    store.finish("c", "expired")
    store.finish("b", "withdrawn")
    Store(path).close()
    assert [entry.id for entry in store.waiting()] == ["a"]
    assert [(entry.id, entry.state) for entry in store.everything()] == [
        ("d", "approved"),
        ("c", "expired"),
        ("b", "withdrawn"),
        ("a", "waiting"),
    ]


def test_an_id_can_be_shortened_while_only_one_begins_so(store: Store) -> None:
    """A whole id wins over longer ones; globs and nothing at all are no ids."""
    for name in ("abc", "abcd", "xyz"):
        add(store, question(name))
    assert [store.find(prefix).id for prefix in ("x", "abc", "abcd")] == ["xyz", "abc", "abcd"]
    with pytest.raises(UnknownRequest, match=r"several ids begin with 'ab' \(abc, abcd\)"):
        store.find("ab")
    for nothing in ("", "%", "_yz", "X", "q"):
        with pytest.raises(UnknownRequest, match="no request has the id"):
            store.find(nothing)


def test_an_id_is_used_once(store: Store) -> None:
    """An old answer must not count for a new question."""
    add(store, question())
    store.answer("q-1", approval())
    with pytest.raises(ApprovalQueueError, match="in the queue already"):
        add(store, question())


@pytest.mark.parametrize(
    ("arguments", "said"), [({"x": {1, 2}}, "must be JSON"), ("x" * 9_000_000, "at most 8388608 are kept")]
)
def test_what_cannot_be_kept_is_not_queued(arguments: Any, said: str, store: Store) -> None:
    """No JSON, or more than a person reads."""
    with pytest.raises(ApprovalQueueError, match=said):
        add(store, question(arguments=arguments))
    assert store.everything() == []


@pytest.mark.parametrize(
    ("sealed", "said"),
    [
        ('{"v":2,"doc":{}}', "unsupported_payload_version: it is 2, this program reads 1"),
        ('{"v":true,"doc":{}}', "malformed_envelope"),
        ('{"v":1}', "malformed_envelope"),
        ("[]", "malformed_envelope"),
        ("{", "malformed_envelope"),
        ('{"v":1,"doc":[]}', "malformed_envelope: it holds no request"),
        ('{"v":1,"doc":{"id":"q-1"}}', "malformed_envelope: it holds no request"),
    ],
)
def test_a_row_that_cannot_be_read_is_not_decided(sealed: str, said: str, store: Store, path: Path) -> None:
    """Nobody knows what would be approved."""
    add(store, question())
    file = Database(path)
    file.change("UPDATE requests SET request = ?", sealed)
    file.close()
    with pytest.raises(Unreadable, match=said):
        store.answer("q-1", approval())
    assert state_of(store, "q-1") == "waiting"


def test_fields_of_a_later_version_are_passed_over(store: Store, path: Path) -> None:
    """As long as the envelope's version is the same."""
    add(store, question())
    file = Database(path)
    file.change("UPDATE requests SET request = json_set(request, '$.doc.mood', 'good')")
    file.close()
    assert isinstance(store.find("q-1").request, ApprovalRequest)


def test_a_request_without_an_end_waits(store: Store) -> None:
    """Infinity is a time as well."""
    add(store, question(timeout_seconds=math.inf))
    store.sweep()
    assert state_of(store, "q-1") == "waiting"
