"""Where transcripts go: names, trees, what a child inherits, and which old ones make room."""

import fcntl
import os
from pathlib import Path

import pytest

from acp_client import Transcripts
from acp_client.record.place import (
    TRANSCRIPTS_VARIABLE,
    OneFile,
    as_transcripts,
    inherited,
    without_place,
)

IDS = [f"{number:032x}" for number in range(6)]


def leave(folder: Path, run_id: str, size: int = 10, age: int = 0) -> Path:
    """A transcript of so many bytes, so many seconds old."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run_id}.jsonl"
    path.write_bytes(b"x" * size)
    os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return path


def test_a_run_has_a_file_by_its_id_and_a_folder_for_its_children(tmp_path: Path) -> None:
    """Nothing is made before something is written."""
    place = Transcripts(tmp_path / "kept").place(IDS[0])
    assert place.path == tmp_path / "kept" / f"{IDS[0]}.jsonl"
    assert place.variables() == {TRANSCRIPTS_VARIABLE: str(tmp_path / "kept" / IDS[0])}
    assert place.parent_run_id is None
    assert not (tmp_path / "kept").exists()
    assert repr(Transcripts(tmp_path)) == f"<Transcripts in {tmp_path}>"


def test_a_child_inherits_the_folder_of_the_run_around_it(tmp_path: Path) -> None:
    """Its name is the id of that run; what is no absolute path is not taken."""
    given = inherited({TRANSCRIPTS_VARIABLE: str(tmp_path / IDS[0])})
    assert given is not None
    assert given.place(IDS[1]).path == tmp_path / IDS[0] / f"{IDS[1]}.jsonl"
    assert given.place(IDS[1]).parent_run_id == IDS[0]
    assert inherited({}) is None
    assert inherited({TRANSCRIPTS_VARIABLE: "somewhere"}) is None
    assert without_place({TRANSCRIPTS_VARIABLE: "x", "A": "b"}) == {"A": "b"}


def test_one_file_has_its_children_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative name is one from here."""
    monkeypatch.chdir(tmp_path)
    one = OneFile("run.jsonl")
    place = one.place(IDS[0])
    assert (place.path, place.children, place.replaces) == (tmp_path / "run.jsonl", tmp_path / IDS[0], True)
    one.make_room()


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    """With what to give."""
    with pytest.raises(
        TypeError, match=r"transcripts must be a folder, or Transcripts\(folder, max_files=100\), not int"
    ):
        as_transcripts(3)
    (tmp_path / "run.jsonl").touch()
    for given in (tmp_path / "run.jsonl", Transcripts(tmp_path / "run.jsonl")):
        with pytest.raises(ValueError, match=r"/run.jsonl, which is a file; name a folder, where each run has a file"):
            as_transcripts(given)
    with pytest.raises(ValueError, match="max_files is 0; it is a whole number of at least 1, or None"):
        Transcripts(tmp_path, max_files=0)
    with pytest.raises(ValueError, match=r"max_bytes is 1\.5"):
        Transcripts(tmp_path, max_bytes=1.5)  # type: ignore[arg-type]  # the mistake under test
    one = OneFile(tmp_path / "x")
    assert as_transcripts(one) is one
    assert isinstance(as_transcripts(str(tmp_path)), Transcripts)


def test_the_oldest_make_room_for_one_more(tmp_path: Path) -> None:
    """With what is below them. Nothing goes without a bound, and nothing while there is room."""
    files = [leave(tmp_path, IDS[number], age=number) for number in range(3)]
    below = leave(tmp_path / IDS[2], IDS[5])
    Transcripts(tmp_path).make_room()
    Transcripts(tmp_path, max_files=4, max_bytes=1000).make_room()
    assert all(file.exists() for file in (*files, below))
    Transcripts(tmp_path, max_files=2).make_room()
    assert sorted(tmp_path.iterdir()) == [files[0]]


def test_the_bytes_of_a_tree_count(tmp_path: Path) -> None:
    """So many that less than the bound is left."""
    old, new = leave(tmp_path, IDS[0], 10, age=9), leave(tmp_path, IDS[1], 10)
    leave(tmp_path / IDS[0], IDS[2], 100)
    Transcripts(tmp_path, max_bytes=50).make_room()
    assert sorted(tmp_path.iterdir()) == [new]
    assert not old.exists()


def test_what_is_still_written_stays_and_so_does_what_is_not_ours(tmp_path: Path) -> None:
    """A lock tells the one, the name the other."""
    written = leave(tmp_path, IDS[0], age=9)
    finished = leave(tmp_path, IDS[1], age=5)
    others = [leave(tmp_path, "notes", age=99), leave(tmp_path / IDS[1], "notes"), tmp_path / "notes" / "deep.jsonl"]
    leave(tmp_path / "notes", "deep")
    with written.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        Transcripts(tmp_path, max_files=1).make_room()
        assert written.exists()
        assert not finished.exists()
    assert all(other.exists() for other in others)
    Transcripts(tmp_path, max_files=1).make_room()
    assert not written.exists()


def test_a_link_that_leads_nowhere_is_only_a_name(tmp_path: Path) -> None:
    """Nothing behind it is touched."""
    (tmp_path / f"{IDS[0]}.jsonl").symlink_to(tmp_path / "gone")
    Transcripts(tmp_path, max_files=1, max_bytes=1).make_room()
    assert list(tmp_path.iterdir()) == []
