"""The `subagent` command. Owns its entry: standard streams that exist, and an exit code for every way out.

Nothing heavy is imported here: an interrupt while the rest is being loaded ends as quietly as a later one.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, TextIO

SIGNALLED: Final = 128
"""A program that a signal ended has this plus the signal's number as its exit code, as shells count."""
BROKEN_PIPE: Final = SIGNALLED + signal.SIGPIPE
"""Nobody reads our stdout any more (`| head`): what a C program in its place would end with."""
INTERRUPTED: Final = SIGNALLED + signal.SIGINT
OUTPUT_FAILED: Final = 1
"""The answer could not be written (a full disk)."""
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""What a disk says that takes no more."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line (default: this process's) and return its exit code. Raises nothing for a wrong one."""
    _ensure_streams()
    try:
        with loading():
            from acp_client.cli.command import execute  # noqa: PLC0415  # click only inside of the handlers below

        code = execute(argv)
        sys.stdout.flush()
        if argv is None:
            gc.freeze()  # the program ends: its memory goes as a whole
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        discard(sys.stdout)
        return BROKEN_PIPE
    except OSError as error:
        if error.errno not in FULL:
            raise
        discard(sys.stdout)
        complain(f"failed   stdout cannot be written to: {error.strerror}")
        return OUTPUT_FAILED
    return code


@contextmanager
def loading() -> Iterator[None]:
    """While modules are imported nothing is collected: none of it is garbage, and looking takes a tenth of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.freeze()
            gc.enable()


def complain(text: str) -> None:
    """A line on stderr; nowhere if that cannot be written to either."""
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """What Python still has in its buffer goes nowhere, and without a complaint at exit."""
    with suppress(OSError, ValueError):  # no descriptor left, or not one of ours: then it may complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _ensure_streams() -> None:
    """A closed standard descriptor would be given to the first pipe of a child, and we would write into that."""
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            while (opened := os.open(os.devnull, os.O_RDWR)) < fd:
                pass  # the lowest free one comes first: fill up to ours
            setattr(sys, name, open(opened, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # for good
