"""One process from its start to the last trace of it: exit, ladder, sweep, and what is given back."""

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest

from acp_client.process.child import AgentProcess, ladder
from acp_client.process.guardian import GUARDIAN
from acp_client.process.spawn import Spawned, launch
from acp_client.process.table import ProcessTable, Tree
from tests.support.kernel import is_alive, nothing_left, run_parent, zombies
from tests.support.tiny import tiny

QUICK = ladder(5.0, 5.0, 5.0)
"""Nobody here is deaf: a grace that passed in full would show as the next rung."""
SHORT = ladder(0.2, 0.2, 5.0)
READY = "echo up;"


class NoTable(ProcessTable):
    """A system without a process table to look into."""

    async def survivors(self, tree: Tree) -> None:
        """Nobody can say."""


def start(script: str) -> Spawned:
    """A shell script, with its stdin open."""
    environment = {"PATH": os.environ["PATH"]}
    return launch(("sh", "-c", script), cwd="/", env=environment, run_id="r")


def without_pidfd(spawned: Spawned) -> Spawned:
    """As on a platform that has none."""
    assert spawned.pidfd is not None
    os.close(spawned.pidfd)
    return replace(spawned, pidfd=None)


def as_it_is(spawned: Spawned) -> Spawned:
    """With its pidfd."""
    return spawned


@asynccontextmanager
async def watched(spawned: Spawned, table: ProcessTable | None = None) -> AsyncIterator[AgentProcess]:
    """A process that is watched and drained while the block runs; released after it, and nothing is left."""
    with anyio.fail_after(15):
        process = AgentProcess(spawned, table or ProcessTable())
        async with anyio.create_task_group() as tasks:
            process.watch(tasks.start_soon)
            process.drain_stderr(lambda _data: None, tasks.start_soon)
            yield process
            process.release()
            tasks.cancel_scope.cancel()


async def stop(process: AgentProcess, rungs: object = QUICK) -> None:
    """Close stdin and climb."""
    process.transport.close_send()
    await process.stop(rungs)  # type: ignore[arg-type]  # a ladder


PIDFDS = [as_it_is, without_pidfd]


@pytest.mark.parametrize("prepare", PIDFDS)
@pytest.mark.parametrize(
    ("script", "exit_code", "number", "killed"),
    [
        ("exit 0", 0, None, None),
        ("exit 7", 7, None, None),
        ("kill -9 $$", None, signal.SIGKILL, None),
        ("read -r _", 1, None, None),
        ("exec sleep 600", None, signal.SIGTERM, "term"),
        ("trap '' TERM; sleep 600 & wait", None, signal.SIGKILL, "kill"),
        ("trap 'exit 3' TERM; sleep 600 & wait", 3, None, "term"),
    ],
)
async def test_an_exit_is_noticed_and_its_status_and_rung_are_told(
    script: str,
    exit_code: int | None,
    number: int | None,
    killed: str | None,
    prepare: Callable[[Spawned], Spawned],
) -> None:
    """By its pidfd, or by a thread that waits; the status is read without reaping."""
    with nothing_left():
        rungs = QUICK if script.startswith(("exit", "kill", "read")) else SHORT
        async with watched(prepare(start(script))) as process:
            assert repr(process) == f"<AgentProcess {process.pid} running>"
            await stop(process, rungs)
            assert repr(process) == f"<AgentProcess {process.pid} exited>"
            assert (process.exit_code, process.signal, process.killed) == (exit_code, number, killed)
        assert repr(process) == f"<AgentProcess {process.pid} reaped>"


async def test_the_leader_stays_unreaped_until_its_group_is_swept() -> None:
    """So its id, which is the group's, can be given to nobody else meanwhile."""
    with nothing_left():
        async with watched(start("sleep 600 & exit 0")) as process:
            await process.exited.wait()
            assert process.pid in zombies()
            assert process.signal_group(0)
            await stop(process)
            assert process.pid in zombies()
            assert process.killed == "term"
        assert not process.signal_group(0)


async def test_what_was_in_the_pipes_at_the_exit_can_be_read_until_the_release() -> None:
    """Also while a helper holds them: then there is an end, though no EOF."""
    with nothing_left():
        async with watched(start("echo first; echo last >&2; setsid sleep 600 & exit 0")) as process:
            await process.exited.wait()
            assert await process.transport.receive() == b"first\n"
            assert await process.transport.receive() == b""
            await process.stderr_ended.wait()
            await stop(process)


async def test_a_release_without_a_stop_kills_and_is_idempotent() -> None:
    """The last resort, without any wait: the guardian keeps the group in mind, the next release reaps it."""
    first = start("trap '' TERM; sleep 600 & wait")
    assert first.pidfd is not None
    gone = os.dup(first.pidfd)
    with anyio.fail_after(15):
        process = AgentProcess(first, ProcessTable())
        process.release()
        process.release()
        assert process.killed == "kill"
        await anyio.wait_readable(gone)
        anyio.notify_closing(gone)
        os.close(gone)
        async with watched(start("exit 0")) as other:
            await stop(other)
    assert not is_alive(first.pid)
    assert zombies() == []
    GUARDIAN.forget(first.pid)


@pytest.mark.parametrize("prepare", PIDFDS)
async def test_an_end_needs_nobody_who_watches(prepare: Callable[[Spawned], Spawned]) -> None:
    """After a fault of ours all tasks are gone: it watches itself, gives no grace, and leaves nothing."""
    script = f"trap '' TERM; sleep 600 & setsid sleep 600 & {READY} wait"
    with nothing_left(), anyio.fail_after(15):
        process = AgentProcess(prepare(start(script)), ProcessTable())
        assert await process.transport.receive() == b"up\n"
        await process.end(5.0)
        assert (process.released, process.killed, process.signal) == (True, "kill", signal.SIGKILL)


@pytest.mark.parametrize(
    ("script", "killed", "seconds"),
    [("exit 0", "kill", 0.1), ("sleep 600 & exit 0", "kill", 0.1), ("trap '' TERM; sleep 600 & wait", "kill", 0.1)],
)
async def test_without_a_process_table_the_group_is_ended_blindly(script: str, killed: str, seconds: float) -> None:
    """The zombie of the leader keeps the group there on this system, so every rung is taken: none is left out."""
    with nothing_left():
        async with watched(start(script), NoTable()) as process:
            await stop(process, ladder(seconds, seconds, 5.0))
            assert process.killed == killed


@pytest.mark.row("TREE-2")
@pytest.mark.parametrize("copies", [1, 40])
async def test_helpers_that_left_the_group_are_ended_however_many(copies: int) -> None:
    """Each is signalled through a descriptor that keeps its identity; those descriptors are closed again."""
    helper = "setsid sh -c 'trap \"\" TERM; echo up; sleep 600 & wait' &"
    with nothing_left():
        async with watched(start(f"for i in $(seq {copies}); do {helper} done; read -r _")) as process:
            ready = b""
            while ready != b"up\n" * copies:
                ready += await process.transport.receive()
            await stop(process, ladder(5.0, 0.2, 5.0))
            assert process.killed == "kill"


@pytest.mark.row("TREE-2")
async def test_a_helper_that_forks_while_it_is_ended_does_not_get_away() -> None:
    """Its children are looked for again, until a look finds nobody."""
    chain = "import os, time\nos.setsid()\nwhile True:\n    time.sleep(0.001)\n    if os.fork(): os._exit(0)\n"
    with nothing_left():
        async with watched(start(f"python3 -c '{chain}' & read -r _")) as process:
            await stop(process, ladder(5.0, 0.2, 5.0))
            assert process.killed in ("term", "kill")


UNKNOWN = """
import os, signal, sys, threading
import anyio
from acp_client import AgentSpec, Runner, run_subagent
from acp_client.process.guardian import GUARDIAN
from tests.support.kernel import descriptors, marked, zombies
from tests.support.tiny import tiny

ready = threading.Event()
def reap_everything():
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            ready.wait(0.001)

if sys.argv[2] == "ignores SIGCHLD":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
else:
    threading.Thread(target=reap_everything, daemon=True).start()

async def main():
    await run_subagent(tiny(), "go")
    before = descriptors()
    async with Runner() as runner:
        jobs = [(tiny("sleep 600 & setsid sleep 600 &"), "go"), (AgentSpec(command=("false",)), "go"),
                (AgentSpec(command=("/nonexistent",)), "go"), (tiny("trap '' TERM; (trap '' TERM; sleep 600) &"), "go")]
        results = {}
        async for job, result in runner.run_many(jobs * 5):
            results.setdefault(jobs.index(job), set()).add((result.reason, result.text))
    assert results == {0: {("end_turn", "tiny")}, 1: {("agent_exited", "")}, 2: {("spawn_failed", "")},
                       3: {("end_turn", "tiny")}}, results
    assert marked(GUARDIAN.token) == {}
    assert descriptors() == before
    assert zombies() == []

anyio.run(main, backend=sys.argv[1])
"""


@pytest.mark.row("TREE-7")
@pytest.mark.parametrize("how", ["ignores SIGCHLD", "waits for every child"])
async def test_a_parent_that_takes_our_exit_statuses_still_gets_results(how: str, anyio_backend: str) -> None:
    """The status is unknown then; the end is not, and nothing is left."""
    with anyio.fail_after(40):
        await run_parent(UNKNOWN, anyio_backend, how)


async def test_a_released_process_is_not_signalled_any_more() -> None:
    """Its id may be somebody else's."""
    with nothing_left():
        async with watched(start(tiny().command[2])) as process:
            await stop(process)
        assert not process.signal_group(signal.SIGKILL)
