"""The process table (Linux `/proc`): who of a run is still alive, in its session or escaped from it.

Owns looking; sends no signal. One look serves all runs that wait for one: a look for each run would be quadratic with
hundreds of children. Elsewhere than on Linux nothing can be found here, and an escaped process is a documented limit.
"""

from __future__ import annotations

import errno
import functools
import os
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio

from acp_client.loop.threads import in_thread
from acp_client.loop.waits import LazyEvent

IS_LINUX: Final = os.path.exists("/proc/self/stat")  # noqa: PTH110  # pathlib is not worth its import here

YOUNG_SECONDS: Final = 2.0
"""In so short a time pids do not go round: only those given after the leader's can be its descendants."""
INLINE_CANDIDATES: Final = 64
"""Up to so many processes are looked at on the loop (about 15 µs each); more, in a worker thread."""
COUNTED_PIDS: Final = 4096
"""How many numbers are gone through for the unknown ones: far sooner done than a list of all processes."""
CROWD_PAUSE: Final = 4
"""After a look in a thread the next one waits this many times as long: at most a fifth of a core is spent looking."""
MAX_PAUSE_SECONDS: Final = 0.25
"""However long a look took: those who wait for the next one have graces to keep."""
EMPTY_LOOKS: Final = 3
"""An environment is empty, or that of a process that has gone, if it was so in each of these."""
EXEC_LOOKS: Final = 150
EXEC_SECONDS: Final = 0.002
"""How often, and after which pause, a process is looked at again that was met in the middle of an exec: it takes less
than a millisecond, unless the machine is busy."""
HIDDEN: Final = b"\0"
"""What stands for a file of `/proc` that cannot be read: holds no marker, and is not empty."""


@dataclass(frozen=True, slots=True)
class Tree:
    """What identifies the processes of one run: its session, which is its leader's pid, and its marker."""

    pgid: int
    marker: str
    born: float = field(default_factory=time.monotonic)


class ProcessTable:
    """Looks for several runs at once. One for each event loop; `leaders` are the runs that live, to be passed over."""

    def __init__(self) -> None:
        self.leaders: Final[set[int]] = set()
        self._gone: Final[dict[int, float]] = {}  # reaped leaders, and when: for a while their ids are nobody else's
        self._lock = anyio.Lock(fast_acquire=True)
        self._next: _Look | None = None
        self._rest_until = 0.0

    def add(self, pid: int) -> None:
        """A leader has been started. From any thread: until then it is looked at as a stranger."""
        self.leaders.add(pid)

    def drop(self, pid: int) -> None:
        """It has been reaped. From any thread; idempotent."""
        if pid in self.leaders:
            self._gone[pid] = time.monotonic()
            self.leaders.discard(pid)

    def _known(self, now: float) -> tuple[Collection[int], Collection[int]]:
        while self._gone and next(iter(self._gone.values())) < now - YOUNG_SECONDS:
            del self._gone[next(iter(self._gone))]
        return self.leaders, self._gone

    async def survivors(self, tree: Tree) -> list[int] | None:
        """Pids of the run's processes that are alive, its leader apart, as of a look begun after this call.

        None where nobody can look: not Linux, or no descriptor left. Safe to cancel: who waits for the same look
        begins another.
        """
        if IS_LINUX and self._nobody_since(tree):
            return []
        while IS_LINUX:
            look = self._next
            if look is None:
                look = self._next = _Look([tree])
                await self._perform(look)
            else:
                look.trees.append(tree)
                await look.done.wait()
            if look.performed:
                return look.found.get(tree.pgid, []) if look.complete else None
        return None

    def _nobody_since(self, tree: Tree) -> bool:
        """True where only leaders were started after this one, as most agents start nobody: then no look is needed."""
        now = time.monotonic()
        if not (self._next or self._lock.locked()) and anyio.current_time() >= self._rest_until:
            with suppress(OSError):  # no descriptor left: the look will say so
                return few_since([tree], _newest_pid(), now, *self._known(now)) == []
        return False

    async def _perform(self, look: _Look) -> None:
        try:
            async with self._lock:
                if anyio.current_time() < self._rest_until:
                    await anyio.sleep_until(self._rest_until)
                self._next = None
                await self._look(look)
        finally:
            if self._next is look:  # cancelled while it waited for its turn
                self._next = None
            look.done.set()

    async def _look(self, look: _Look) -> None:
        began = anyio.current_time()
        with suppress(OSError):  # no descriptor left
            now, newest = time.monotonic(), _newest_pid()
            few = few_since(look.trees, newest, now, *self._known(now))
            pids = candidates(_all_pids() if few is None else few, newest, look.trees, self.leaders, now)
            for _ in range(EXEC_LOOKS):
                crowd = len(pids) > INLINE_CANDIDATES
                leaders = frozenset(self.leaders) if crowd else self.leaders
                search = functools.partial(find, look.trees, pids, leaders, look.found)
                pids = await in_thread(search) if crowd else search()
                if crowd:
                    now = anyio.current_time()
                    self._rest_until = now + min(MAX_PAUSE_SECONDS, (now - began) * CROWD_PAUSE)
                if not pids:
                    break
                await anyio.sleep(EXEC_SECONDS)
            look.complete = True
        look.performed = True


class _Look:
    """One look and those who wait for it. Not complete if there was no descriptor left to make it with."""

    def __init__(self, trees: list[Tree]) -> None:
        self.trees = trees
        self.found: dict[int, list[int]] = {}
        self.complete = False
        self.performed = False
        self.done = LazyEvent()


def few_since(trees: Collection[Tree], newest: int, now: float, *known: Collection[int]) -> list[int] | None:
    """All pids that were given after the first leader's, the `known` apart, where so few need no list. Pure."""
    oldest = min(tree.pgid for tree in trees)
    if not (_are_young(trees, now) and oldest <= newest <= oldest + COUNTED_PIDS):
        return None
    few = [pid for pid in range(oldest + 1, newest + 1) if not any(pid in some for some in known)]
    return few if len(few) <= INLINE_CANDIDATES else None


def candidates(
    pids: Iterable[int], newest: int, trees: Collection[Tree], leaders: Collection[int], now: float
) -> list[int]:
    """Those of `pids` that can belong to one of the trees, leaders apart. Pure; `newest` is the pid given last."""
    if not _are_young(trees, now):
        return [pid for pid in pids if pid not in leaders]
    # Pids go up to a highest one and begin again below: a leader above the newest was there before they did.
    before = [tree.pgid for tree in trees if tree.pgid > newest]
    oldest = min(before or [tree.pgid for tree in trees])
    return [pid for pid in pids if (pid > oldest or (before and pid <= newest)) and pid not in leaders]


def _are_young(trees: Collection[Tree], now: float) -> bool:
    return now - min(tree.born for tree in trees) <= YOUNG_SECONDS


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  # a third of its cost


def _newest_pid() -> int:
    """The pid given last (in our pid namespace)."""
    with open("/proc/loadavg", "rb", buffering=0) as file:  # noqa: PTH123
        return int(file.read(256).split()[-1])


def find(
    trees: Iterable[Tree], pids: Iterable[int], leaders: Collection[int], found: dict[int, list[int]]
) -> list[int]:
    """Sort living processes to the trees that they belong to, by session, else by the marker in their environment.

    The session also holds those that only made a group of their own. Returns those that cannot be told yet, as they
    are in the middle of an exec: look at them again. Raises OSError if no descriptor is left.
    """
    by_session = {tree.pgid: tree for tree in trees}
    unclear = []
    for pid in pids:
        standing = session_of(pid)
        session = standing.session
        if not standing.alive:
            continue
        if session in by_session:
            found.setdefault(session, []).append(pid)
        elif session not in leaders:
            environment = _laid_out(pid, headless=standing.headless)
            if environment is None:
                unclear.append(pid)
                continue
            for tree in by_session.values() if environment else ():
                if tree.marker.encode() in environment:
                    found.setdefault(tree.pgid, []).append(pid)
    return unclear


def survivors_now(tree: Tree) -> tuple[list[int], list[int]]:
    """The living processes of a tree, its leader apart, and those that cannot be told yet. Blocks for milliseconds."""
    found: dict[int, list[int]] = {}
    unclear: list[int] = []
    with suppress(OSError):  # no process table here, or no descriptor left
        unclear = find([tree], (pid for pid in _all_pids() if pid != tree.pgid), frozenset(), found)
    return found.get(tree.pgid, []), unclear


def belongs_to(tree: Tree, pid: int) -> bool:
    """True for a process in the tree's session, or with its marker. Raises OSError if no descriptor is left."""
    return session_of(pid).session == tree.pgid or tree.marker.encode() in environment_of(pid)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the kernel says of a process at a glance. `alive` is False for a zombie.

    `headless`: its first thread has ended while others run. It looks like a zombie, and lives.
    """

    session: int
    alive: bool
    headless: bool


def session_of(pid: int) -> Standing:
    """The session, and whether the process runs. Raises OSError if no descriptor is left."""
    fields = _stat(pid)
    if not fields:
        return Standing(0, alive=False, headless=False)
    ended = fields[0] in (b"Z", b"X")
    headless = ended and int(fields[17]) > 1
    return Standing(int(fields[3]), not ended or headless, headless)


def environment_of(pid: int) -> bytes:
    """The environment that the process was started with; `HIDDEN` where it may not be read. Raises OSError likewise."""
    return _environment(pid, headless=session_of(pid).headless)


def _environment(pid: int, *, headless: bool) -> bytes:
    """A headless process has none, but its other threads do; itself comes last, as one that execs takes its place."""
    for thread in _threads(pid) if headless else ():
        environment = _read(f"/proc/{pid}/task/{thread}/environ")
        if environment not in (b"", HIDDEN):
            return environment
    return _read(f"/proc/{pid}/environ")


def _laid_out(pid: int, *, headless: bool) -> bytes | None:
    """The environment; None in the middle of an exec. An exec may end, and the next begin, between two looks at it."""
    for _ in range(EMPTY_LOOKS):
        if environment := _environment(pid, headless=headless):
            return environment
        if _is_in_exec(pid):
            return None
    return b""


def _threads(pid: int) -> list[str]:
    """Empty if the process has gone. Raises OSError if no descriptor is left."""
    with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  # as above
    return []


def _is_in_exec(pid: int) -> bool:
    """It has memory (so it is no thread of the kernel's), and its new environment is not laid out yet."""
    fields = _stat(pid)
    return bool(fields) and fields[20] != b"0" and fields[47] == b"0"


def _stat(pid: int) -> list[bytes]:
    """The fields from `state` on, the third of proc(5); empty if the process has gone."""
    return _read(f"/proc/{pid}/stat").rpartition(b") ")[2].strip(HIDDEN).split()


def _read(path: str) -> bytes:
    """`HIDDEN` where the process has ended meanwhile or is somebody else's."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        return HIDDEN
