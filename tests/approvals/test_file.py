"""The file of the queue: made private, and refused in one clear line where it cannot be what it must."""

import os
import resource
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from acp_client import ApprovalQueue
from acp_client.approvals.errors import QueueBusy, QueueUnusable
from acp_client.approvals.store import Store
from tests.approvals.questions import add, approval, question, until_waiting
from tests.cli.command import REPO, WAIT_SECONDS, environment


def fault_of(path: Path) -> str:
    """What opening it says; one line."""
    with pytest.raises(QueueUnusable) as caught:
        ApprovalQueue(path)
    said = str(caught.value)
    assert "\n" not in said
    assert repr(str(path)) in said
    return said


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Its folder too, and what SQLite puts beside it."""
    path = tmp_path / "state" / "deep" / "approvals.db"
    store = Store(path)
    add(store, question())
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == {"approvals.db": 0o600, "approvals.db-wal": 0o600, "approvals.db-shm": 0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    store.close()


def test_a_file_whose_mode_a_deployment_has_chosen_keeps_it(tmp_path: Path) -> None:
    """A group of reviewers, say."""
    path = tmp_path / "approvals.db"
    path.touch()
    path.chmod(0o660)
    Store(path).close()
    assert path.stat().st_mode & 0o777 == 0o660


async def test_a_request_that_somebody_deletes_waits_no_longer_than_its_time(path: Path, store: Store) -> None:
    """There is no row to expire, and nothing to approve."""
    tidied = anyio.Event()

    async def tidy_up() -> None:
        await until_waiting(store, 1)
        with sqlite3.connect(path) as connection:
            connection.execute("DELETE FROM requests")
        connection.close()
        tidied.set()

    with anyio.fail_after(WAIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tidy_up)
            with pytest.raises(QueueUnusable, match="has deleted request q-1"):
                await ApprovalQueue(path, max_timeout_seconds=1)(question())
            assert tidied.is_set()


def test_a_parent_that_is_written_down_as_nonsense_counts_as_there(store: Store, path: Path) -> None:
    """Else one such row would shut the queue for all."""
    add(store, question())
    for owner in ('{"pid": 1e400}', '{"pid": 1e', "[]", '{"pid": 1}', "null"):
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE requests SET owner = ?", (owner,))
        connection.close()
        Store(path).close()
    assert store.answer("q-1", approval()).state == "approved"


def test_the_queue_is_in_wal_mode(tmp_path: Path) -> None:
    """Readers hold up no writer."""
    ApprovalQueue(tmp_path / "q.db")
    with sqlite3.connect(tmp_path / "q.db") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_what_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """Not a byte of it changes."""
    path = tmp_path / "notes.txt"
    path.write_text("my notes, long enough for a header " * 100)
    before = path.read_bytes()
    assert "it is no SQLite database" in fault_of(path)
    assert path.read_bytes() == before


def test_a_damaged_queue_is_told_as_damaged(tmp_path: Path) -> None:
    """The header is whole, the rest is not."""
    path = tmp_path / "q.db"
    ApprovalQueue(path)
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * (len(data) - 100))
    assert "it is damaged" in fault_of(path)


def test_a_queue_that_was_cut_off_is_told_as_damaged(tmp_path: Path) -> None:
    """A copy that was broken off."""
    path = tmp_path / "q.db"
    store = Store(path)
    for index in range(50):
        add(store, question(f"q-{index}"))
    store.close()
    path.write_bytes(path.read_bytes()[:5000])
    assert "it is damaged" in fault_of(path)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    """It would be harmed by tables of ours."""
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE things (x)")
    connection.close()
    before = path.read_bytes()
    assert "of another program" in fault_of(path)
    assert path.read_bytes() == before


def test_a_queue_of_a_newer_version_is_refused_with_both_numbers(tmp_path: Path) -> None:
    """It may mean something else by what we know."""
    path = tmp_path / "q.db"
    ApprovalQueue(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    assert "has schema version 7, this program knows 1" in fault_of(path)


@pytest.mark.parametrize("made", ["folder", "fifo", "device", "a file for a folder", "too long"])
def test_a_path_that_cannot_be_a_file_is_refused_at_once(made: str, tmp_path: Path) -> None:
    """Without waiting for a pipe's other end."""
    path = tmp_path / "q"
    if made == "folder":
        path.mkdir()
    elif made == "fifo":
        os.mkfifo(path)
    elif made == "device":
        path = Path("/dev/null")
    elif made == "too long":
        path = tmp_path / ("x" * 300)
    else:
        path.touch()
        path /= "q.db"
    assert "cannot be used" in fault_of(path)


def test_a_path_with_a_nul_is_refused() -> None:
    """SQLite would stop reading it there."""
    with pytest.raises(QueueUnusable, match="embedded null"):
        ApprovalQueue("/tmp/a\0b")  # noqa: S108  # never made


@pytest.mark.parametrize("name", ["a b.db", "ü?mode=memory#x%20.db", ":memory:", "file:x.db"])
def test_any_name_is_a_name(name: str, tmp_path: Path) -> None:
    """None of it means anything to SQLite."""
    store = Store(tmp_path / name)
    add(store, question())
    store.close()
    again = Store(tmp_path / name)
    assert [entry.id for entry in again.everything()] == ["q-1"]
    again.close()
    assert (tmp_path / name).is_file()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_we_may_not_write_is_told(tmp_path: Path) -> None:
    """Who can help is said."""
    ApprovalQueue(tmp_path / "q.db")
    tmp_path.chmod(0o500)
    try:
        assert "not writable" in fault_of(tmp_path / "q.db") or "cannot be opened" in fault_of(tmp_path / "q.db")
    finally:
        tmp_path.chmod(0o700)


LIMITED = """
import resource, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from acp_client.approvals.errors import ApprovalQueueError
from acp_client.approvals.store import Store
from tests.approvals.questions import add, question
store = Store(Path(sys.argv[1]))
add(store, question("before"))
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
try:
    add(store, question("too much", arguments="x" * 100_000))
except ApprovalQueueError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
add(store, question("after"))
print([entry.id for entry in store.waiting()])
"""


def test_a_disk_that_takes_no_more_loses_the_request_alone(tmp_path: Path) -> None:
    """It is told, the others stay, and the queue can be used when there is room again."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    line = [sys.executable, "-c", LIMITED, str(tmp_path / "q.db")]
    done = subprocess.run(line, check=True, cwd=REPO, env=environment(), capture_output=True, text=True, timeout=60)
    said, kept = done.stdout.splitlines()
    assert "cannot be used: the disk" in said
    assert kept == "['before', 'after']"


def test_a_file_that_is_held_too_long_is_told_as_busy(tmp_path: Path) -> None:
    """And can be used as soon as it is free; reading goes on meanwhile."""
    path = tmp_path / "q.db"
    store = Store(path, busy_seconds=0.05)
    add(store, question())
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(QueueBusy, match="held by another process"):
        store.answer("q-1", approval())
    assert [entry.state for entry in store.waiting()] == ["waiting"]
    holder.execute("ROLLBACK")
    holder.close()
    assert store.answer("q-1", approval()).state == "approved"
    store.close()


def test_a_new_file_can_be_made_by_many_at_once(tmp_path: Path) -> None:
    """None of them takes a half-made queue for somebody else's."""
    for number in range(30):
        path = tmp_path / f"{number}.db"
        with ThreadPoolExecutor(8) as pool:
            stores = list(pool.map(Store, [path] * 8))
        for index, store in enumerate(stores):
            add(store, question(str(index)))
        assert len(stores[0].waiting()) == 8
        for store in stores:
            store.close()
