"""Files that a command writes where somebody has said: it replaces what is its own, and nothing else.

Owns how our own files are known, and who may read what is written.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

HEAD_BYTES: Final = 4096
"""What a file is can be told by its beginning."""
PRIVATE: Final = 0o600
_TRANSCRIPT: Final = b'{"acp_transcript":'
_PAGE: Final = (b"<!doctype html>", b'<meta name="generator" content="acp-subagents ')


def holds_no_transcript(path: Path) -> str:
    """Why a transcript must not replace this file; empty if it may."""
    head = _head(path)
    return "" if not head or head.startswith(_TRANSCRIPT) else _refused("no transcript")


def holds_no_page(path: Path) -> str:
    """Why a page must not replace this file; empty if it may."""
    head = _head(path)
    start, mark = _PAGE
    return "" if not head or (head.startswith(start) and mark in head) else _refused("no page of subagent trace")


def _refused(what: str) -> str:
    return f"is there already and is {what}, so it is not overwritten; remove it first, or give another name"


def _head(path: Path) -> bytes:
    """How it begins; nothing for what is not there, is empty, or is no file whose content could be lost."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
    except FileNotFoundError:
        return b""
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def write_private(path: Path, data: bytes) -> None:
    """Write it for its owner alone, also where the file was there. Raises OSError."""
    with open(path, "wb", opener=_open) as file:  # has an opener
        file.write(data)


def _open(name: str, flags: int) -> int:
    """The mode first: nobody else reads the new content under the old one."""
    fd = os.open(name, flags & ~os.O_TRUNC, PRIVATE)
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            os.fchmod(fd, PRIVATE)
            os.ftruncate(fd, 0)
    except OSError:
        os.close(fd)
        raise
    return fd
