"""The file: whole lines or none, for nobody else's eyes, and a disk that fails costs frames and no more."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from acp_client.record.file import OVER_BOUND, RecordFile
from acp_client.record.format.lines import Frame, Note, encode_line
from acp_client.record.format.reader import read_file
from acp_client.record.place import OneFile, Transcripts

LINES = [encode_line(Frame(direction="c>a", message={"id": number}, t=0.1)) for number in range(3)]


class Disk:
    """Writes at most so many bytes; then it is full until there is room again."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, fd: int, data: bytes) -> int:
        """As `os.write`."""
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = os.write(fd, data[: self.room])
        self.room -= written
        return written


def kept(path: Path) -> list[Any]:
    """What a reader sees: the ids of frames, and the notes."""
    return [
        line.message["id"] if isinstance(line, Frame) and line.message else line
        for line in read_file(path, strict=True)
    ]


def test_a_transcript_is_for_its_owner_alone(tmp_path: Path) -> None:
    """The folders that are made too; one that was there is left as it is."""
    place = Transcripts(tmp_path / "a" / "b").place("r")
    file = RecordFile(place)
    assert not file.is_missing
    file.open()
    file.add(LINES[:2], t=0.1)
    file.add([], t=0.1)
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    assert [stat.S_IMODE((tmp_path / made).stat().st_mode) for made in ("a", "a/b")] == [0o700, 0o700]
    assert file.close()
    assert not file.close()
    assert kept(place.path) == [0, 1]
    assert file.fault == ""


def test_a_full_disk_costs_frames_and_is_told_when_there_is_room(tmp_path: Path) -> None:
    """No line is half there, at any time."""
    disk = Disk(len(LINES[0]) + 10)
    file = RecordFile(Transcripts(tmp_path).place("r"), write=disk.write)
    file.open()
    file.add(LINES[:1], t=0.1)
    file.add(LINES[1:], t=0.2)
    assert kept(file.place.path) == [0]
    disk.room = 1000
    file.add(LINES[2:], t=0.3)
    assert file.close()
    why = "the transcript could not be written: No space left on device"
    assert kept(file.place.path) == [0, Note(kind="lost", fields={"frames": 2, "why": why}, t=0.3), 2]
    assert file.fault == why


def test_the_real_full_device_is_no_exception() -> None:
    """Nor is it changed, as a file would be."""
    before = Path("/dev/full").stat().st_mode
    file = RecordFile(OneFile("/dev/full").place("r"))
    file.open()
    file.add(LINES, t=0.1)
    assert file.close()
    assert "No space left on device" in file.fault
    assert Path("/dev/full").stat().st_mode == before


def test_over_the_bound_frames_are_left_out_and_the_end_is_not(tmp_path: Path) -> None:
    """Those that fit are there; no later one stands in the place of a missing one."""
    place = Transcripts(tmp_path, max_bytes=2 * len(LINES[0]) + 5).place("r")
    file = RecordFile(place)
    file.open()
    file.add(LINES, t=0.1)
    file.add(LINES[:1], t=0.2)
    file.add([encode_line(Note(kind="end", t=0.3))], t=0.3, always=True)
    assert file.close()
    lost = Note(kind="lost", fields={"frames": 2, "why": OVER_BOUND}, t=0.3)
    assert kept(place.path) == [0, 1, lost, Note(kind="end", t=0.3)]


def test_frames_over_the_bound_without_an_end_are_a_fault(tmp_path: Path) -> None:
    """There is nothing in the file that tells."""
    file = RecordFile(Transcripts(tmp_path, max_bytes=1).place("r"))
    file.open()
    file.add(LINES, t=0.1)
    assert file.close()
    assert file.fault == OVER_BOUND


@pytest.mark.parametrize("there", ["file", "link", "folder"])
def test_what_cannot_be_made_is_a_fault_and_nothing_is_written_elsewhere(tmp_path: Path, there: str) -> None:
    """An id is used once: whatever has its name is not ours."""
    place = Transcripts(tmp_path / "kept").place("r")
    if there == "folder":
        (tmp_path / "kept").write_text("a file in the folder's place")
    else:
        (tmp_path / "kept").mkdir()
        other = tmp_path / "other"
        other.write_text("precious")
        place.path.symlink_to(other) if there == "link" else place.path.write_text("precious")
    file = RecordFile(place)
    file.open()
    file.add(LINES, t=0.1)
    assert file.is_missing
    assert not file.close()
    assert file.fault.startswith("the transcript could not be written: ")
    assert there == "folder" or place.path.read_text() == "precious"


def test_the_file_that_was_asked_for_is_replaced(tmp_path: Path) -> None:
    """By one for its owner alone."""
    path = tmp_path / "run.jsonl"
    path.write_text("old\n" * 100)
    path.chmod(0o644)
    file = RecordFile(OneFile(path).place("r"))
    file.open()
    file.add(LINES, t=0.1)
    assert file.close()
    assert kept(path) == [0, 1, 2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("replaced", [False, True])
def test_a_transcript_that_was_taken_away_is_said(tmp_path: Path, replaced: bool) -> None:  # noqa: FBT001
    """What is not there any more is nowhere."""
    file = RecordFile(Transcripts(tmp_path).place("r"))
    file.open()
    file.add(LINES, t=0.1)
    file.place.path.unlink()
    if replaced:
        file.place.path.write_text("another")
    assert not file.close()
    assert file.fault == "the transcript was taken away while the run went on"


def test_a_disk_without_locks_has_transcripts_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock only keeps others from making room with it."""

    def unlocked(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr("fcntl.flock", unlocked)
    file = RecordFile(Transcripts(tmp_path).place("r"))
    file.open()
    assert file.close()
