import json
import os
from pathlib import Path

import pytest

from acp_agent.agents.trades.extract import Extraction
from acp_agent.agents.trades.files import (
    MAX_INPUT_BYTES,
    MAX_SHOWN_BYTES,
    UnreadableFile,
    UnwritableFile,
    document,
    is_file,
    old_text,
    read_file,
    refuse_output,
    write_file,
)


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    """A file is read whole."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\r\nb")
    assert read_file(path) == b"a\r\nb"
    assert is_file(path)


@pytest.mark.parametrize(
    ("name", "missing"), [("none.csv", True), ("a.csv/b", True), ("folder", False), ("x" * 300, False)]
)
def test_what_cannot_be_read_is_an_error_that_says_whether_it_exists(
    tmp_path: Path, name: str, *, missing: bool
) -> None:
    """What cannot be read is an error that says whether it exists."""
    (tmp_path / "a.csv").write_text("a")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnreadableFile) as refused:
        read_file(tmp_path / name)
    assert refused.value.missing is missing
    assert not is_file(tmp_path / name)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    """A pipe is refused instead of waited for."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableFile, match="not a regular file"):
        read_file(tmp_path / "pipe")


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    """A file beyond the limit is refused."""
    path = tmp_path / "big.csv"
    with path.open("wb") as file:
        file.truncate(MAX_INPUT_BYTES + 1)
    with pytest.raises(UnreadableFile, match="larger than"):
        read_file(path)


def test_a_new_file_is_written_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    """A new file is written whole and nothing else is left."""
    path = tmp_path / "o.json"
    write_file(path, document(Extraction((), ())))
    assert json.loads(path.read_text()) == {"trades": [], "warnings": []}
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()


def current_umask() -> int:
    """Return the mask that new files get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_that_is_replaced_keeps_its_permissions_and_its_link(tmp_path: Path) -> None:
    """A file that is replaced keeps its permissions and its link."""
    path, link = tmp_path / "o.json", tmp_path / "link.json"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    assert old_text(link) == "old"
    write_file(link, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()


def test_what_cannot_be_shown_is_replaced_without_a_diff(tmp_path: Path) -> None:
    """What cannot be shown is replaced without a diff."""
    path = tmp_path / "o.json"
    assert old_text(path) is None
    path.write_bytes(b"\xff\xfe")
    assert old_text(path) is None
    path.write_bytes(b"x" * (MAX_SHOWN_BYTES + 1))
    assert old_text(path) is None


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    """A write that fails leaves nothing behind."""
    (tmp_path / "o.json").mkdir()
    (tmp_path / "o.json" / "full").write_text("x")
    with pytest.raises(UnwritableFile, match="cannot be written"):
        write_file(tmp_path / "o.json", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["o.json"]
    with pytest.raises(UnwritableFile, match="cannot be written"):
        write_file(tmp_path / "none" / "o.json", "new")


def test_an_output_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    """An output is refused before anybody is asked."""
    source = tmp_path / "a.csv"
    source.write_text("a")
    assert refuse_output(tmp_path / "o.json", source) is None
    assert refuse_output(tmp_path / "o.json", None) is None
    assert "was read" in str(refuse_output(source, source))
    assert "no folder" in str(refuse_output(tmp_path / "none" / "o.json", source))
    assert "not a regular file" in str(refuse_output(tmp_path, source))
