"""The SQLite file of the queue: made, opened, its version checked, and its faults told in one line.

Owns the connection and its transactions; what the rows mean is `store`'s. WAL, so that readers hold up no writer. A
commit is on the disk when it returns, also through a power failure: an answer is given once.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from acp_client.approvals.errors import QueueBusy, QueueUnusable

APPLICATION_ID: Final = 0x41435051
"""Says in the file's header that it is ours ("ACPQ")."""
SCHEMA_VERSION: Final = 1

BUSY_SECONDS: Final = 30.0
"""How long another process may hold the file: its transactions take milliseconds, a slow disk more."""
RETRY_SECONDS: Final = 0.02
"""SQLite itself does not wait in some places (a change to WAL, a recovery): we do."""

SCHEMA: Final = (
    """CREATE TABLE IF NOT EXISTS requests (
        id TEXT PRIMARY KEY NOT NULL,
        request TEXT NOT NULL,
        role TEXT NOT NULL,
        state TEXT NOT NULL
            CHECK (state IN ('waiting', 'approved', 'rejected', 'expired', 'withdrawn', 'abandoned')),
        asked_at REAL NOT NULL,
        expires_at REAL NOT NULL,
        owner TEXT NOT NULL,
        decided_by TEXT,
        decided_role TEXT,
        decided_at REAL,
        why TEXT,
        option_id TEXT,
        content TEXT,
        delivered INTEGER
    )""",
    "CREATE INDEX IF NOT EXISTS requests_by_state ON requests (state, asked_at)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

FAULTS: Final = {
    sqlite3.SQLITE_FULL: "the disk is full; make room",
    sqlite3.SQLITE_READONLY: "it, or its folder, is not writable for us; have its owner allow it, or name another file",
    sqlite3.SQLITE_CANTOPEN: "it, or its folder, cannot be opened for writing; have its owner allow it",
    sqlite3.SQLITE_PERM: "it, or its folder, is not writable for us; have its owner allow it, or name another file",
    sqlite3.SQLITE_NOTADB: "it is no SQLite database; name another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore it, or move it away and start a new one",
    sqlite3.SQLITE_IOERR: "the disk fails, or is full; look at the system's log",
}
"""By SQLite's primary result code."""
PRIMARY: Final = 0xFF

_making: Final = threading.Lock()
"""Closing a descriptor of ours frees the locks that SQLite holds on the same file in this process: while a file is
being made, nothing else here may open it."""


class Database:
    """An open file. To be used by one thread at a time."""

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path: Final = path
        with self._explained():
            with _making, _told_of(path):
                _make(path)
                uri = f"file:{quote(str(path))}?mode=rw"
                self._connection = sqlite3.connect(
                    uri, uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False
                )
            try:
                self._connection.row_factory = sqlite3.Row
                _patiently(self._prepare, busy_seconds)
                self._inode = _inode(path)
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """The last process to close it folds the write-ahead log into the file."""
        with self._explained():
            self._connection.close()

    def version(self) -> int:
        """Another number than before as soon as somebody else has committed. Costs no look at the disk."""
        with self._explained():
            found: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
            return found

    def is_in_place(self) -> bool:
        """False once somebody has removed or replaced the file: what is written then, nobody sees."""
        return _inode(self.path) == self._inode

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._explained():
            return self._connection.execute(query, values).fetchall()

    def change(self, statement: str, *values: object) -> int:
        """How many rows a statement has changed."""
        with self._explained():
            return self._connection.execute(statement, values).rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and alone: nobody else writes between what is read in it and what is written."""
        with self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite may have rolled back by itself
                    with suppress(sqlite3.Error):  # the first error is the one to tell
                        self._connection.execute("ROLLBACK")
                raise

    def _prepare(self) -> None:
        self._connection.execute("BEGIN")  # one state of the file, in which somebody else's half-made queue is not seen
        try:
            is_ours = self._is_ours()
        finally:
            self._connection.execute("ROLLBACK")
        if not is_ours:
            self._connection.execute("PRAGMA journal_mode = WAL")
            with self.transaction():
                if not self._is_ours():  # nobody else has been faster
                    for statement in SCHEMA:
                        self._connection.execute(statement)
        self._connection.execute("PRAGMA synchronous = FULL")

    def _is_ours(self) -> bool:
        """False for a new file. Raises QueueUnusable for somebody else's, and for one that is too new."""
        application, version, tables = (
            self._connection.execute(query).fetchone()[0]
            for query in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if application == APPLICATION_ID and version == SCHEMA_VERSION:
            return True
        if application == APPLICATION_ID:
            raise QueueUnusable(
                f"the approval queue {str(self.path)!r} has schema version {version}, this program knows "
                f"{SCHEMA_VERSION}; use the version of acp-subagents that made it"
            )
        if application or version or tables:
            raise QueueUnusable(
                f"{str(self.path)!r} is a SQLite database of another program, no approval queue; name another file"
            )
        return False

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explain(error, self.path) from error


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # a ValueError for a NUL in the path
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise QueueUnusable(
            f"the approval queue {str(path)!r} cannot be used: {why}; it is a file that we may write, or make"
        ) from error


def _explain(error: sqlite3.Error, path: Path) -> QueueUnusable:
    code = getattr(error, "sqlite_errorcode", 0) & PRIMARY
    if _is_busy(error):
        return QueueBusy(f"the approval queue {str(path)!r} is held by another process; try again")
    why = FAULTS.get(code) or f"{error}; look whether the file is an approval queue"
    return QueueUnusable(f"the approval queue {str(path)!r} cannot be used: {why}")


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _patiently(work: Callable[[], None], seconds: float) -> None:
    """Again while the file is busy."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            work()
        except (sqlite3.Error, QueueBusy) as error:
            if not (isinstance(error, QueueBusy) or _is_busy(error)) or time.monotonic() > deadline:
                raise
            time.sleep(RETRY_SECONDS)
        else:
            return


def _make(path: Path) -> None:
    """A file that only its owner may read and write, if there is none. SQLite gives its log the same mode."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116  # as below
        raise ValueError("it is no regular file")


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # never opened: see `_making`
    except OSError:
        return None
    return found.st_dev, found.st_ino
