"""What the kernel says of this test's processes and descriptors, so that no test has to trust luck or a clock."""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from acp_client.process.guardian import GUARDIAN
from acp_client.process.spawn import MARKER_VARIABLE

REPO = Path(__file__).parents[2]

HEADLESS = """
import ctypes, os, signal, threading

signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a handler, such as that which measures coverage, needs the first thread

def live_on():
    while b") Z " not in open("/proc/self/stat", "rb").read():
        pass
    print(os.getpid(), flush=True)
    threading.Event().wait()

os.setsid()
threading.Thread(target=live_on).start()
ctypes.CDLL(None).pthread_exit(None)
"""
"""A program that leaves its session, ends its first thread, says its pid, and lives on: it looks like a zombie."""


def marked(text: str) -> dict[int, str]:
    """Living processes with `text` in the marker of their environment, or that of their guardian, and what they run."""
    found = {}
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208  # /proc
        environment = _of_a_thread(pid, "environ").split(b"\0")
        if any(e.startswith(MARKER_VARIABLE.encode()) and text.encode() in e for e in environment):
            found[pid] = _command(pid)
    return found


def named(text: object) -> list[str]:
    """What the living processes run whose command line has this in it (the test's own folder, say)."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208  # /proc
    return [command for pid in pids if str(text) in (command := _command(pid))]


def _command(pid: int) -> str:
    return _of_a_thread(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")


def _of_a_thread(pid: int, name: str) -> bytes:
    """What the first thread of a process shows that shows anything: one that has ended does not."""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                if shown := (thread / name).read_bytes():
                    return shown
    return b""


def is_alive(pid: int) -> bool:
    """Whether a process runs, be it without its first thread; a zombie does not."""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                if (thread / "stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X"):
                    return True
    return False


def zombies() -> list[int]:
    """Children of this process that have ended and were not waited for."""
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208  # /proc
        with suppress(OSError):
            state, parent = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[:2]
            if int(parent) == os.getpid() and state == b"Z" and not is_alive(pid):
                found.append(pid)
    return found


def descriptors() -> Counter[str]:
    """What kinds of descriptors this process has open, and how many of each."""
    found: Counter[str] = Counter()
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  # /proc
        with suppress(OSError):  # the one that lists them
            found[os.readlink(f"/proc/self/fd/{name}").partition(":")[0]] += 1  # noqa: PTH115  # no path
    return found


@contextmanager
def nothing_left() -> Iterator[None]:
    """Fail unless the block leaves no process of ours, no zombie and no descriptor; inside of one event loop."""
    token = GUARDIAN.token  # the guardian and its pipe are there before we count
    GUARDIAN.settle()
    before = descriptors()
    yield
    left = marked(token)
    assert not left, left
    assert zombies() == []
    assert descriptors() == before


async def run_parent(program: str, *arguments: Any) -> str:
    """Run a program that runs agents, in an interpreter of its own; what it printed. Fails unless it exits with 0."""
    import anyio  # noqa: PLC0415  # only here

    done = await anyio.run_process([sys.executable, "-c", program, *map(str, arguments)], cwd=REPO, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()
