"""Which process waits for an answer, and whether it is still there.

A process is known by its host, that host's boot, its pid namespace, its pid, and the moment it started (Linux, /proc),
so that a pid that was given again is not taken for it. Elsewhere than on Linux the pid alone must do: a request whose
pid was given again then waits until it expires. What cannot be known (another host, another container, somebody else's
process behind `hidepid`) counts as there.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass
from typing import Final

STATE: Final = 0
THREADS: Final = 17
STARTED: Final = 19
"""Fields of /proc/PID/stat, counted from `state`, which is the first after the program's name."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process. Empty texts are what this system does not tell."""

    host: str
    boot: str
    namespace: str
    pid: int
    started: str

    def to_json(self) -> str:
        """One line, the same each time."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Owner | None:
        """None for what is no owner of ours."""
        try:
            found = json.loads(text)
            return cls(**{**found, "pid": int(found["pid"])})
        except (TypeError, ValueError, OverflowError, KeyError):
            return None


def this_process() -> Owner:
    """Us."""
    pid = os.getpid()
    fields = _stat(pid)
    return Owner(
        host=socket.gethostname(),
        boot=_text("/proc/sys/kernel/random/boot_id"),
        namespace=_namespace(),
        pid=pid,
        started=fields[STARTED] if fields else "",
    )


def is_gone(owner: Owner, here: Owner) -> bool:
    """True if the process has certainly ended, as seen by `here`."""
    if owner.host != here.host:
        return False
    if owner.boot != here.boot:
        return bool(owner.boot and here.boot)
    if owner.namespace != here.namespace:
        return False
    fields = _stat(owner.pid)
    if not fields:
        return not _exists(owner.pid)
    ended = fields[STATE] in ("Z", "X") and int(fields[THREADS]) <= 1
    return ended or (owner.started != "" and fields[STARTED] != owner.started)


def _exists(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def _stat(pid: int) -> list[str]:
    """Empty where it cannot be read."""
    return _text(f"/proc/{pid}/stat").rpartition(") ")[2].split()


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115  # a name, no path
    except OSError:
        return ""


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # pathlib is slower at this
            return file.read().strip()
    except OSError:
        return ""
