"""File descriptors: made non-blocking where they can be waited for, written without the signal that ends a program."""

from __future__ import annotations

import inspect
import os
import signal
import stat
from typing import Final

_getsignal: Final = inspect.unwrap(signal.getsignal)
"""Without the conversion to an enum, which takes longer than a small write."""


def write_quietly(fd: int, data: bytes | memoryview) -> int:
    """`os.write` that raises BrokenPipeError even where the program has SIGPIPE at its default, which would end it."""
    if _getsignal(signal.SIGPIPE) != signal.SIG_DFL:
        return os.write(fd, data)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        return os.write(fd, data)
    except BrokenPipeError:
        signal.sigtimedwait({signal.SIGPIPE}, 0)  # it is pending for this thread: taken, before it can act
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def make_non_blocking(fd: int) -> bool:
    """True if the descriptor can be waited for. A terminal can, but stays as it is: others read it too."""
    mode = os.fstat(fd).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        os.set_blocking(fd, False)
        return True
    return os.isatty(fd)
