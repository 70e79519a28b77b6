"""The files: read one whole within a limit, write one whole or not at all.

Owns what may be read and replaced. Blocking; call it in a worker thread. Leaves asking for permission to `agent`.
"""

import json
import os
import stat
import tempfile
from pathlib import Path

from acp_agent.agents.trades.model import Extraction

__all__ = [
    "MAX_INPUT_BYTES",
    "MAX_SHOWN_BYTES",
    "UnreadableFile",
    "UnwritableFile",
    "document",
    "is_file",
    "old_text",
    "read_file",
    "refuse_output",
    "write_file",
]

MAX_INPUT_BYTES = 16 * 1024 * 1024  # near 200,000 rows; their trades must still fit one frame of the wire
MAX_SHOWN_BYTES = 256 * 1024  # a text beyond this is replaced or written without being shown in a diff
_FILE_MODE = 0o666


class UnreadableFile(OSError):
    """The input cannot be read; `missing` when there is no such file. The message is for the caller."""

    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.missing = missing


class UnwritableFile(OSError):
    """The output cannot be written, and nothing was. The message is for the caller."""


def read_file(path: Path) -> bytes:
    """Read a regular file of at most MAX_INPUT_BYTES, or raise UnreadableFile."""
    try:
        status = path.stat()
        problem = _unreadable(path, status)
        if problem is None:
            with path.open("rb") as file:
                content = file.read(MAX_INPUT_BYTES + 1)
            if len(content) <= MAX_INPUT_BYTES:
                return content
    except (FileNotFoundError, NotADirectoryError) as error:
        message = f"there is no file {path}; paths are taken from the session's working directory"
        raise UnreadableFile(message, missing=True) from error
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read ({error.strerror}); check its permissions") from error
    raise UnreadableFile(problem or _too_large(path))


def _unreadable(path: Path, status: os.stat_result) -> str | None:
    if not stat.S_ISREG(status.st_mode):  # a pipe or a device could hold us for ever
        return f"{path} is not a regular file; name a file of trades"
    return _too_large(path) if status.st_size > MAX_INPUT_BYTES else None


def _too_large(path: Path) -> str:
    return f"{path} is larger than {MAX_INPUT_BYTES} bytes, the most that is read; split it"


def refuse_output(output: Path, source: Path | None) -> str | None:
    """Say why an output must not be written, before anybody is asked; None when it may be."""
    if source is not None and output.exists() and output.samefile(source):
        return f"{output} is the file that was read; name another output"
    if not output.parent.is_dir():
        return f"there is no folder {output.parent}; create it or name another output"
    if output.exists() and not output.is_file():
        return f"{output} is not a regular file; name another output"
    return None


def old_text(output: Path) -> str | None:
    """Return what the output holds now, for the diff; None when nothing, or nothing that can be shown."""
    try:
        if output.stat().st_size > MAX_SHOWN_BYTES:
            return None
        return output.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def document(extraction: Extraction) -> str:
    """Return the JSON document that is written."""
    return json.dumps(extraction.as_dict(), ensure_ascii=False, indent=2) + "\n"


def write_file(output: Path, text: str) -> None:
    """Write a file whole: readers see the old one or the new one. Raises UnwritableFile."""
    target = output.resolve()
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise UnwritableFile(f"{output} cannot be written ({error.strerror})") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            os.fchmod(file.fileno(), _mode(target))
        Path(name).replace(target)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise UnwritableFile(f"{output} cannot be written ({error.strerror})") from error


def _mode(target: Path) -> int:
    """Return the old file's permissions, or those that a new file gets."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return _FILE_MODE & ~mask


def is_file(path: Path) -> bool:
    """Say whether a path names a regular file; False also for what no system would take as a path."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
