"""The last resort: a process whose stdin has ended does not stay, whatever its code does.

Owns a thread that watches stdin from outside of the event loop, since the loop may be the one that is held. Code that
cannot be cancelled (a call in a worker thread, a shielded wait, a loop without an await) would else live on for ever
when the client has gone. (ACP v1, transports: the client ends an agent by closing its stdin.)
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

LEAVE_SECONDS: Final = 1.1
"""From the end of stdin until the process is ended: what ends by itself has ended by then."""


class Leash:
    """Calls `end` in its thread when the block is not left `LEAVE_SECONDS` after the end of stdin.

    The thread sees by itself when the other end of a pipe or socket is closed; `tighten` tells it of any other end.
    """

    def __init__(self, fd: int, end: Callable[[], None], *, seconds: float = LEAVE_SECONDS) -> None:
        self._fd: Final = os.dup(fd)
        self._end: Final = end
        self._milliseconds: Final = seconds * 1000
        self._told_in, self._told_out = os.pipe()
        self._tight = False
        self._thread: Final = threading.Thread(target=self._watch, name="leash", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._tight = True
        os.close(self._told_out)
        self._thread.join()
        for fd in (self._fd, self._told_in):
            os.close(fd)

    def tighten(self) -> None:
        """The program knows that it has to leave: from now on it has `LEAVE_SECONDS`. Only the first call counts."""
        if not self._tight:
            self._tight = True
            os.write(self._told_out, b".")

    def _watch(self) -> None:
        waiting = select.poll()
        waiting.register(self._told_in, select.POLLIN)
        waiting.register(self._fd, 0)  # a hang-up is reported always, and nothing else is asked for
        waiting.poll()
        waiting.unregister(self._fd)
        # A hang-up may be seen before the input in front of it was read: the program's own word begins a new term.
        while waiting.poll(self._milliseconds):
            if not os.read(self._told_in, 1):
                return  # the block was left
        self._end()
