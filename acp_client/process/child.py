"""One agent process from spawn to the last trace of it: its pipes, its exit, and the stop ladder over its tree.

Owns the process, its group and its descriptors. Every wait is bounded by the caller's limits; a descendant that holds
a pipe or left the group cannot hold us. The leader stays unreaped until its group is swept, so that no id is
signalled that could have been given to somebody else meanwhile.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Final, Literal

import anyio

from acp_client.loop.threads import in_daemon_thread
from acp_client.loop.waits import LazyEvent, Readable, Rest, Start
from acp_client.process.guardian import GUARDIAN
from acp_client.process.spawn import Spawned, open_pidfd
from acp_client.process.table import ProcessTable, Tree, belongs_to, session_of
from acp_client.protocol.streams import FdReader, FdTransport

POLL_SECONDS: Final = 0.02
"""Only where nothing tells: no pidfds, no process table, no thread left to wait in."""

KILL_LOOK_SECONDS: Final = 0.5
"""How long killed processes are waited for before the next look at who is left."""

Killed = Literal["term", "kill"]


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: the signal for the whole tree (None: stdin has been closed), and how long it may take."""

    number: signal.Signals | None
    seconds: float
    name: Killed | None


def ladder(eof_seconds: float, term_seconds: float, kill_seconds: float) -> tuple[Rung, ...]:
    """The stop ladder: EOF, SIGTERM, SIGKILL."""
    return (
        Rung(None, eof_seconds, None),
        Rung(signal.SIGTERM, term_seconds, "term"),
        Rung(signal.SIGKILL, kill_seconds, "kill"),
    )


class AgentProcess:
    """A spawned process and its tree. Made right after `spawn`, in the event loop that runs it."""

    def __init__(self, spawned: Spawned, table: ProcessTable) -> None:
        self.pid: Final = spawned.pid
        self.transport: Final = FdTransport(spawned.stdout, spawned.stdin, is_ready=True)
        self.exited: Final = LazyEvent()
        self.stderr_ended: Final = LazyEvent()
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.killed: Killed | None = None
        self.released = False
        self._stderr = FdReader(spawned.stderr, is_ready=True)
        self._pidfd = spawned.pidfd
        self._exit = None if spawned.pidfd is None else Readable(spawned.pidfd, self._note_exit)
        self._table = table
        self._tree = Tree(spawned.pid, spawned.marker)
        table.add(spawned.pid)

    def __repr__(self) -> str:
        state = "reaped" if self.released else "exited" if self.exited.is_set() else "running"
        return f"<AgentProcess {self.pid} {state}>"

    def drain_stderr(self, feed: Callable[[bytes], Rest | None], start: Start) -> None:
        """Read stderr from now on to its end, which is empty; `feed` returns what to await before more is read.

        As `watch` does, it goes on until `release`; a second call goes on with another reader.
        """

        def take(data: bytes) -> Rest | None:
            if self.released:
                return None
            if not data:
                self.stderr_ended.set()
            return feed(data)

        self._stderr.hand_over(take, start)

    def watch(self, start: Start) -> None:
        """Set `exited` when the leader ends, from now on; its pipes then end with what is in them.

        `start` is `start_soon` of a group. Once that is cancelled, call it again with another one.
        """
        if self.exited.is_set() or self.released:
            return
        if self._exit is not None:
            self._exit.open(start)
        else:
            start(self._wait_elsewhere)

    async def _wait_elsewhere(self) -> None:
        """Without a pidfd: a thread that waits, or where none can be started, a look now and then."""
        try:
            await in_daemon_thread(lambda: _wait_blocking(self.pid))
        except RuntimeError:
            await _poll_while(lambda: _runs(self.pid))
        if not self.released:
            self._note_exit()

    def _note_exit(self) -> None:
        """Look at the exit status without reaping; what is in the pipes is all that comes."""
        if self._exit is not None:
            self._exit.close()
        with suppress(ChildProcessError):  # the program ignores SIGCHLD or waited for all its children: unknown
            status = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if status is not None and status.si_code == os.CLD_EXITED:
                self.exit_code = status.si_status
            elif status is not None:
                self.signal = status.si_status
        self.transport.finish()
        self._stderr.finish()
        self.exited.set()

    # ---- the end

    async def stop(self, rungs: tuple[Rung, ...]) -> None:
        """Climb the ladder until nothing of the tree is left. stdin must be closed already, and `watch` be running.

        Bounded by the sum of the rungs, the last two counted twice: for the leader, and for what it left behind. Run
        it shielded, and `release` after it.
        """
        for rung in rungs:
            if rung.number is not None and not self.exited.is_set():
                self._note_killed(rung.name)
                self.signal_group(rung.number)
            with anyio.move_on_after(rung.seconds):
                await self.exited.wait()
            if not (self.exited.is_set() or _runs(self.pid)):  # our loop was held up: it went in time, unseen
                self._note_exit()
            if self.exited.is_set():
                break
        await self._sweep(rungs[1].seconds, rungs[2].seconds)

    async def _sweep(self, term_seconds: float, kill_seconds: float) -> None:
        """End what the leader left behind: SIGTERM at once, SIGKILL after its grace."""
        survivors = await self._table.survivors(self._tree)
        reached = self.signal_group(signal.SIGTERM)  # all of the group, also one that was forking while we looked
        if survivors is None:
            if reached:
                await self._sweep_by_group(term_seconds)
        elif survivors:
            self._note_killed("term")
            with anyio.move_on_after(term_seconds):
                await self._end_each(survivors, signal.SIGTERM)
            with anyio.move_on_after(kill_seconds):
                await self._kill(survivors)
        self.signal_group(signal.SIGKILL)  # what hid from every look, while the leader still keeps the id

    async def _kill(self, known: list[int]) -> None:
        """Those that are known first, whatever looking again takes; then those that were forking meanwhile."""
        survivors: list[int] | None = [pid for pid in known if session_of(pid).alive]
        while True:
            if survivors:
                self._note_killed("kill")
                self.signal_group(signal.SIGKILL)
                with anyio.move_on_after(KILL_LOOK_SECONDS):
                    await self._end_each(survivors, signal.SIGKILL)
            survivors = await self._table.survivors(self._tree)
            if not survivors:
                return
            await anyio.sleep(POLL_SECONDS)  # one that may not be signalled was not waited for

    async def _end_each(self, pids: list[int], number: signal.Signals) -> None:
        """Signal all of them, also those that left the group, then wait for each."""
        with ExitStack() as opened:
            pidfds, polled = [], []
            for pid in pids:
                pidfd = open_pidfd(pid)
                if pidfd is not None:
                    opened.callback(os.close, pidfd)
                with suppress(OSError):  # it has gone meanwhile, or may not be signalled
                    if belongs_to(self._tree, pid):  # looked at again: from here on the descriptor keeps the identity
                        _send(pid, pidfd, number)
                        polled.append(pid) if pidfd is None else pidfds.append(pidfd)
            for pidfd in pidfds:
                await anyio.wait_readable(pidfd)
            with suppress(OSError):  # no descriptor left to look with
                await _poll_while(lambda: any(session_of(pid).alive for pid in polled))

    async def _sweep_by_group(self, seconds: float) -> None:
        """Where nobody can look: the group is all that is known."""
        self._note_killed("term")
        with anyio.move_on_after(seconds):
            await _poll_while(lambda: self.signal_group(0))
            return
        self._note_killed("kill")
        self.signal_group(signal.SIGKILL)

    def signal_group(self, number: int) -> bool:
        """Signal the leader's group; False if there is nobody in it."""
        if self.released:
            return False
        try:
            os.killpg(self._tree.pgid, number)
        except (ProcessLookupError, PermissionError):  # gone; or zombies only, as macOS says it
            return False
        return True

    def kill(self) -> None:
        """Kill the group at once, without any grace; `stop` finds the rest. Idempotent."""
        if not self.released:
            self._note_killed("kill")
            self.signal_group(signal.SIGKILL)

    def _note_killed(self, name: Killed | None) -> None:
        """The highest rung counts, of the leader or of what it left."""
        if self.killed != "kill":
            self.killed = name

    async def end(self, kill_seconds: float) -> None:
        """Stop without any grace, and release; also where nobody watches or reads any more. Bounded."""
        self.transport.close_send()
        try:
            async with anyio.create_task_group() as tasks:
                self.watch(tasks.start_soon)
                await self.stop(ladder(0, 0, kill_seconds))
                tasks.cancel_scope.cancel()
        finally:
            self.release()

    def release(self) -> None:
        """Reap the leader and give back every descriptor. After `stop`; without it, kills first. Idempotent."""
        if self.released:
            return
        if not self.exited.is_set():
            self._note_killed("kill")
            self.signal_group(signal.SIGKILL)
        self.released = True
        _UNREAPED.add(self.pid)
        _reap()
        self._table.drop(self.pid)
        self.transport.close()
        self._stderr.close()
        if self._exit is not None:
            self._exit.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        if self.exited.is_set():  # else it may not be dead yet, and the guardian keeps it in mind
            GUARDIAN.forget(self.pid)


def _send(pid: int, pidfd: int | None, number: signal.Signals) -> None:
    if pidfd is None:
        os.kill(pid, number)
    else:
        signal.pidfd_send_signal(pidfd, number)


_UNREAPED: Final[set[int]] = set()
"""Leaders that were released and not seen dead yet: nearly always empty."""


def _reap() -> None:
    """Give the ids of the dead back; who still lives is looked at with the next release. Safe from any thread."""
    for _ in range(len(_UNREAPED)):
        with suppress(KeyError, ChildProcessError):  # another thread took it; or the program waited for it
            pid = _UNREAPED.pop()
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG) is None:
                _UNREAPED.add(pid)


def _wait_blocking(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def _runs(pid: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    return False


async def _poll_while(condition: Callable[[], bool]) -> None:
    while condition():  # noqa: ASYNC110  # the kernel tells nobody
        await anyio.sleep(POLL_SECONDS)
