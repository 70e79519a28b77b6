"""The process table (Linux `/proc`): who of a run is still alive, in its group or escaped from it.

Owns looking; sends no signal. One look serves all runs that wait for one: a look for each run would be quadratic with
hundreds of children. Elsewhere than on Linux nothing can be found here, and an escaped process is a documented limit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.to_thread

IS_LINUX: Final = os.path.exists("/proc/self/stat")  # noqa: PTH110  # pathlib is not worth its import here

YOUNG_SECONDS: Final = 2.0
"""In so short a time pids do not go round: only those given after the leader's can be its descendants."""
INLINE_CANDIDATES: Final = 64
"""Up to so many processes are looked at on the loop (about 15 µs each); more, in a worker thread."""
CROWD_PAUSE: Final = 4
"""After a look in a thread the next one waits this many times as long: at most a fifth of a core is spent looking."""


@dataclass(frozen=True, slots=True)
class Tree:
    """What identifies the processes of one run: its group, which is its leader's pid, and its marker."""

    pgid: int
    marker: str
    born: float = field(default_factory=time.monotonic)


class ProcessTable:
    """Looks for several runs at once. One for each event loop; `leaders` are the runs that live, to be passed over."""

    def __init__(self) -> None:
        self.leaders: set[int] = set()
        self._lock = anyio.Lock()
        self._next: _Look | None = None

    async def survivors(self, tree: Tree) -> list[int]:
        """Pids of the run's processes that are alive, its leader apart, as of a look begun after this call."""
        if not IS_LINUX:
            return []
        look = self._next
        if look is None:
            look = self._next = _Look()
            look.trees.append(tree)
            async with self._lock:
                self._next = None
                await self._perform(look)
        else:
            look.trees.append(tree)
            await look.done.wait()
        return look.found.get(tree.pgid, [])

    async def _perform(self, look: _Look) -> None:
        try:
            pids = candidates(look.trees, self.leaders)
            if len(pids) <= INLINE_CANDIDATES:
                look.found = find(look.trees, pids, self.leaders)
                return
            began = time.monotonic()
            look.found = await anyio.to_thread.run_sync(find, look.trees, pids, set(self.leaders))
            await anyio.sleep((time.monotonic() - began) * CROWD_PAUSE)
        finally:
            look.done.set()


class _Look:
    """One look and those who wait for it."""

    def __init__(self) -> None:
        self.trees: list[Tree] = []
        self.found: dict[int, list[int]] = {}
        self.done = anyio.Event()


def candidates(trees: Iterable[Tree], leaders: set[int]) -> list[int]:
    """Pids that can belong to one of the trees, leaders apart."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  # a third of its cost
    oldest = min(trees, key=lambda tree: tree.born)
    if time.monotonic() - oldest.born > YOUNG_SECONDS:
        return [pid for pid in pids if pid not in leaders]
    lowest = min(tree.pgid for tree in trees if tree.born - oldest.born <= YOUNG_SECONDS)
    newest = _newest_pid()
    wrapped = newest < lowest
    return [pid for pid in pids if (pid > lowest or (wrapped and pid <= newest)) and pid not in leaders]


def _newest_pid() -> int:
    """The pid given last (in our pid namespace)."""
    with open("/proc/loadavg", "rb") as file:  # noqa: PTH123
        return int(file.read().split()[-1])


def find(trees: Iterable[Tree], pids: Iterable[int], leaders: set[int]) -> dict[int, list[int]]:
    """Sort living processes to the trees that they belong to, by group, else by the marker in their environment."""
    by_group = {tree.pgid: tree for tree in trees}
    found: dict[int, list[int]] = {}
    for pid in pids:
        group, alive = group_of(pid)
        if not alive:
            continue
        if group in by_group:
            found.setdefault(group, []).append(pid)
        elif group not in leaders:
            environment = environment_of(pid)
            for tree in trees if environment else ():
                if tree.marker.encode() in environment:
                    found.setdefault(tree.pgid, []).append(pid)
    return found


def group_of(pid: int) -> tuple[int, bool]:
    """The process group, and whether the process runs (a zombie does not)."""
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
        state, _parent, group = file.read().rpartition(b")")[2].split(maxsplit=3)[:3]
        return int(group), state not in (b"Z", b"X")
    return 0, False


def environment_of(pid: int) -> bytes:
    """The environment that the process was started with; empty where it may not be read."""
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
        return file.read()
    return b""
