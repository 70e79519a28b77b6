"""The socket of a run and the folder that it lies in: made, waited at, full, and removed after a kill."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from acp_client.host_tools.folder import PREFIX, STALE_SECONDS, make_folder, remove_stale
from acp_client.host_tools.link import Link, accept, listen
from tests.support.kernel import descriptors

SECONDS = 10.0


async def connect(path: Path) -> anyio.abc.SocketStream:
    """A client."""
    return await anyio.connect_unix(str(path))


def test_a_path_that_cannot_be_bound_is_an_oserror_and_leaves_no_descriptor(tmp_path: Path) -> None:
    """Of which the run makes its result."""
    before = descriptors()
    with pytest.raises(OSError, match=r"\S"):
        listen(tmp_path / "gone" / "s")
    assert descriptors() == before


async def test_a_connection_that_somebody_else_took_is_waited_for_again() -> None:
    """Two may wait at one listener, and one of them gets it."""
    folder = make_folder()
    links: list[Link] = []

    async def take(listener: object) -> None:
        links.append(await accept(listener))  # type: ignore[arg-type]  # a socket

    try:
        with anyio.fail_after(SECONDS), listen(folder.socket) as first, first.dup() as second:
            async with anyio.create_task_group() as tasks:
                for listener in (first, second):
                    tasks.start_soon(take, listener)
                await anyio.wait_all_tasks_blocked()
                async with await connect(folder.socket), await connect(folder.socket):
                    while len(links) < 2:
                        await anyio.wait_all_tasks_blocked()
        for link in links:
            link.close()
    finally:
        folder.remove()


async def test_without_descriptors_a_connection_is_taken_as_soon_as_there_is_one() -> None:
    """It waits in the kernel's queue."""
    folder = make_folder()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        with anyio.fail_after(SECONDS), listen(folder.socket) as listener:
            async with await connect(folder.socket), anyio.create_task_group() as tasks:
                next_one = os.dup(0)
                os.close(next_one)
                resource.setrlimit(resource.RLIMIT_NOFILE, (next_one, hard))
                tasks.start_soon(_take_and_close, listener)
                await anyio.wait_all_tasks_blocked()
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        folder.remove()


async def _take_and_close(listener: object) -> None:
    (await accept(listener)).close()  # type: ignore[arg-type]  # a socket


# ---- the folder

KILLED = """
import os, signal
from acp_client.host_tools.folder import make_folder
from acp_client.host_tools.link import listen
folder = make_folder()
listen(folder.socket)
print(folder.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
MAKES = """
from acp_client.host_tools.folder import make_folder
make_folder().remove()
"""


def age(path: Path) -> None:
    """As if it had been made long ago."""
    long_ago = time.time() - STALE_SECONDS - 1
    os.utime(path, (long_ago, long_ago))


def test_what_a_killed_program_left_goes_with_the_next_folder_that_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in use stays, however old; so does what is new, somebody else's or holds more than our socket."""
    with tempfile.TemporaryDirectory() as temporary:  # whose path is short
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        used = make_folder()
        other, full, file = (Path(temporary, name) for name in ("other", PREFIX + "full", PREFIX + "file"))
        for path in (other, full):
            path.mkdir()
        (full / "s").touch()
        (full / "more").touch()
        file.touch()
        Path(temporary, PREFIX + "link").symlink_to(other)
        killed = [_program(KILLED, temporary, exit_code=-signal.SIGKILL) for _ in range(2)]
        for path in (used.path, other, full, file, Path(killed[0])):
            age(path)
        _program(MAKES, temporary)
        left = {entry.name for entry in Path(temporary).iterdir()}
        assert left == {used.path.name, Path(killed[1]).name, *("other", file.name, full.name, PREFIX + "link")}
        assert [entry.name for entry in full.iterdir()] == ["more"]
        age(Path(killed[1]))
        remove_stale(temporary, now=time.time())
        assert used.socket.parent.exists()
        assert not Path(killed[1]).exists()
        used.remove()
        assert not used.path.exists()


def _program(text: str, temporary: str, *, exit_code: int = 0) -> str:
    env = os.environ | {"TMPDIR": temporary}
    done = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, timeout=SECONDS, check=False)
    assert done.returncode == exit_code, done.stderr.decode()
    return done.stdout.decode().strip()


def test_where_nothing_can_be_looked_at_nothing_is_removed(tmp_path: Path) -> None:
    """And no run fails for it."""
    remove_stale(str(tmp_path / "gone"), now=time.time())
