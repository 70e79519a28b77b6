"""A file that grows is read by whole lines; one that is cut or replaced is read from its start again."""

from pathlib import Path

from acp_client.cli.show.tail import Tail


def test_whole_lines_are_read_as_they_come(tmp_path: Path) -> None:
    """A half one waits for its end; a file that is not there is none of a fault."""
    file = tmp_path / "f"
    with Tail(file) as tail:
        assert tail.read() == []
        assert tail.is_there is False
        file.write_bytes(b"one\ntw")
        assert tail.read() == [b"one\n"]
        assert bool(tail.is_there)
        assert tail.read() == []
        with file.open("ab") as more:
            more.write(b"o\nthree\n")
        assert tail.read() == [b"two\n", b"three\n"]
        assert tail.began_anew == 0


def test_a_file_that_is_cut_is_read_again(tmp_path: Path) -> None:
    """What was half read is forgotten."""
    file = tmp_path / "f"
    file.write_bytes(b"one\ntwo\nhal")
    with Tail(file) as tail:
        assert len(tail.read()) == 2
        file.write_bytes(b"new\n")
        assert tail.read() == [b"new\n"]
        assert tail.began_anew == 1


def test_a_file_that_is_replaced_is_read_to_its_end_and_then_anew(tmp_path: Path) -> None:
    """One that is moved away may come again."""
    file = tmp_path / "f"
    file.write_bytes(b"one\n")
    with Tail(file) as tail:
        assert tail.read() == [b"one\n"]
        with file.open("ab") as more:
            more.write(b"last\n")
        file.rename(tmp_path / "old")
        assert tail.read() == [b"last\n"]
        assert tail.read() == []
        file.write_bytes(b"new\n")
        assert tail.read() == []
        assert tail.began_anew == 1
        assert tail.read() == [b"new\n"]
