"""The file of one transcript: whole lines or none, and no fault of the disk is a fault of the run.

Owns the descriptor. Blocks: belongs to the writer's thread. A batch that cannot be written is counted and taken back to
the last whole line; what is written next says how many frames are missing.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from acp_client.record.format.lines import LOST, Note, encode_line
from acp_client.record.place import FILE_MODE, FOLDER_MODE, Place

OVER_BOUND: Final = "the transcript is over its bound"
"""Why frames are missing, where nothing else failed."""

Write = Callable[[int, bytes], int]


def _nothing() -> None:
    """There is room."""


class RecordFile:
    """Open it, add lines, close it. `fault` is the first thing that went wrong, in words, else empty."""

    def __init__(self, place: Place, make_room: Callable[[], None] = _nothing, write: Write = os.write) -> None:
        self.place: Final = place
        self._make_room = make_room
        self.fault = ""
        self._fd = -1
        self._write = write
        self._size = 0
        self._lost = 0
        self._over = False  # no frame is written any more
        self._regular = True

    @property
    def is_missing(self) -> bool:
        """True once it is known that there is no file."""
        return bool(self.fault) and self._fd < 0

    def open(self) -> None:
        """Make the folder and the file. A fault is kept, not raised."""
        path = self.place.path
        try:
            if not self.place.replaces:
                _make_folder(path.parent)
                self._make_room()
            how = os.O_TRUNC if self.place.replaces else os.O_EXCL | os.O_NOFOLLOW
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | how, FILE_MODE)
            self._regular = stat.S_ISREG(os.fstat(self._fd).st_mode)
            if self._regular:
                os.fchmod(self._fd, FILE_MODE)
                with suppress(OSError):  # a file system without locks: nothing is removed there while it is full
                    fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._fail(error)

    def add(self, lines: Sequence[bytes], *, t: float, always: bool = False) -> None:
        """Write them, in one piece; or none of them, which is counted. `always`: also over the bound."""
        if not lines or self._fd < 0:
            return
        data = b"".join(lines)
        bound = self.place.max_bytes
        if bound is not None and not always and (self._over or self._size + len(data) > bound):
            self._lose_over_bound(lines, bound, t)
            return
        if self._lost:
            data = _lost_line(self._lost, self.fault or OVER_BOUND, t) + data
        try:
            self._write_all(data)
        except OSError as error:
            self._lost += len(lines)
            self._fail(error)
        else:
            self._size += len(data)
            self._lost = 0

    def close(self) -> bool:
        """True if the transcript is where it should be: it was opened, and nobody has taken it away."""
        if self._fd < 0:
            return False
        try:
            there = os.path.samestat(self.place.path.stat(), os.fstat(self._fd))
        except OSError:
            there = False
        os.close(self._fd)
        self._fd = -1
        if not there:
            self.fault = self.fault or "the transcript was taken away while the run went on"
        elif self._lost:
            self.fault = self.fault or OVER_BOUND
        return there

    def _lose_over_bound(self, lines: Sequence[bytes], bound: int, t: float) -> None:
        """Those that still fit are written; no line comes after one that is missing."""
        fitting = 0
        size = self._size
        for line in lines:
            if self._over or (size := size + len(line)) > bound:
                break
            fitting += 1
        self.add(lines[:fitting], t=t)
        self._lost += len(lines) - fitting
        self._over = True

    def _write_all(self, data: bytes) -> None:
        rest = data
        while rest:
            written = self._write(self._fd, rest)
            rest = rest[written:]

    def _fail(self, error: OSError) -> None:
        self.fault = self.fault or f"the transcript could not be written: {error.strerror or type(error).__name__}"
        if self._fd >= 0 and self._regular:
            with suppress(OSError):  # a line is whole or it is not there
                os.ftruncate(self._fd, self._size)


def _lost_line(frames: int, why: str, t: float) -> bytes:
    return encode_line(Note(kind=LOST, fields={"frames": frames, "why": why}, t=t))


def _make_folder(folder: os.PathLike[str]) -> None:
    """With its parents; those that we make are for nobody else."""
    path = os.fspath(folder)
    missing = []
    while path and not os.path.isdir(path):  # noqa: PTH112  # text, up to the root
        missing.append(path)
        path = os.path.dirname(path)  # noqa: PTH120  # likewise
    for made in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(made, FOLDER_MODE)  # noqa: PTH102  # likewise
