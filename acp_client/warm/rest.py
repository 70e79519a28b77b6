"""When a process is at rest (Linux `/proc`): some load the rest of themselves once they have answered.

Owns looking; elsewhere than on Linux every process counts as at rest, and SIGKILL is not seen before it has worked.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Final

import anyio

from acp_client.admission.load import is_busy

LOOK_SECONDS: Final = 0.01
QUIET_LOOKS: Final = 3
"""So often in a row no thread of it must want to run."""
SETTLE_SECONDS: Final = 5.0
"""Then it is taken for one that never rests."""


async def settle(pid: int) -> None:
    """Return when the process rests, or after `SETTLE_SECONDS`. Safe to cancel."""
    quiet = 0
    with anyio.move_on_after(SETTLE_SECONDS):
        while quiet < QUIET_LOOKS:
            await anyio.sleep(LOOK_SECONDS)
            quiet = 0 if is_busy(pid) else quiet + 1


def is_gone(pid: int) -> bool:
    """A child of ours has ended, or is about to, though our loop may not have been told."""
    with suppress(ChildProcessError):
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return ended or _is_killed(pid)
    return True


def _is_killed(pid: int) -> bool:
    """SIGKILL is on its way to it."""
    with suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123
        pending = [int(line.split()[1], 16) for line in file if line.startswith((b"SigPnd:", b"ShdPnd:"))]
        return any(mask >> (signal.SIGKILL - 1) & 1 for mask in pending)
    return False
