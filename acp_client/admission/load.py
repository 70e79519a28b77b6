"""Whether a process wants to run now (Linux `/proc`); elsewhere nobody can say."""

from __future__ import annotations

import os


def is_busy(pid: int) -> bool | None:
    """One of its threads runs, waits for its turn, or for the disk; None where it cannot be looked at, or has gone."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  # pathlib is not worth its import here
            with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:  # noqa: PTH123
                if file.read().rpartition(b") ")[2][:1] in (b"R", b"D"):
                    return True
    except OSError:
        return None
    return False
