"""Who of a run is still alive: pure candidates, and one look for all who wait for it."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from acp_client import Limits, run_subagent
from acp_client.process import table
from acp_client.process.spawn import MARKER_VARIABLE
from acp_client.process.table import (
    COUNTED_PIDS,
    INLINE_CANDIDATES,
    YOUNG_SECONDS,
    ProcessTable,
    Standing,
    Tree,
    candidates,
    few_since,
    find,
)
from tests.support.kernel import HEADLESS, is_alive, nothing_left
from tests.support.tiny import tiny

HERE = f"table-test-{os.getpid()}"
"""Begins the markers of these tests: another process may run the same ones now."""
NOW = 1000.0
YOUNG, OLD = NOW - YOUNG_SECONDS / 2, NOW - YOUNG_SECONDS * 2


def test_few_pids_are_counted_and_not_listed() -> None:
    """None where none was given; a list is needed where they are many, old, or have gone round."""
    tree = Tree(100, "m", born=10.0)
    assert few_since([tree], 100, 11.0, ()) == []
    assert few_since([tree, Tree(102, "n", born=11.0)], 103, 11.0, ()) == [101, 102, 103]
    assert few_since([tree], 100 + INLINE_CANDIDATES, 11.0, ()) == [*range(101, 101 + INLINE_CANDIDATES)]
    assert few_since([tree], 101 + INLINE_CANDIDATES, 11.0, ()) is None
    assert few_since([tree], 99, 11.0, ()) is None
    assert few_since([tree], 103, 10.0 + YOUNG_SECONDS + 0.1, ()) is None


def test_those_that_are_known_are_not_counted() -> None:
    """Hundreds of leaders beside one are no reason to list all processes; unless their numbers go too far."""
    tree = Tree(100, "m", born=10.0)
    known = {*range(101, 900)} - {500}
    assert few_since([tree], 901, 11.0, known) == [500, 900, 901]
    assert few_since([tree], 101 + COUNTED_PIDS, 11.0, {*range(101, 200_000)}) is None


async def test_a_leader_that_was_reaped_is_not_looked_at_for_as_long_as_its_number_is_nobody_elses() -> None:
    """Later it is: the number may have been given again."""
    looked: list[int] = []

    def look(pid: int) -> Standing:
        looked.append(pid)
        return Standing(0, alive=False, headless=False)

    ours = ProcessTable()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "_newest_pid", lambda: 102)
        patch.setattr(table, "session_of", look)
        ours.add(101)
        ours.drop(101)
        assert await ours.survivors(Tree(100, "m")) == []
        assert looked == [102]
        ours._gone[101] -= YOUNG_SECONDS + 1
        assert await ours.survivors(Tree(100, "m")) == []
        assert looked == [102, 101, 102]


@pytest.mark.parametrize(
    ("trees", "newest", "expected"),
    [
        ([Tree(50, "m", YOUNG)], 70, [60, 70]),
        ([Tree(50, "m", OLD)], 70, [10, 40, 60, 70]),
        ([Tree(50, "m", YOUNG), Tree(20, "n", YOUNG)], 70, [40, 60, 70]),
        ([Tree(50, "m", YOUNG), Tree(20, "n", OLD)], 70, [10, 40, 60, 70]),
        ([Tree(65, "m", YOUNG)], 10, [10, 70]),
        ([Tree(65, "m", YOUNG)], 40, [10, 40, 70]),
        ([Tree(65, "m", YOUNG), Tree(20, "n", NOW)], 40, [10, 40, 70]),
        ([Tree(20, "n", NOW), Tree(60, "m", YOUNG), Tree(65, "o", NOW)], 20, [10, 70]),
        ([Tree(65, "m", YOUNG), Tree(20, "n", OLD)], 40, [10, 40, 60, 70]),
        ([Tree(70, "m", YOUNG)], 70, []),
        ([Tree(50, "m", NOW)], 50, [60, 70]),
    ],
    ids=[
        "young",
        "old",
        "two young",
        "one old",
        "gone round",
        "gone round further",
        "gone round between two",
        "gone round to the newest",
        "gone round and one old",
        "the newest",
        "just born",
    ],
)
def test_only_pids_given_after_the_oldest_leader_are_candidates(
    trees: list[Tree], newest: int, expected: list[int]
) -> None:
    """Unless a leader is so old that pids may have gone round; other leaders are passed over."""
    pids = [10, 30, 40, 60, 70]
    assert candidates(pids, newest, trees, {30, *(tree.pgid for tree in trees)} - {70}, NOW) == expected


@pytest.mark.row("TREE-2")
async def test_an_escaped_helper_whose_first_thread_has_ended_is_ended(tmp_path: Path) -> None:
    """It looks like a zombie, without any environment, and the marker is in that of its other thread."""
    told = tmp_path / "told"
    helper = shlex.join((sys.executable, "-c", HEADLESS))
    script = f"mkfifo {told}.pipe; {helper} > {told}.pipe & read -r line < {told}.pipe; echo $line > {told};"
    with nothing_left(), anyio.fail_after(20):
        result = await run_subagent(tiny(script, limits=Limits(term_grace_seconds=10.0)), "go")
    pid = int(told.read_text())
    escaped = is_alive(pid)
    if escaped:
        os.kill(pid, signal.SIGKILL)
    assert (result.text, result.flags.killed, escaped) == ("tiny", "term", False)


@contextmanager
def sleeper(*, marker: str = "", session: bool = True) -> Iterator[int]:
    """A process that sleeps, with a marker; ended after the block."""
    process = subprocess.Popen(["sleep", "600"], env={MARKER_VARIABLE: marker}, start_new_session=session)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def found_by(trees: list[Tree], pids: list[int], *leaders: int) -> dict[int, list[int]]:
    """What is found, all execs being over."""
    found: dict[int, list[int]] = {}
    while pids:
        pids = find(trees, pids, leaders, found)
    return found


def test_a_process_belongs_to_the_tree_of_its_session_else_of_its_marker() -> None:
    """Zombies, other living leaders and strangers to none."""
    with (
        sleeper() as ours,
        sleeper(marker=f"outer:{HERE}-run1") as escaped,
        sleeper(marker=f"{HERE}-run2") as other,
        sleeper(marker=f"{HERE}-run1") as zombie,
    ):
        os.kill(zombie, signal.SIGKILL)
        os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT)
        pids = [ours, escaped, other, zombie, os.getpid(), 2**22 + 1]
        tree = Tree(ours, f"{HERE}-run1")
        assert found_by([tree], pids) == {ours: [ours, escaped]}
        assert found_by([tree], pids, escaped) == {ours: [ours]}
        assert found_by([tree, Tree(2, f"{HERE}-run2")], pids) == {ours: [ours, escaped], 2: [other]}


async def test_one_look_serves_all_who_ask_before_it_begins() -> None:
    """Each gets its own survivors."""
    found: dict[str, list[int] | None] = {}
    with anyio.fail_after(10), ExitStack() as sleepers:
        table = ProcessTable()
        expected = {name: [sleepers.enter_context(sleeper(marker=f"{HERE}-{name}"))] for name in "abc"}

        async def ask(number: int, name: str) -> None:
            found[name] = await table.survivors(Tree(-number, f"{HERE}-{name}", 0))

        async with anyio.create_task_group() as tasks:
            for number, name in enumerate("abcd", 1):
                tasks.start_soon(ask, number, name)
    assert found == {**expected, "d": []}


@pytest.mark.parametrize("turns", range(6))
async def test_a_look_that_is_given_up_leaves_nobody_waiting(turns: int) -> None:
    """Whoever was to perform it is cancelled, at any moment: the others begin another."""
    found: list[list[int] | None] = []
    with anyio.fail_after(10), sleeper(marker=f"{HERE}-a") as pid:
        table = ProcessTable()

        async def ask() -> None:
            found.append(await table.survivors(Tree(-1, f"{HERE}-a", 0)))

        async def ask_and_give_up(scope: anyio.CancelScope) -> None:
            with scope:
                await table.survivors(Tree(-2, f"{HERE}-b", 0))

        async with anyio.create_task_group() as tasks:
            scopes = [anyio.CancelScope() for _ in range(3)]
            for scope in scopes:
                tasks.start_soon(ask_and_give_up, scope)
            await anyio.lowlevel.checkpoint()
            tasks.start_soon(ask)
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            for scope in scopes:
                scope.cancel()
    assert found == [[pid]]


async def test_a_crowd_is_looked_at_in_a_thread_and_not_all_the_time() -> None:
    """The loop is not held; a second look begins only after a rest."""
    with anyio.fail_after(30), ExitStack() as sleepers:
        pids = {sleepers.enter_context(sleeper(marker=f"{HERE}-a")) for _ in range(INLINE_CANDIDATES + 1)}
        table = ProcessTable()
        for _ in range(2):
            found = await table.survivors(Tree(-1, f"{HERE}-a", 0))
            assert found is not None
            assert set(found) == pids


@pytest.mark.parametrize("execs", [1, 2])
def test_a_process_whose_exec_ends_between_two_looks_at_it_is_found(
    execs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its environment was not there when it was read, and was when it was asked whether it is in an exec."""
    reads: list[str] = []
    read = table._read

    def late(path: str) -> bytes:
        if path.endswith("/environ"):
            reads.append(path)
            if len(reads) <= execs:
                return b""
        return read(path)

    with subprocess.Popen(["sleep", "600"], env={MARKER_VARIABLE: f"{HERE}-one"}) as process:
        try:
            while not read(f"/proc/{process.pid}/environ"):
                time.sleep(0.001)  # its own exec is over
            monkeypatch.setattr(table, "_read", late)
            found: dict[int, list[int]] = {}
            assert find([Tree(2**22 + 1, f"{HERE}-one")], [process.pid], (), found) == []
            assert found == {2**22 + 1: [process.pid]}
        finally:
            process.kill()
