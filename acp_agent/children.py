"""End what the agent started itself, before it goes: its descendants, found on Linux through `/proc`.

Owns nothing but this last sweep. Elsewhere than on Linux an agent ends its own children.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Final

import anyio

TERM_SECONDS: Final = 0.3
"""Between SIGTERM and SIGKILL for our own children: we have promised to be gone within a second."""
POLL_SECONDS: Final = 0.01


def descendants(root: int) -> list[int]:
    """Living descendants of a process, nearest first."""
    parents: dict[int, list[int]] = {}
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208  # pathlib costs more than the look
            if name.isdigit():
                with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    state, parent = file.read().rpartition(b")")[2].split(maxsplit=2)[:2]
                    if state not in (b"Z", b"X"):
                        parents.setdefault(int(parent), []).append(int(name))
    found: list[int] = []
    queue = [root]
    while queue:
        children = parents.get(queue.pop(0), [])
        found += children
        queue += children
    return found


async def end_children() -> None:
    """SIGTERM, a moment, SIGKILL. Bounded by `TERM_SECONDS`; returns at once where there are none."""
    pids = descendants(os.getpid())
    _signal(pids, signal.SIGTERM)
    with anyio.move_on_after(TERM_SECONDS):
        while pids and descendants(os.getpid()):  # noqa: ASYNC110  # nothing tells of the end of a grandchild
            await anyio.sleep(POLL_SECONDS)
    kill_children()


def kill_children() -> None:
    """SIGKILL at once; for those who cannot wait."""
    _signal(descendants(os.getpid()), signal.SIGKILL)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)
