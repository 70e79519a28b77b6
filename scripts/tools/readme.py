"""Runs the examples of README.md, each in a fresh folder, as a reader would.

A ```python block is a program. In a ```console block each line after `$ ` is a command for the
shell; the lines below it, if any, are what it must print, where `...` stands for anything. A block
that cannot run says why in the line above it: `<!-- no-run: needs an API key -->`.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
BLOCK_TIMEOUT_SECONDS = 60.0  # an example that takes longer is no example
SHELL = ("bash", "-eu", "-o", "pipefail", "-c")
BLOCK = re.compile(
    r"(?:^<!--[ ]*no-run\b:?[ ]*(?P<skip>.*?)[ ]*-->\s*\n)?"
    r"^```(?P<language>python|console)[ ]*\n(?P<text>.*?)^```[ ]*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One example: where it begins, its language and text; `skip` says why it is not run."""

    line: int
    language: str
    text: str
    skip: str | None = None


def main() -> None:
    """Run the blocks of the given file (default: README.md); exit 1 if one fails."""
    path = Path(sys.argv[1]) if sys.argv[1:] else REPO / "README.md"
    found = blocks(path.read_text())
    failures = [f"{path.name}:{block.line}: {why}" for block in found if (why := problem(block))]
    ran = sum(block.skip is None for block in found)
    print("\n".join(failures) or f"readme: {ran} examples ran, {len(found) - ran} are marked no-run")
    sys.exit(1 if failures else 0)


def blocks(markdown: str) -> list[Block]:
    """The python and console blocks of a text, in order."""
    return [
        Block(
            line=markdown.count("\n", 0, match.start("language")) + 1,
            language=match["language"],
            text=match["text"],
            skip=match["skip"],
        )
        for match in BLOCK.finditer(markdown)
    ]


def problem(block: Block, *, timeout_seconds: float = BLOCK_TIMEOUT_SECONDS) -> str:
    """What is wrong with an example, or an empty string."""
    if block.skip is not None:
        return "" if block.skip else "no-run needs a reason: <!-- no-run: why -->"
    with tempfile.TemporaryDirectory(prefix="readme-") as folder:
        if block.language == "python":
            argv = [sys.executable, "-W", "error", "-c", block.text]
            return _failure(argv, Path(folder), timeout_seconds)
        for command, expected in commands(block.text):
            why = _failure([*SHELL, command], Path(folder), timeout_seconds, expected)
            if why:
                return f"$ {command}\n{why}"
    return ""


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    pairs = (part.partition("\n") for part in parts)
    return [(command, expected.strip()) for command, _, expected in pairs]


def _failure(argv: list[str], folder: Path, timeout_seconds: float, expected: str = "") -> str:
    code, output = _run(argv, folder, timeout_seconds)
    if code is None:
        return f"not done within {timeout_seconds:g} s; it printed:\n{output}"
    if code:
        return f"ended with {code}; it printed:\n{output}"
    if expected and not matches(output.strip(), expected):
        return f"printed:\n{output}\ninstead of:\n{expected}"
    return ""


def matches(output: str, expected: str) -> bool:
    """True if an output is the expected one; `...` there stands for anything, also for nothing."""
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, output, re.DOTALL) is not None


def _run(argv: list[str], folder: Path, timeout_seconds: float) -> tuple[int | None, str]:
    """Exit code, None for one that had to be ended, and everything printed; leaves no child."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    with subprocess.Popen(
        argv,
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return None, output
    return process.returncode, output


if __name__ == "__main__":
    main()
