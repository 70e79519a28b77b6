"""When the parent dies, its children must: one guardian process for each parent, told every group.

Owns the guardian: its start, its pipe and its program (this file, run with the standard library alone). It holds the
reading end of a pipe whose writing end only the parent has; EOF means that the parent is gone, however it went. Then
it ends the groups that it was told and, on Linux, every process that carries the token of this parent.

Chosen over PR_SET_PDEATHSIG by trial: that follows the *thread* which spawned (ours is a worker that comes and goes),
needs code between fork and exec (a slow fork), and does not reach a process that left the group. The guardian costs a
run one write to a pipe, and some 8 MB once. It is no child of the parent's (it forks once more and is adopted by init),
so that a parent that waits for all of its children does not wait for it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from typing import Final

TERM_SECONDS: Final = 0.5
"""What orphans get between SIGTERM and SIGKILL: together well under the two seconds that we promise."""
POLL_SECONDS: Final = 0.02
FINAL_SWEEPS: Final = 25
"""How often killed orphans are looked for again, in case one was just forking."""


class Guardian:
    """The parent's end. One per process, started with the first child, again after a fork. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe: int | None = None
        self._owner: int | None = None
        self._starter: int | None = None
        self._token = ""

    @property
    def token(self) -> str:
        """What marks the processes of this parent; another one after a fork."""
        with self._lock:
            self._ensure()
            return self._token

    def watch(self, pgid: int) -> None:
        """A group exists: end it if this process dies."""
        self._tell(f"+{pgid}\n")

    def forget(self, pgid: int) -> None:
        """A group is gone and swept."""
        self._tell(f"-{pgid}\n")

    def settle(self) -> None:
        """Wait for the process that started the guardian: a few milliseconds, once. Blocks; leaves no zombie."""
        with self._lock:
            self._reap(0)

    def after_fork(self) -> None:
        """In the child of a fork: another thread may have held the lock, and the pipe is the parent's alone."""
        self._lock = threading.Lock()
        self._starter = None
        self._close()

    def _tell(self, line: str) -> None:
        with self._lock:
            self._ensure()
            if self._pipe is None:
                return
            try:
                os.write(self._pipe, line.encode())  # below PIPE_BUF: whole or not at all
            except OSError:  # somebody ended the guardian: the next child starts another
                self._close()

    def _ensure(self) -> None:
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._token = os.urandom(8).hex()
        if self._pipe is None and sys.executable and not getattr(sys, "frozen", False):
            self._start()
        self._reap(os.WNOHANG)

    def _start(self) -> None:
        import subprocess  # noqa: PLC0415  # not in the guardian itself, which must start in a few milliseconds

        reading, writing = os.pipe()
        try:
            process = subprocess.Popen(  # noqa: S603  # our own interpreter and file
                [sys.executable, "-I", "-S", __file__, self._token],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
            )
        except OSError:  # no process or descriptor left: the run that needed it says so itself
            os.close(writing)
        else:
            process.returncode = 0  # waited for in _reap, not by Popen
            self._starter = process.pid
            self._pipe = writing
        finally:
            os.close(reading)

    def _reap(self, flags: int) -> None:
        if self._starter is not None:
            with contextlib.suppress(ChildProcessError):  # the program waited for all of its children: done for us
                if os.waitpid(self._starter, flags)[0] == 0:
                    return
            self._starter = None

    def _close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
        self._pipe = None


GUARDIAN: Final = Guardian()
os.register_at_fork(after_in_child=GUARDIAN.after_fork)


def carriers(token: str) -> list[int]:
    """Processes whose environment holds the token (Linux; elsewhere none)."""
    wanted = token.encode()
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208  # no pathlib in the guardian: it must start at once
            if name.isdigit():
                with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                    if wanted in file.read():
                        found.append(int(name))
    return found


def signal_all(groups: set[int], token: str, number: int) -> bool:
    """Signal every group and every carrier of the token; True if there was any."""
    alive = False
    for pgid in groups:
        with contextlib.suppress(OSError):
            os.killpg(pgid, number)
            alive = True
    for pid in carriers(token):
        with contextlib.suppress(OSError):
            os.kill(pid, number)
            alive = True
    return alive


def read_groups() -> set[int]:
    """The groups that are left when the parent's end of the pipe closes."""
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    return groups


def main() -> None:
    """The guardian's program: `guardian.py TOKEN`, groups on stdin."""
    if os.fork():
        os._exit(0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    token = sys.argv[1]
    groups = read_groups()
    if signal_all(groups, token, signal.SIGTERM):
        deadline = time.monotonic() + TERM_SECONDS
        while time.monotonic() < deadline and signal_all(groups, token, 0):
            time.sleep(POLL_SECONDS)
    for _ in range(FINAL_SWEEPS):
        if not signal_all(groups, token, signal.SIGKILL):
            break
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()
