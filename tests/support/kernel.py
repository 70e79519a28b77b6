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


def marked(text: str) -> dict[int, str]:
    """Living processes with `text` in the marker of their environment, or that of their guardian, and what they run."""
    found = {}
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208  # /proc
        with suppress(OSError):
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if any(e.startswith(MARKER_VARIABLE.encode()) and text.encode() in e for e in environment):
                found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def named(text: object) -> list[str]:
    """What the living processes run whose command line has this in it (the test's own folder, say)."""
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208  # /proc
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(text) in command:
                found.append(command)
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    return False


def zombies() -> list[int]:
    """Children of this process that have ended and were not waited for."""
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208  # /proc
        with suppress(OSError):
            state, parent = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[:2]
            if int(parent) == os.getpid() and state == b"Z":
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
    assert marked(token) == {}
    assert zombies() == []
    assert descriptors() == before


async def run_parent(program: str, *arguments: Any) -> str:
    """Run a program that runs agents, in an interpreter of its own; what it printed. Fails unless it exits with 0."""
    import anyio  # noqa: PLC0415  # only here

    done = await anyio.run_process([sys.executable, "-c", program, *map(str, arguments)], cwd=REPO, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()
