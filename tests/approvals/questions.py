"""Requests and queues for the tests of approvals, and programs that ask or answer in processes of their own."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from acp_client.approvals.judgement import Answer
from acp_client.approvals.store import Entry, Store
from acp_client.policy.approval import ApprovalRequest, OfferedOption
from tests.cli.command import REPO, WAIT_SECONDS, argv, environment

POLL_SECONDS = 0.01
"""Between two looks at what another process does."""

YES = OfferedOption("yes", "Yes", "allow_once")
ALWAYS = OfferedOption("always", "Always", "allow_always")
NO = OfferedOption("no", "No", "reject_once")


def question(request_id: str = "q-1", **fields: Any) -> ApprovalRequest:
    """A request for a tool call."""
    given: dict[str, Any] = {
        "subject": "tool",
        "agent": "digger",
        "run_id": "run-1",
        "session_id": "s-1",
        "tool": "shell",
        "kind": "execute",
        "title": "rm -rf build",
        **fields,
    }
    return ApprovalRequest(id=request_id, **given)


def approval(**fields: Any) -> Answer:
    """Alice says yes."""
    return Answer(**{"action": "allow", "by": "alice", **fields})


def rejection(**fields: Any) -> Answer:
    """Bob says no."""
    return Answer(**{"action": "reject", "by": "bob", **fields})


def add(store: Store, request: ApprovalRequest) -> str:
    """Queue it, for as long as it says; its id."""
    store.add(request, request.asked_at + request.timeout_seconds)
    return request.id


def state_of(store: Store, request_id: str) -> str:
    """Its state now."""
    return store.find(request_id).state


async def until_waiting(store: Store, number: int) -> list[Entry]:
    """Those that wait, as soon as there are so many."""
    with anyio.fail_after(WAIT_SECONDS):
        while len(found := store.waiting()) < number:  # noqa: ASYNC110  # another process brings them
            await anyio.sleep(POLL_SECONDS)
    return found


async def until_state(store: Store, request_id: str, state: str) -> None:
    """Look at a request until it is so."""
    with anyio.fail_after(WAIT_SECONDS):
        while state_of(store, request_id) != state:  # noqa: ASYNC110  # likewise
            await anyio.sleep(POLL_SECONDS)


def until(happened: Callable[[], object]) -> None:
    """Look at another process until it has come so far."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not happened():
        assert time.monotonic() < deadline, "it has not happened"
        time.sleep(POLL_SECONDS)


def approvals(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`subagent approvals` to its end, in a process of its own."""
    line = argv("approvals", "--db", path, *words)
    return subprocess.run(line, check=False, env=environment(), capture_output=True, text=True, timeout=WAIT_SECONDS)


def begin(*line: str, **options: Any) -> subprocess.Popen[bytes]:
    """A process that goes on; stdout is read by the test."""
    return subprocess.Popen(line, env=environment(), cwd=REPO, **{"stdout": subprocess.PIPE, **options})


def begin_parent(*words: str | Path) -> subprocess.Popen[bytes]:
    """`tests/approvals/parent.py` with these words."""
    return begin(sys.executable, "-m", "tests.approvals.parent", *map(str, words))
