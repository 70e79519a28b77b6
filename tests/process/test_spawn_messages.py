"""What is said of a program that does not start: what failed, the rule, the correction."""

import errno
import os

import pytest

from acp_client.process.spawn import explain
from acp_client.process.table import Tree, candidates


@pytest.mark.parametrize(
    ("number", "command", "says"),
    [
        (errno.ENOENT, ["python agent.py"], "a list of arguments"),
        (errno.ENOENT, ["~/agent"], "a shell's"),
        (errno.ENOENT, ["nowhere"], "install it"),
        (errno.ENOENT, ["./nowhere"], "check the path"),
        (errno.EACCES, ["/etc/passwd"], "not an executable"),
        (errno.ENOEXEC, ["./script"], "'#!' line"),
        (errno.EMFILE, ["x"], "file descriptors"),
        (errno.EAGAIN, ["x"], "fewer at once"),
        (errno.E2BIG, ["x"], "Argument list too long"),
    ],
)
def test_each_cause_has_its_correction(number: int, command: list[str], says: str) -> None:
    """In one line."""
    message = explain(OSError(number, os.strerror(number)), command, "/")
    assert says in message
    assert repr(command[0]) in message
    assert "\n" not in message


def test_a_directory_that_is_not_there_is_the_cause_whatever_the_system_says() -> None:
    """The same error stands for both."""
    assert "working directory" in explain(OSError(errno.ENOENT, "x"), ["true"], "/nonexistent/dir")


def test_old_runs_are_looked_for_among_all_processes() -> None:
    """Pids may have gone round meanwhile."""
    tree = Tree(500, "m", born=0.0)
    assert candidates([3, 500, 501], 600, [tree], {500}, now=10.0) == [3, 501]
    assert candidates([3, 500, 501], 600, [tree], {500}, now=1.0) == [501]
    assert candidates([3, 500, 501], 10, [tree], {500}, now=1.0) == [3, 501]
