"""A file that grows: its new whole lines, each time one asks. Owns what becomes of a file that is cut or replaced.

Not a loop: who waits, and how long, is the caller's.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

READ_BYTES: Final = 1024 * 1024


class Tail:
    """`began_anew` counts how often the file was cut or replaced: what came before is void then."""

    def __init__(self, path: Path) -> None:
        self.began_anew = 0
        self._path = path
        self._file: BinaryIO | None = None
        self._at = 0
        self._half = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def is_there(self) -> bool:
        """False while the file has not been seen."""
        return self._file is not None

    def read(self) -> list[bytes]:
        """Whole lines that are new, with their newlines; none where nothing is. Raises OSError but for "not there".

        Of a replaced file the old one's rest is read first, the new one from its start by the next call.
        """
        if self._file is None:
            with suppress(FileNotFoundError):
                self._file = self._path.open("rb")
            return [] if self._file is None else self.read()
        if os.fstat(self._file.fileno()).st_size < self._at:
            self._file.seek(0)
            self._begin_anew()
        data = self._file.read(READ_BYTES)
        if not data and self._is_replaced():
            self._file.close()
            self._file = None
            self._begin_anew()
            return []
        self._at += len(data)
        *lines, self._half = (self._half + data).split(b"\n")
        return [line + b"\n" for line in lines]

    def _is_replaced(self) -> bool:
        """True if another file has the name; one that is gone may come again."""
        assert self._file is not None  # the caller has it open
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False
        mine = os.fstat(self._file.fileno())
        return (now.st_dev, now.st_ino) != (mine.st_dev, mine.st_ino)

    def _begin_anew(self) -> None:
        self.began_anew += 1
        self._at = 0
        self._half = b""
