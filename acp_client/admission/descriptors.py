"""How many file descriptors a run needs, and whether this process has them left. POSIX only.

Owns the count of what was promised to runs and is not open yet. One for the whole process, since its limit is: several
runners, also in several threads, share it.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from typing import Final

HELD: Final = 4
"""What a run holds while its child lives: three pipes and a pidfd. Measured."""
STARTING: Final = 8
"""What the start of a child needs for a moment: both ends of three pipes, and the pipe that tells of a failed exec."""
RESERVE: Final = 16
"""Left for the rest: a look at the process table, the guardian, a module that is loaded late, the program's own."""
MEASURE_SECONDS: Final = 0.1
"""A count is good for so long where there is plenty of room; where there is not, it is made again each time."""

_OPEN: Final = "/dev/fd"
_UNKNOWN: Final = 0
"""Where no count can be had nothing is held up."""


class Descriptors:
    """Promises room to runs. Safe from any thread.

    With `may_raise` the soft limit is raised to the hard one where it is in the way; children inherit that. It is for
    a program of our own: the limit of somebody else's is theirs.
    """

    def __init__(self) -> None:
        self.may_raise = False
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._active = 0
        self._starting = 0
        self._open = 0
        self._measured_at = 0.0

    def after_fork(self) -> None:
        """In the child of a fork: the runs are the parent's."""
        self._reset()

    def take(self, *, spare: bool = False) -> bool:
        """Promise a run what it needs; False if it is not there.

        Where nobody has a promise, nothing is waited for that would come back: then the run may try. `spare`: for what
        is no run, only where a run would still have room beside it.
        """
        with self._lock:
            if (self._active or spare) and not self._has_room(2 if spare else 1):
                return False
            self._active += 1
            self._starting += 1
            return True

    def note_started(self) -> None:
        """The child is there, or will not be: what it holds is open, and counted with all that is."""
        with self._lock:
            self._starting -= 1
            self._open += HELD

    def give_back(self) -> None:
        """The run is over."""
        with self._lock:
            self._active -= 1

    def _has_room(self, runs: int) -> bool:
        if time.monotonic() - self._measured_at < MEASURE_SECONDS and self._fits(runs):
            return True
        self._measure()
        return self._fits(runs) or (self.may_raise and _raise_limit() and self._fits(runs))

    def _fits(self, runs: int) -> bool:
        limit = _soft_limit()
        return limit is None or self._open + (self._starting + runs) * STARTING + RESERVE <= limit

    def _measure(self) -> None:
        self._measured_at = time.monotonic()
        try:
            self._open = len(os.listdir(_OPEN))  # noqa: PTH208  # a third of its cost
        except FileNotFoundError:
            self._open = _UNKNOWN
        except OSError:  # there is not even one to look with
            self._open = _soft_limit() or _UNKNOWN


def _soft_limit() -> int | None:
    """None where there is no limit."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def _raise_limit() -> bool:
    """To the hard limit; False if it is that high, or the system refuses."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return False
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):
        return False
    return True


DESCRIPTORS: Final = Descriptors()
os.register_at_fork(after_in_child=DESCRIPTORS.after_fork)
