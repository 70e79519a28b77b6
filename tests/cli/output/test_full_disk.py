"""A full disk under what we print: it is told where somebody can be told, is no success, and leaves no child."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import WAIT_SECONDS, argv, environment, playing
from tests.support.kernel import named

FULL = Path("/dev/full")
TOLD = b"failed   stdout cannot be written to: No space left on device"
FOREVER = [{"repeat": {"forever": True, "steps": [{"chunk": "on and on "}, {"delay": 0.02}]}}]
ONCE = [{"chunk": "once"}]


def run(*words: str, cwd: Path, full: tuple[str, ...], **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run to the end with /dev/full under some outputs and pipes under the others."""
    with FULL.open("wb") as disk:
        outputs: dict[str, Any] = {name: disk if name in full else subprocess.PIPE for name in ("stdout", "stderr")}
        return subprocess.run(
            argv(*words), check=False, cwd=cwd, env=environment(**variables), timeout=WAIT_SECONDS, **outputs
        )


@pytest.mark.parametrize(
    ("form", "steps"), [("text", FOREVER), ("jsonl", FOREVER), ("text", ONCE), ("json", ONCE), ("quiet", ONCE)]
)
def test_an_answer_that_cannot_be_written_ends_the_run_and_is_told(form: str, steps: list[Any], tmp_path: Path) -> None:
    """Also in the middle of a turn that would never end: it is for nobody."""
    agent = playing(tmp_path, prompt=steps)
    done = run("run", "--agent", agent, "--format", form, "go", cwd=tmp_path, full=("stdout",))
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, TOLD)
    assert b"Traceback" not in done.stderr
    assert named(tmp_path) == []


def test_progress_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    """The answer is what counts."""
    done = run("run", "--agent", playing(tmp_path, prompt=ONCE), "go", cwd=tmp_path, full=("stderr",))
    assert (done.returncode, done.stdout) == (0, b"once\n")


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "quiet"])
def test_nothing_that_can_be_written_leaves_the_exit_code_to_tell(form: str, tmp_path: Path) -> None:
    """Not that of a traceback that cannot be written either, nor Python's own for a flush at exit."""
    agent = playing(tmp_path, prompt=FOREVER if form == "jsonl" else ONCE)
    assert run("run", "--agent", agent, "--format", form, "go", cwd=tmp_path, full=("stdout", "stderr")).returncode == 1


def test_a_failed_run_keeps_its_exit_code_where_its_failure_cannot_be_told(tmp_path: Path) -> None:
    """The agent refuses, and stderr is full."""
    agent = playing(tmp_path, prompt=[{"stop": "refusal"}])
    assert run("run", "--agent", agent, "go", cwd=tmp_path, full=("stderr",)).returncode == 8


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["agents"], ["agents", "--json"], ["run", "--help"], ["--version"]])
def test_a_listing_that_cannot_be_written_is_told_without_a_traceback(
    words: list[str], unbuffered: str, tmp_path: Path
) -> None:
    """Whether Python finds out at the write or at the flush."""
    done = run(*words, cwd=tmp_path, full=("stdout",), PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr.strip()) == (1, TOLD)
    done = run(*words, cwd=tmp_path, full=("stdout", "stderr"), PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_usage_error_is_2_where_it_cannot_be_told(unbuffered: str, tmp_path: Path) -> None:
    """A script looks at the code."""
    assert run("run", "go", cwd=tmp_path, full=("stderr",), PYTHONUNBUFFERED=unbuffered).returncode == 2
