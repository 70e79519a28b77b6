"""Start a process: own session, three pipes, exactly the environment it was given. POSIX only, and says so here.

Owns the moment between "not there" and "there"; closes every descriptor that it opened when it fails. Blocks for about
a millisecond (vfork and exec), so it is called in a worker thread. No event loop, no watcher, no shell.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from acp_client.process.guardian import GUARDIAN
from acp_client.process.table import Tree, belongs_to, survivors_now

MARKER_VARIABLE: Final = "ACP_SUBAGENTS_RUN"
"""In the environment of every process of a run: a path of run ids, ours last, so that a run is found whole."""


DISCARD_SECONDS: Final = 1.0
"""How long the kernel may take to end a process that has just begun."""
DISCARD_POLL_SECONDS: Final = 0.002


class SpawnError(Exception):
    """The process could not be started; the message says what failed, where, and what to do."""


@dataclass(frozen=True, slots=True)
class Spawned:
    """A process that was started, the leader of its own session and group; its descriptors belong to the caller.

    Our ends of its pipes do not block.
    """

    pid: int
    stdin: int
    stdout: int
    stderr: int
    pidfd: int | None
    marker: str


def launch(command: Sequence[str], *, cwd: str, env: Mapping[str, str], run_id: str) -> Spawned:
    """`spawn` with the run's marker in the environment, after those of the runs around it."""
    marker = f"{GUARDIAN.token}-{run_id}"
    path = ":".join(filter(None, (os.environ.get(MARKER_VARIABLE), marker)))
    return spawn(command, cwd=cwd, env={**env, MARKER_VARIABLE: path}, marker=marker)


def spawn(command: Sequence[str], *, cwd: str, env: Mapping[str, str], marker: str) -> Spawned:
    """Start `command` in `cwd` with exactly `env`. Raises SpawnError.

    `marker` stands in the environment of the run's processes and of no others: whoever has it is ended with the run.

    The group is told to the guardian as soon as it exists, so that it does not outlive a killed parent.
    """
    pipes: list[int] = []
    try:
        for _ in range(3):
            pipes += os.pipe()
        child_in, our_in, our_out, child_out, our_err, child_err = pipes
        process = subprocess.Popen(  # noqa: S603  # argv as given by the caller, never a shell
            list(command),
            stdin=child_in,
            stdout=child_out,
            stderr=child_err,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        _close(*pipes)
        raise SpawnError(explain(error, command, cwd)) from error
    # It is ours to wait for: Popen must neither poll it nor warn that it was not waited for.
    process.returncode = 0
    _close(child_in, child_out, child_err)
    for fd in (our_in, our_out, our_err):
        os.set_blocking(fd, False)
    GUARDIAN.watch(process.pid)
    return Spawned(process.pid, our_in, our_out, our_err, open_pidfd(process.pid), marker)


def discard(spawned: Spawned) -> None:
    """End a process that nobody will run, a moment after its start. Blocks, for `DISCARD_SECONDS` at the most."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(spawned.pid, signal.SIGKILL)
    _close(spawned.stdin, spawned.stdout, spawned.stderr)
    if spawned.pidfd is not None:
        _close(spawned.pidfd)
    give_up_at = time.monotonic() + DISCARD_SECONDS
    while _kill_escaped(Tree(spawned.pid, spawned.marker)) and time.monotonic() < give_up_at:
        time.sleep(DISCARD_POLL_SECONDS)
    with suppress(ChildProcessError):
        while os.waitid(os.P_PID, spawned.pid, os.WEXITED | os.WNOHANG) is None and time.monotonic() < give_up_at:
            time.sleep(DISCARD_POLL_SECONDS)
    GUARDIAN.forget(spawned.pid)


def _kill_escaped(tree: Tree) -> bool:
    """Kill what a process has started before it was killed, also what has left its group; False if there is nobody."""
    pids, unclear = survivors_now(tree)
    for pid in pids:
        pidfd = open_pidfd(pid)
        if pidfd is not None:
            with suppress(OSError):  # it has gone meanwhile
                if belongs_to(tree, pid):  # looked at again: the descriptor keeps the identity
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.close(pidfd)
    return bool(pids or unclear)


def open_pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where the platform has none (or none left)."""
    try:
        return os.pidfd_open(pid)  # Linux 5.3
    except (AttributeError, OSError):
        return None


def _close(*fds: int) -> None:
    for fd in fds:
        os.close(fd)


def explain(error: Exception, command: Sequence[str], cwd: str) -> str:
    """One line: what failed, the rule, the correction."""
    program = command[0]
    code = error.errno if isinstance(error, OSError) else None
    if not os.path.isdir(cwd):  # noqa: PTH112  # cwd is text that may be no path at all
        return f"cannot start {program!r}: the working directory {cwd!r} is not there or no directory; create it"
    if not os.access(cwd, os.X_OK):
        return f"cannot start {program!r}: the working directory {cwd!r} cannot be entered; check its permissions"
    if code == errno.ENOENT:
        return f"cannot start {program!r}: no such program; {_correction(command)}"
    where = "found on PATH" if os.sep not in program else f"seen from {cwd!r}"
    if code in (errno.EACCES, errno.EPERM, errno.ENOTDIR):
        return f"cannot start {program!r}: not an executable file ({where}); check its path and permissions"
    if code == errno.ENOEXEC:
        return f"cannot start {program!r}: not a program the system can run; a script needs a '#!' line"
    if code in (errno.EMFILE, errno.ENFILE):
        return f"cannot start {program!r}: no file descriptors left ({error}); raise the limit or run fewer at once"
    if code in (errno.EAGAIN, errno.ENOMEM):
        return f"cannot start {program!r}: the system refuses another process ({error}); run fewer at once"
    return f"cannot start {program!r} in {cwd!r}: {error}"


def _correction(command: Sequence[str]) -> str:
    """What to do about a program that is not there."""
    program = command[0]
    if len(command) == 1 and " " in program:
        return "command is a list of arguments, not one string with blanks"
    if program.startswith("~"):
        return "`~` is a shell's, write the whole path"
    return "install it or give its full path" if os.sep not in program else "check the path"
