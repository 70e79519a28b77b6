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
from collections.abc import Iterator
from typing import Final

TERM_SECONDS: Final = 0.5
"""What orphans get between SIGTERM and SIGKILL: together well under the two seconds that we promise."""
KILL_SECONDS: Final = 0.8
"""How long orphans are looked for after that."""
POLL_SECONDS: Final = 0.02
QUIET_LOOKS: Final = 5
"""So often in a row nobody must be found: the parent may have died between vfork and exec of one more."""
PAUSE_SECONDS: Final = 0.25
"""How long the parent's lines are left in the pipe, which holds some thousand."""
PIPE_BYTES: Final = 64 * 1024
SETTLE_SECONDS: Final = 1.0
"""The most that the guardian's start is waited for; a bare interpreter takes some 20 ms."""

LOADER_VARIABLES: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""All of the environment that the guardian gets: some interpreters do not start without."""


class Guardian:
    """The parent's end. One per process, started with the first child, again after a fork. Safe from any thread.

    Nothing here waits for the guardian: one that is stopped, or was ended by hand, holds up no run. The latter is
    noticed with the next group, and another one is started and told all groups.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe: int | None = None
        self._owner: int | None = None
        self._starters: set[int] = set()
        self._token = ""
        self._groups: set[int] = set()
        self._unsent = b""

    @property
    def token(self) -> str:
        """What marks the processes of this parent; another one after a fork."""
        with self._lock:
            self._ensure()
            return self._token

    def watch(self, pgid: int) -> None:
        """A group exists: end it if this process dies."""
        with self._lock:
            self._tell(f"+{pgid}\n")
            self._groups.add(pgid)

    def forget(self, pgid: int) -> None:
        """A group is gone and swept."""
        with self._lock:
            self._groups.discard(pgid)
            self._tell(f"-{pgid}\n")

    def settle(self) -> None:
        """Wait for the process that started the guardian: a few milliseconds, once. Blocks; leaves no zombie."""
        give_up_at = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < give_up_at:
            with self._lock:
                self._reap()
                if not self._starters:
                    return
            time.sleep(POLL_SECONDS / 10)

    def after_fork(self) -> None:
        """In the child of a fork: another thread may have held the lock, and the pipe is the parent's alone."""
        self._lock = threading.Lock()
        self._disown()

    def _disown(self) -> None:
        self._starters = set()
        self._groups = set()
        self._close()

    def _ensure(self) -> None:
        if self._owner != os.getpid():  # also where a fork has passed by our hook
            self._disown()
            self._owner = os.getpid()
            self._token = os.urandom(8).hex()
        if self._pipe is None and sys.executable and not getattr(sys, "frozen", False):
            self._start()
        self._reap()

    def _tell(self, line: str) -> None:
        self._ensure()
        if self._pipe is not None and not self._send(line):  # somebody has ended it
            self._close()
            self._ensure()
            self._send(line)

    def _send(self, line: str) -> bool:
        """Write what the pipe takes; the rest follows with the next line. False if nobody reads it."""
        if self._pipe is None:
            return False
        from acp_client.loop.descriptors import write_quietly  # noqa: PLC0415  # not in the guardian itself

        self._unsent += line.encode()
        try:
            self._unsent = self._unsent[write_quietly(self._pipe, self._unsent) :]
        except BlockingIOError:  # it is stopped: closing would make it believe, later, that we are dead
            pass
        except OSError:
            return False
        return True

    def _start(self) -> None:
        import subprocess  # noqa: PLC0415  # not in the guardian itself, which must start in a few milliseconds

        try:
            reading, writing = os.pipe()
        except OSError:  # no descriptor left: the run that needed it says so itself
            return
        try:
            process = subprocess.Popen(  # noqa: S603  # our own interpreter and file
                [sys.executable, "-I", "-S", __file__, self._token],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in LOADER_VARIABLES if name in os.environ},
                start_new_session=True,
            )
        except (OSError, subprocess.SubprocessError):  # no process or descriptor left, likewise
            os.close(writing)
        else:
            process.returncode = 0  # waited for in _reap, not by Popen
            self._starters.add(process.pid)
            os.set_blocking(writing, False)
            self._pipe = writing
            self._send("".join(f"+{pgid}\n" for pgid in self._groups))
        finally:
            os.close(reading)

    def _reap(self) -> None:
        for pid in tuple(self._starters):
            with contextlib.suppress(ChildProcessError):  # the program waited for all of its children: done for us
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    continue
            self._starters.discard(pid)

    def _close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
        self._pipe = None
        self._unsent = b""


GUARDIAN: Final = Guardian()
os.register_at_fork(after_in_child=GUARDIAN.after_fork)


def members(groups: set[int], token: str) -> list[int]:
    """Processes in the sessions of the groups, and those whose environment holds the token (Linux; elsewhere none)."""
    wanted = token.encode()
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208  # pathlib is not worth its import here
            if name.isdigit():
                with contextlib.suppress(OSError):
                    if os.getsid(int(name)) in groups or _carries(name, wanted):
                        found.append(int(name))
    return found


def _carries(pid: str, token: bytes) -> bool:
    """Whether its environment holds it. Where its first thread has ended, another one still shows it."""
    for folder in (f"/proc/{pid}", *(f"/proc/{pid}/task/{thread}" for thread in os.listdir(f"/proc/{pid}/task"))):  # noqa: PTH208
        with contextlib.suppress(OSError), open(f"{folder}/environ", "rb") as file:  # noqa: PTH123
            if environment := file.read():
                return token in environment
    return False


def signal_all(groups: set[int], token: str, number: int) -> bool:
    """Signal every group, and whoever else is a member; True if there was any."""
    alive = False
    for pgid in groups:
        with contextlib.suppress(OSError):
            os.killpg(pgid, number)
            alive = True
    for pid in members(groups, token):
        with contextlib.suppress(OSError):
            os.kill(pid, number)
            alive = True
    return alive


def end_all(groups: set[int], token: str) -> None:
    """SIGTERM, its grace, and SIGKILL until nobody is found any more. Bounded."""
    if signal_all(groups, token, signal.SIGTERM):
        give_up_at = time.monotonic() + TERM_SECONDS
        while time.monotonic() < give_up_at and signal_all(groups, token, 0):
            time.sleep(POLL_SECONDS)
    give_up_at = time.monotonic() + KILL_SECONDS
    quiet = 0
    while quiet < QUIET_LOOKS and time.monotonic() < give_up_at:
        quiet = 0 if signal_all(groups, token, signal.SIGKILL) else quiet + 1
        time.sleep(POLL_SECONDS)


def read_groups(pipe: int) -> set[int]:
    """The groups that are left when the parent's end of the pipe closes."""
    groups: set[int] = set()
    rest = b""
    for data in _read_together(pipe):
        *lines, rest = (rest + data).split(b"\n")  # a torn last line would name a stranger's group
        for line in lines:
            (groups.add if line.startswith(b"+") else groups.discard)(int(line[1:]))
    return groups


def _read_together(pipe: int) -> Iterator[bytes]:
    """What comes within a pause, in one piece; the end at once. To be woken by each line would cost runs a core."""
    import select  # noqa: PLC0415  # in the guardian alone

    os.set_blocking(pipe, False)
    poller = select.poll()
    while True:
        poller.register(pipe, select.POLLIN)
        poller.poll()
        poller.register(pipe, 0)  # the end is told all the same
        poller.poll(PAUSE_SECONDS * 1000)
        data = os.read(pipe, PIPE_BYTES)
        if not data:
            return
        yield data


def main() -> None:
    """The guardian's program: `guardian.py TOKEN`, groups on stdin."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    token = sys.argv[1]
    end_all(read_groups(0), token)


if __name__ == "__main__":
    main()
