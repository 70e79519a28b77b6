"""One agent process from spawn to the last trace of it: its pipes, its exit, and the stop ladder over its tree.

Owns the process, its group and its descriptors. Every wait is bounded by the caller's limits; a descendant that holds
a pipe or left the group cannot hold us. The leader stays unreaped until its group is swept, so that no id is
signalled that could have been given to somebody else meanwhile.
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Final, Literal

import anyio
import anyio.to_thread

from acp_client.process.guardian import GUARDIAN
from acp_client.process.spawn import Spawned
from acp_client.process.table import IS_LINUX, ProcessTable, Tree, environment_of, group_of
from acp_client.protocol.streams import FdReader, FdTransport

SWEEPS: Final = 4
"""How often survivors are looked for: the second look finds those that were forking during the first."""

GROUP_POLL_SECONDS: Final = 0.02
"""Only where there is no process table to look into (not Linux)."""

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
        self.transport: Final = FdTransport(spawned.stdout, spawned.stdin)
        self.exited: Final = anyio.Event()
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.killed: Killed | None = None
        self._stderr = FdReader(spawned.stderr)
        self._pidfd = spawned.pidfd
        self._table = table
        self._tree = Tree(spawned.pid, spawned.marker)
        self.released = False
        table.leaders.add(spawned.pid)

    def __repr__(self) -> str:
        state = "reaped" if self.released else "exited" if self.exited.is_set() else "running"
        return f"<AgentProcess {self.pid} {state}>"

    async def drain_stderr(self, feed: Callable[[bytes], None]) -> None:
        """Read stderr from the start to its end, whatever it holds."""
        while data := await self._stderr.receive():
            feed(data)

    async def watch(self) -> None:
        """Set `exited` when the leader ends; its pipes then end with what is in them. Safe to cancel."""
        if self._pidfd is not None:
            with suppress(anyio.ClosedResourceError):
                await anyio.wait_readable(self._pidfd)
        else:
            await anyio.to_thread.run_sync(_wait_blocking, self.pid, abandon_on_cancel=True, limiter=_threads())
        self._note_exit()
        self.transport.finish()
        self._stderr.finish()

    def _note_exit(self) -> None:
        """Look at the exit status without reaping."""
        with suppress(ChildProcessError):  # the program ignores SIGCHLD or waited for all its children: unknown
            status = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if status is not None and status.si_code == os.CLD_EXITED:
                self.exit_code = status.si_status
            elif status is not None:
                self.signal = status.si_status
        self.exited.set()

    async def stop(self, rungs: tuple[Rung, ...]) -> None:
        """Climb the ladder until nothing of the tree is left. stdin is closed already. Bounded; run it shielded."""
        for rung in rungs:
            if rung.number is not None and not self.exited.is_set():
                self._signal_group(rung.number)
                self.killed = rung.name
            with anyio.move_on_after(rung.seconds):
                await self.exited.wait()
            if self.exited.is_set():
                break
        await self._sweep(rungs)
        self._release()

    async def _sweep(self, rungs: tuple[Rung, ...]) -> None:
        """End what the leader left behind: SIGTERM at once, SIGKILL after its grace."""
        self._signal_group(signal.SIGTERM)
        if not IS_LINUX:
            await self._sweep_by_group(rungs[1].seconds)
            return
        for rung in (rungs[1], *[rungs[2]] * SWEEPS):
            survivors = await self._table.survivors(self._tree)
            if not survivors:
                return
            assert rung.number is not None  # only the first rung has none
            self.killed = rung.name
            self._signal_group(rung.number)
            with anyio.move_on_after(rung.seconds):
                await self._end_each(survivors, rung.number)

    async def _end_each(self, pids: list[int], number: signal.Signals) -> None:
        """Signal all of them, also those that left the group, then wait for each."""
        with ExitStack() as opened:
            pidfds = []
            for pid in pids:
                with suppress(OSError):  # it has gone meanwhile
                    pidfd = os.pidfd_open(pid)
                    opened.callback(os.close, pidfd)
                    if self._owns(pid):  # looked at again: from here on the descriptor keeps the identity
                        signal.pidfd_send_signal(pidfd, number)
                        pidfds.append(pidfd)
            for pidfd in pidfds:
                await anyio.wait_readable(pidfd)

    def _owns(self, pid: int) -> bool:
        return group_of(pid)[0] == self._tree.pgid or self._tree.marker.encode() in environment_of(pid)

    async def _sweep_by_group(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while self._signal_group(0):  # noqa: ASYNC110  # nothing tells when a foreign group is gone
                await anyio.sleep(GROUP_POLL_SECONDS)
            return
        self._signal_group(signal.SIGKILL)
        self.killed = "kill"

    def _signal_group(self, number: int) -> bool:
        """False if there is nobody to signal."""
        if self.released:
            return False
        try:
            os.killpg(self._tree.pgid, number)
        except (ProcessLookupError, PermissionError):  # gone; or zombies only, as macOS says it
            return False
        return True

    def _release(self) -> None:
        """Reap the leader and give back every descriptor. Only after the sweep."""
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG)
        self.released = True
        self.close()
        GUARDIAN.forget(self.pid)

    def close(self) -> None:
        """Close the pipes and the pidfd. Idempotent."""
        self._table.leaders.discard(self.pid)
        self.transport.close()
        self._stderr.close()
        if self._pidfd is not None:
            pidfd, self._pidfd = self._pidfd, None
            anyio.notify_closing(pidfd)
            os.close(pidfd)


def _wait_blocking(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def _threads() -> anyio.CapacityLimiter:
    """Where there are no pidfds each child costs a waiting thread; they must not starve one another."""
    return anyio.CapacityLimiter(math.inf)
