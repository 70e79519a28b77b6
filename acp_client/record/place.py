"""Where the transcript of a run goes: a folder, a tree of folders, or one file; and how much may be there.

Owns the names of files and folders, what a child inherits, and which old transcripts make room for new ones. A run that
is still written has a lock on its file; the others are finished, or their parent was killed.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from acp_client.record.format.lines import SUFFIX, TRANSCRIPTS_KEY

TRANSCRIPTS_VARIABLE: Final = "ACP_SUBAGENTS_TRANSCRIPTS"
"""The folder for the transcripts of runs that a process starts, named by the id of the run around it."""

_OURS: Final = re.compile(rf"[0-9a-f]{{32}}{re.escape(SUFFIX)}")
"""Only files that are called as ours are ever removed."""

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one run's transcript goes. `children` is the folder for the runs that its agent starts."""

    path: Path
    children: Path
    parent_run_id: str | None = None
    max_bytes: int | None = None
    replaces: bool = False
    """The file may be there already: it is the one that was asked for."""

    def variables(self) -> dict[str, str]:
        """What the child of this run has in its environment."""
        return {TRANSCRIPTS_VARIABLE: str(self.children)}

    def meta(self) -> dict[str, str]:
        """What it is told with each prompt, if it knows our extension: it may have been started ahead of the run."""
        return {TRANSCRIPTS_KEY: str(self.children)}


class Transcripts:
    """Keep transcripts in `folder`, one `<run_id>.jsonl` for each run; it is made when the first one begins.

    The runs that an agent starts with this library, in turn, are in `folder/<run_id>/`, and so on. With `max_files`
    or `max_bytes` (of them all, with what is below them) the oldest finished ones are removed when another run begins;
    a run that alone comes to be longer than `max_bytes` leaves out the rest of its frames, and its transcript says so.
    Raises ValueError for a bound that is not a whole number above 0.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, max_bytes: int | None = None, max_files: int | None = None
    ) -> None:
        self.folder: Final = Path(os.path.abspath(folder))  # noqa: PTH100  # keeps links
        self.max_bytes: Final = _bound("max_bytes", max_bytes)
        self.max_files: Final = _bound("max_files", max_files)
        self._parent_run_id: str | None = None

    def __repr__(self) -> str:
        return f"<Transcripts in {self.folder}>"

    def place(self, run_id: str) -> Place:
        """Where the transcript of this run goes. Touches nothing."""
        return Place(
            path=self.folder / f"{run_id}{SUFFIX}",
            children=self.folder / run_id,
            parent_run_id=self._parent_run_id,
            max_bytes=self.max_bytes,
        )

    def make_room(self) -> None:
        """Remove the oldest that are finished until one more fits. Blocks; what cannot be removed stays."""
        if self.max_bytes is None and self.max_files is None:
            return
        kept = sorted((_age(path), path) for path in self.folder.glob(f"*{SUFFIX}") if _OURS.fullmatch(path.name))
        sizes = {path: _size(path) for _, path in kept}
        for _, path in kept:
            fits = self.max_files is None or len(sizes) < self.max_files
            if fits and (self.max_bytes is None or sum(sizes.values()) < self.max_bytes):
                return
            if not _is_written(path):
                _remove(path)
                del sizes[path]


class OneFile:
    """Keep the transcript of one run in this file, which is replaced; runs of its agent go into a folder beside it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Final = Path(os.path.abspath(path))  # noqa: PTH100  # keeps links

    def place(self, run_id: str) -> Place:
        """As for `Transcripts`."""
        return Place(path=self.path, children=self.path.parent / run_id, replaces=True)

    def make_room(self) -> None:
        """There is but one."""


def as_transcripts(given: Any) -> Transcripts | OneFile | None:
    """What a caller has asked for. Raises TypeError for what is no folder, ValueError for what is a file already."""
    if given is None or isinstance(given, OneFile):
        return given
    if not isinstance(given, (str, os.PathLike, Transcripts)):
        kind = type(given).__name__
        raise TypeError(f"transcripts must be a folder, or Transcripts(folder, max_files=100), not {kind}")
    wanted = given if isinstance(given, Transcripts) else Transcripts(given)
    if wanted.folder.exists() and not wanted.folder.is_dir():
        raise ValueError(f"transcripts is {wanted.folder}, which is a file; name a folder, where each run has a file")
    return wanted


def inherited(environment: Mapping[str, str]) -> Transcripts | None:
    """Where a process with this environment keeps its transcripts, if a run is around it that keeps one."""
    return within(environment.get(TRANSCRIPTS_VARIABLE, ""))


def within(folder: str) -> Transcripts | None:
    """Transcripts in the folder that a run has for those below it, as it is told; None for no absolute path."""
    if not os.path.isabs(folder):  # noqa: PTH117  # text
        return None
    transcripts = Transcripts(folder)
    transcripts._parent_run_id = transcripts.folder.name  # noqa: SLF001  # made right here
    return transcripts


def without_place(variables: Mapping[str, str]) -> dict[str, str]:
    """An environment without what only `Place.variables` may say."""
    return {name: value for name, value in variables.items() if name != TRANSCRIPTS_VARIABLE}


def _bound(name: str, value: object) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise ValueError(f"{name} is {value!r}; it is a whole number of at least 1, or None for no bound")
    return value


def _age(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _size(path: Path) -> int:
    """Of a transcript and of all below it."""
    total = 0
    for file in _tree(path):
        with suppress(OSError):
            total += file.lstat().st_size
    return total


def _tree(path: Path) -> list[Path]:
    """A transcript and those below it. Nothing else that somebody may have put there."""
    below = [file for file in path.with_suffix("").rglob(f"*{SUFFIX}") if _OURS.fullmatch(file.name)]
    return [path, *below]


def _is_written(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def _remove(path: Path) -> None:
    """With those below it, and with their folders, which are empty then."""
    for file in reversed(_tree(path)):
        with suppress(OSError):
            file.unlink()
        with suppress(OSError):
            file.with_suffix("").rmdir()
