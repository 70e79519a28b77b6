"""When the parent goes, however it goes, nothing of its runs is left two seconds later."""

import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.abc
import anyio.lowlevel
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from acp_client.process.guardian import Guardian
from tests.support.kernel import REPO, is_alive, marked

PROMISED_SECONDS = 2.0
"""From the end of the parent to that of the last process of its runs."""
SLOW_MACHINE_SECONDS = 1.5
"""Added in a test: what a busy machine may take to schedule all of those that are killed."""

PARENT = """
import asyncio, os, signal, sys, time
import anyio
from acp_client import Limits, Runner, run_subagent_sync
from acp_client.process.guardian import GUARDIAN
from tests.support.tiny import tiny

COUNT = int(sys.argv[1])
HOW = sys.argv[2]
LIMITS = Limits(cancel_grace_seconds=0.2, eof_grace_seconds=0.2, term_grace_seconds=0.2)
DEAF = "trap '' TERM; " if HOW in ("deaf", "ctrl-c three times") else ""
impatient = []
TREE = DEAF + "sleep 600 & setsid sleep 600 & echo up >&2; sleep 600;"

def forked():
    if pid := os.fork():
        return pid
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    while True:
        signal.pause()

async def up(run):
    async for event in run.events():
        if event.type == "stderr":
            return

async def start(runner, count):
    runs = [await runner.start(tiny(TREE, limits=LIMITS), "go") for _ in range(count)]
    for run in runs:
        await up(run)
    return runs

async def third_ctrl_c():
    try:
        await asyncio.get_running_loop().create_future()
    finally:  # the second one has ended the loop, which cancels all tasks
        os.kill(os.getpid(), signal.SIGINT)

def say(*words):
    print(*words, flush=True)

async def main():
    async with Runner(max_concurrency=100) as runner:
        await start(runner, COUNT)
        if HOW == "fork":
            say(GUARDIAN.token, forked())
        elif HOW == "multiprocessing":
            import multiprocessing
            process = multiprocessing.get_context("fork").Process(target=signal.pause)
            process.start()
            say(GUARDIAN.token, process.pid)
        else:
            say(GUARDIAN.token)
        if HOW == "exception":
            raise LookupError("a bug of the program's")
        if HOW == "sys.exit":
            sys.exit(3)
        if HOW == "os._exit":
            os._exit(0)
        if HOW == "abort":
            os.abort()
        if HOW == "ctrl-c three times":
            loop = asyncio.get_running_loop()
            impatient.append(loop.create_task(third_ctrl_c()))
            loop.call_later(0.05, os.kill, os.getpid(), signal.SIGINT)  # the clean-up of deaf agents takes longer
            os.kill(os.getpid(), signal.SIGINT)
        if HOW == "second guardian":
            await anyio.to_thread.run_sync(sys.stdin.readline)  # the first one is dead by now
            await start(runner, 1)
            say("again")
        await anyio.sleep_forever()

anyio.run(main, backend=sys.argv[3])
"""


class Parent:
    """A program that runs agents, all of which are up."""

    def __init__(self, process: anyio.abc.Process, token: str, forked: int | None) -> None:
        self.process = process
        self.token = token
        self.forked = forked

    async def guardian(self) -> int:
        """Its guardian, once that has started: then it is nobody's child here, and deaf to SIGTERM."""
        while True:
            for pid in guardians(self.token):
                status = status_of(pid)
                deaf = int(status["SigIgn"], 16) & 1 << (signal.SIGTERM - 1)
                if deaf and int(status["PPid"]) != self.process.pid:
                    return pid
            await anyio.lowlevel.checkpoint()

    async def left(self) -> list[int]:
        """Those of its processes that are still there when the promised time has passed after its end."""
        before = marked(self.token)
        await self.process.wait()
        with anyio.move_on_after(PROMISED_SECONDS + SLOW_MACHINE_SECONDS):
            for pid in before:
                with suppress(ProcessLookupError):
                    pidfd = os.pidfd_open(pid)
                    try:
                        await anyio.wait_readable(pidfd)
                    finally:
                        os.close(pidfd)
        return [pid for pid in {*before, *marked(self.token)} if is_alive(pid)]


@asynccontextmanager
async def parent(count: int, how: str, backend: str = "asyncio") -> AsyncIterator[Parent]:
    """Start it and wait until its agents are up; it and its fork are ended after the block."""
    command = [sys.executable, "-c", PARENT, str(count), how, backend]
    with anyio.fail_after(40):
        async with await anyio.open_process(command, cwd=REPO, stderr=None, start_new_session=True) as process:
            assert process.stdout is not None
            line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 200)
            token, *forked = line.decode().split()
            one = Parent(process, token, int(forked[0]) if forked else None)
            try:
                yield one
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                if one.forked is not None:
                    os.kill(one.forked, signal.SIGKILL)


def status_of(pid: int) -> dict[str, str]:
    """What proc(5) calls status."""
    return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


def guardians(token: str) -> list[int]:
    """The guardian of a parent: it has no marker, and the token as its argument."""
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208  # /proc
        with suppress(OSError):
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if token.encode() in arguments and any(part.endswith(b"guardian.py") for part in arguments):
                found.append(pid)
    return found


@pytest.mark.row("TREE-4", "TREE-3")
async def test_a_killed_parent_leaves_nothing_of_twenty_runs(anyio_backend: str) -> None:
    """SIGKILL gives it no chance to clean up; its processes are deaf to SIGTERM, and some left their group."""
    async with parent(20, "deaf", anyio_backend) as one:
        assert len(marked(one.token)) >= 60
        one.process.kill()
        assert await one.left() == []


@pytest.mark.row("TREE-4")
@pytest.mark.parametrize("how", ["exception", "sys.exit", "os._exit", "abort"])
async def test_a_parent_that_ends_itself_leaves_nothing(how: str, anyio_backend: str) -> None:
    """Whether its clean-up runs or not."""
    async with parent(2, how, anyio_backend) as one:
        assert await one.left() == []


@pytest.mark.row("TREE-4", "TREE-6")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGSEGV])
async def test_a_parent_that_is_signalled_leaves_nothing(number: signal.Signals, anyio_backend: str) -> None:
    """Ctrl-C is a cancellation; the others end it where it stands."""
    async with parent(2, "wait", anyio_backend) as one:
        one.process.send_signal(number)
        assert await one.left() == []


@pytest.mark.row("TREE-6")
async def test_ctrl_c_for_the_whole_foreground_group_reaches_the_parent_only(anyio_backend: str) -> None:
    """The agents are in sessions of their own; the parent turns it into a cancellation and ends them itself."""
    async with parent(2, "wait", anyio_backend) as one:
        os.killpg(one.process.pid, signal.SIGINT)
        assert await one.left() == []
        assert one.process.returncode not in (0, None)


@pytest.mark.row("TREE-6")
@pytest.mark.parametrize("times", [2, 3])
async def test_an_impatient_ctrl_c_in_the_middle_of_the_clean_up_leaves_nothing(times: int, anyio_backend: str) -> None:
    """The second one breaks off the clean-up of the first."""
    async with parent(2, "deaf", anyio_backend) as one:
        for _ in range(times):
            one.process.send_signal(signal.SIGINT)
            with anyio.move_on_after(0.05):  # the clean-up of deaf agents takes longer
                await one.process.wait()
        assert await one.left() == []


@pytest.mark.row("TREE-6")
async def test_a_ctrl_c_that_breaks_off_the_clean_up_of_the_loop_itself_holds_up_nothing() -> None:
    """No thread of ours is left that waits for work from a loop that is gone: the parent ends, and so do its agents."""
    async with parent(2, "ctrl-c three times", "asyncio") as one:
        assert await one.left() == []


@pytest.mark.row("TREE-4")
@pytest.mark.parametrize("how", ["fork", "multiprocessing"])
async def test_a_fork_of_the_parent_does_not_keep_its_agents_alive(how: str, anyio_backend: str) -> None:
    """It has a copy of everything but the guardian's pipe."""
    async with parent(2, how, anyio_backend) as one:
        assert one.forked is not None
        one.process.kill()
        assert await one.left() == []
        assert is_alive(one.forked)


@pytest.mark.row("TREE-4")
async def test_a_guardian_that_was_killed_is_replaced_and_told_what_there_is() -> None:
    """With the next run; the runs from before are the new one's as well."""
    async with parent(2, "second guardian") as one:
        assert one.process.stdin is not None
        assert one.process.stdout is not None
        first = await one.guardian()
        gone = os.pidfd_open(first)
        os.kill(first, signal.SIGKILL)
        await anyio.wait_readable(gone)
        os.close(gone)
        await one.process.stdin.send(b"go on\n")
        assert (await one.process.stdout.receive()).strip() == b"again"
        assert await one.guardian() != first
        one.process.kill()
        assert await one.left() == []


@pytest.mark.row("TREE-4")
async def test_the_guardian_goes_with_its_parent_and_not_before() -> None:
    """It hears neither Ctrl-C nor a polite end; it ends when its work is done."""
    async with parent(1, "wait") as one:
        pid = await one.guardian()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(pid, number)
        assert os.getsid(pid) not in (os.getsid(one.process.pid), os.getsid(0))
        pidfd = os.pidfd_open(pid)
        one.process.kill()
        assert await one.left() == []
        with anyio.fail_after(PROMISED_SECONDS + SLOW_MACHINE_SECONDS):
            await anyio.wait_readable(pidfd)
        os.close(pidfd)


def test_a_guardian_that_is_stopped_holds_nobody_up() -> None:
    """More than its pipe holds is told it; nothing waits, and it believes nothing wrong when it goes on."""
    guardian = Guardian()
    token = guardian.token
    guardian.settle()
    (pid,) = guardians(token)
    os.kill(pid, signal.SIGSTOP)
    for pgid in range(2**22 + 1, 2**22 + 10_000):  # no such groups
        guardian.watch(pgid)
        guardian.forget(pgid)
    pidfd = os.pidfd_open(pid)
    os.kill(pid, signal.SIGCONT)
    while guardian._unsent:  # it reads in pauses, and what is left follows with the next line
        time.sleep(0.02)
        guardian.forget(2**22 + 1)
    assert is_alive(pid)
    guardian._close()
    with suppress(ChildProcessError):
        assert os.waitid(os.P_PIDFD, pidfd, os.WEXITED) is None  # it is no child of ours
    os.close(pidfd)


def test_a_guardian_is_no_child_of_ours_and_its_starter_no_zombie() -> None:
    """A program that waits for all of its children would wait for it."""
    guardian = Guardian()
    token = guardian.token
    guardian.settle()
    (pid,) = guardians(token)
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    assert guardian._starters == set()
    assert guardian.token == token
    guardian._close()
