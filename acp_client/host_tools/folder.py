"""The private folder that a socket lies in: made for one run, gone with it, or with the next if its program was killed.

Owns the folder's name, its lock and what may be removed. A folder is in use as long as its maker holds the lock, which
the kernel lets go of however that program ends.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PREFIX: Final = "acp-tools-"
SOCKET: Final = "s"
MAX_PATH_BYTES: Final = 100
"""Of the socket's path: the kernel takes 107, some 103."""
STALE_SECONDS: Final = 60.0
"""So old is a folder that nobody uses before it is removed: a new one is not locked yet."""

_SEEN: Final[set[str]] = set()
"""Where this program has looked: once, since a temporary folder may be large."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_ROOM: Final = len(f"/{PREFIX}12345678/{SOCKET}")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that only this user may enter. `lock` is the descriptor of it by which others see that it is in use."""

    path: Path
    lock: int

    @property
    def socket(self) -> Path:
        """Where the socket is to lie."""
        return self.path / SOCKET

    def remove(self) -> None:
        """Gone, with the socket. Blocks, for less than a turn of the loop; never raises. Once only."""
        _empty(self.path, self.lock)
        os.close(self.lock)


def make_folder() -> Folder:
    """A new one in the temporary folder, or in /tmp where that is too deep for a socket. Blocks; raises OSError."""
    parent = tempfile.gettempdir()
    if len(os.fsencode(parent)) + _ROOM > MAX_PATH_BYTES:
        parent = "/tmp"  # noqa: S108  # a private folder is made in it
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    try:
        lock = os.open(path, _FOLDER)
    except OSError:
        path.rmdir()
        raise
    if parent not in _SEEN:
        _SEEN.add(parent)
        remove_stale(parent, now=os.fstat(lock).st_mtime)
    with suppress(OSError):  # a file system without locks: then nobody finds it stale either
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return Folder(path, lock)


def remove_stale(parent: str, *, now: float) -> None:
    """Remove what killed programs of this user have left there. `now` is of that file system. Blocks; never raises."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                with suppress(OSError):  # another user's, no folder, or gone
                    _remove_if_stale(Path(entry.path), now)


def _remove_if_stale(path: Path, now: float) -> None:
    lock = os.open(path, _FOLDER)
    try:
        found = os.fstat(lock)
        if found.st_uid == os.geteuid() and now - found.st_mtime > STALE_SECONDS:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises BlockingIOError: it is in use
            _empty(path, lock)
    finally:
        os.close(lock)


def _empty(path: Path, opened: int) -> None:
    """Nothing but our socket is removed: whatever else may lie there keeps the folder."""
    with suppress(OSError):
        os.unlink(SOCKET, dir_fd=opened)
    with suppress(OSError):
        path.rmdir()
