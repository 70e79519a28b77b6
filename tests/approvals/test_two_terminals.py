"""A run in one terminal, a store in another, and either of them killed: real processes, one file."""

import contextlib
import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from acp_client import ApprovalQueue, Limits, Runner, RunResult, run_subagent
from acp_client.approvals.errors import ApprovalQueueError
from acp_client.approvals.store import Store
from tests.approvals.questions import (
    add,
    approval,
    approvals,
    begin,
    begin_parent,
    question,
    rejection,
    state_of,
    until,
    until_waiting,
)
from tests.cli.command import WAIT_SECONDS, argv, playing_file
from tests.support.scenarios import QUICK, Scripted

ASK: dict[str, Any] = {
    "permission": {
        "tool_call": {"toolCallId": "call-1", "title": "Dig", "kind": "execute", "rawInput": {"depth": 3}},
        "on": {"allowed": [{"chunk": "dug"}], "rejected": [{"chunk": "left it"}], "cancelled": [{"chunk": "stopped"}]},
    }
}


@pytest.fixture
def processes() -> Iterator[contextlib.ExitStack]:
    """Whatever is entered is killed at the end."""
    with contextlib.ExitStack() as stack:
        yield stack


def begin_run(path: Path, folder: Path, name: str = "ask.json") -> subprocess.Popen[bytes]:
    """`subagent run` in another terminal: its agent asks, and says what it was told."""
    (folder / name).write_text(json.dumps({"prompt": [ASK]}))
    options = ("--permission", "ask", "--approvals", path, "--format", "json")
    return begin(*argv("run", "--agent", playing_file(folder / name), *options, "go"), stderr=subprocess.DEVNULL)


def kept(stack: contextlib.ExitStack, process: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """The process, ended with the test."""
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def printed(process: subprocess.Popen[bytes]) -> Any:
    """What it printed, once it has ended."""
    out, _ = process.communicate(timeout=WAIT_SECONDS)
    return json.loads(out)


def told(run: subprocess.Popen[bytes]) -> list[Any]:
    """Of a run's result: how it ended, what the agent said it was told, who decided."""
    result = printed(run)
    return [result["reason"], result["text"], *(record["decided_by"] for record in result["permissions"])]


def patient(folder: Path, path: Path, **limits: Any) -> Scripted:
    """A child that asks the queue, with these limits."""
    folder.mkdir()
    given = Limits(**{**QUICK, **limits})
    return Scripted(folder, {"prompt": [ASK]}, permission="ask", approver=ApprovalQueue(path), limits=given)


async def test_a_run_goes_on_when_another_terminal_approves_and_its_idle_clock_rests(
    path: Path, tmp_path: Path, store: Store
) -> None:
    """A run with the same limits, whose agent is silent by itself, has been ended meanwhile."""
    limits: dict[str, Any] = {**QUICK, "idle_timeout_seconds": 2.0}
    asking, silent = patient(tmp_path / "asking", path, **limits), tmp_path / "silent"
    silent.mkdir()
    control = Scripted(silent, {"prompt": [{"hang": True}]}, limits=Limits(**limits))
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner() as runner:
            run = await runner.start(asking.spec, "go")
            (entry,) = await until_waiting(store, 1)
            assert (await run_subagent(control.spec, "go")).reason == "idle_timeout"
            assert state_of(store, entry.id) == "waiting"
            done = await anyio.to_thread.run_sync(approvals, path, "approve", entry.id[:6], "--by", "alice")
            result = await run.result()
    assert (done.returncode, done.stdout) == (0, f"approved  {entry.id} by alice (standard)\n")
    assert (result.reason, result.text) == ("end_turn", "dug")
    assert [(record.decided_by, record.action) for record in result.permissions] == [("alice", "allow")]


async def test_a_run_is_told_when_another_terminal_rejects(path: Path, tmp_path: Path, store: Store) -> None:
    """With the reason; and what was asked could be seen from there."""
    results: list[RunResult] = []

    async def run() -> None:
        results.append(await run_subagent(patient(tmp_path / "asking", path).spec, "go"))

    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            (entry,) = await until_waiting(store, 1)
            shown = await anyio.to_thread.run_sync(approvals, path, "show", entry.id)
            await anyio.to_thread.run_sync(approvals, path, "reject", entry.id, "--why", "too deep")
    (result,) = results
    assert [word for word in ("Dig", "execute", '"depth": 3', "allow_once") if word not in shown.stdout] == []
    assert (result.reason, result.text) == ("end_turn", "left it")
    assert [(record.action, record.why) for record in result.permissions] == [("reject", "too deep")]


async def test_a_request_that_expired_cannot_be_approved_afterwards(path: Path, tmp_path: Path, store: Store) -> None:
    """The run has ended as a timeout, not as a rejection."""
    asking = patient(tmp_path / "asking", path)
    spec = asking.spec.model_copy(update={"approver": ApprovalQueue(path, max_timeout_seconds=0.3)})
    with anyio.fail_after(WAIT_SECONDS):
        result = await run_subagent(spec, "go")
    assert result.reason == "approval_timeout"
    (entry,) = store.everything()
    assert entry.state == "expired"
    done = approvals(path, "approve", entry.id)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is expired: nobody answered in time" in done.stderr


def test_a_store_killed_before_the_answer_is_written_has_decided_nothing(
    path: Path, store: Store, processes: contextlib.ExitStack
) -> None:
    """The file is held by the test, so that the answer cannot be there yet; the next store decides."""
    add(store, question())
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    killed = kept(processes, begin(*argv("approvals", "--db", path, "approve", "q-1")))
    until(lambda: has_open(killed.pid, path))
    killed.kill()
    assert killed.wait(WAIT_SECONDS) == -signal.SIGKILL
    holder.execute("ROLLBACK")
    holder.close()
    assert state_of(store, "q-1") == "waiting"
    assert approvals(path, "reject", "q-1").returncode == 0
    assert state_of(store, "q-1") == "rejected"


def has_open(pid: int, path: Path) -> bool:
    """True once the process has the file open."""
    with contextlib.suppress(OSError):
        return any(link.resolve() == path for link in Path(f"/proc/{pid}/fd").iterdir())
    return False


def test_a_store_killed_after_the_answer_is_written_has_decided(
    path: Path, tmp_path: Path, store: Store, processes: contextlib.ExitStack
) -> None:
    """It cannot say so, since nobody reads its stdout; the run goes on, and the next store is too late."""
    parent = kept(processes, begin_run(path, tmp_path))
    until(store.waiting)
    (entry,) = store.waiting()
    with full_pipe() as full:
        killed = kept(processes, begin(*argv("approvals", "--db", path, "approve", entry.id), stdout=full))
        until(lambda: state_of(store, entry.id) == "approved")
        killed.kill()
        assert killed.wait(WAIT_SECONDS) == -signal.SIGKILL
    late = approvals(path, "reject", entry.id)
    assert late.returncode == 1
    assert "was approved by" in late.stderr
    assert told(parent)[:2] == ["end_turn", "dug"]


@contextlib.contextmanager
def full_pipe() -> Iterator[int]:
    """A pipe that takes nothing more: whoever writes to it stands still."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    yield writing
    os.close(reading)
    os.close(writing)


def test_a_parent_that_was_killed_leaves_nothing_to_approve_and_its_successor_asks_anew(
    path: Path, tmp_path: Path, store: Store, processes: contextlib.ExitStack
) -> None:
    """The old request is closed by whoever comes first, and kept."""
    killed = kept(processes, begin_run(path, tmp_path))
    until(store.waiting)
    (old,) = store.waiting()
    killed.kill()
    killed.wait(WAIT_SECONDS)
    refused = approvals(path, "approve", old.id)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "is abandoned: its parent has gone" in refused.stderr
    restarted = kept(processes, begin_run(path, tmp_path))
    until(store.waiting)
    (new,) = store.waiting()
    assert approvals(path, "approve", new.id, "--by", "alice").returncode == 0
    assert told(restarted) == ["end_turn", "dug", "alice"]
    assert [(entry.id, entry.state) for entry in store.everything()] == [
        (old.id, "abandoned"),
        (new.id, "approved"),
    ]


def test_an_answer_that_a_killed_parent_never_saw_is_not_given_to_its_successor(
    path: Path, tmp_path: Path, store: Store, processes: contextlib.ExitStack
) -> None:
    """It was for the run that has gone; the same question is asked again."""
    stopped = kept(processes, begin_run(path, tmp_path))
    until(store.waiting)
    (old,) = store.waiting()
    stopped.send_signal(signal.SIGSTOP)
    assert approvals(path, "approve", old.id).returncode == 0
    stopped.kill()
    stopped.wait(WAIT_SECONDS)
    restarted = kept(processes, begin_run(path, tmp_path))
    until(store.waiting)
    (new,) = store.waiting()
    assert approvals(path, "reject", new.id, "--why", "no").returncode == 0
    assert told(restarted)[:2] == ["end_turn", "left it"]
    old = store.find(old.id)
    assert (old.state, old.delivered) == ("approved", None)


def test_two_parents_at_once_get_each_their_own_answer(
    path: Path, tmp_path: Path, store: Store, processes: contextlib.ExitStack
) -> None:
    """One is allowed, the other not."""
    parents = [kept(processes, begin_run(path, tmp_path, f"{name}.json")) for name in "ab"]
    until(lambda: len(store.waiting()) == 2)
    by_pid = {entry.owner.pid: entry.id for entry in store.waiting() if entry.owner}
    assert approvals(path, "reject", by_pid[parents[1].pid], "--by", "bob").returncode == 0
    assert approvals(path, "approve", by_pid[parents[0].pid], "--by", "alice").returncode == 0
    assert told(parents[0])[:3] == ["end_turn", "dug", "alice"]
    assert told(parents[1])[:3] == ["end_turn", "left it", "bob"]


def test_fifty_requests_of_two_processes_get_each_their_own_answer(
    path: Path, store: Store, processes: contextlib.ExitStack
) -> None:
    """Two stores at once, who both try to decide everything: each is decided once, and nobody sees a busy file."""
    parents = {name: kept(processes, begin_parent(path, name, "25")) for name in "ab"}
    until(lambda: len(store.waiting()) == 50)
    ids = [entry.id for entry in store.waiting()]
    said: list[str] = []
    threads = [
        threading.Thread(target=decide_all, args=(path, ids, approval(), said)),
        threading.Thread(target=decide_all, args=(path, ids[::-1], rejection(), said)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_SECONDS)
    answers = {name: answer for parent in parents.values() for name, answer in printed(parent).items()}
    decided = {entry.id: [ACTIONS[entry.state], entry.decided_by] for entry in store.everything()}
    assert (answers, len(answers)) == (decided, 50)
    assert [entry.delivered for entry in store.everything()] == [True] * 50
    assert len(said) == 50
    assert [one for one in said if "the first answer holds" not in one] == []


ACTIONS = {"approved": "allow", "rejected": "reject"}


def decide_all(path: Path, ids: list[str], answer: Any, said: list[str]) -> None:
    """One store; what was refused is kept."""
    store = Store(path)
    for request_id in ids:
        try:
            store.answer(request_id, answer)
        except ApprovalQueueError as error:
            said.append(str(error))
    store.close()
