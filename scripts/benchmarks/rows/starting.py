"""What a program costs before it does anything: imports, our child, our command."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from scripts.benchmarks.contenders import HERE, PYTHON_CHILD, Child
from scripts.benchmarks.rounds import measure_calls
from scripts.benchmarks.table import Finding, Sizes
from scripts.tools.agents import index_path

MILLI = 1e3
INITIALIZE = {"protocolVersion": 1, "clientCapabilities": {}}
REQUEST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode() + b"\n"
PROGRAMS = HERE / "programs"
ANSWER = b"the quick"


async def importing(_child: Child, sizes: Sizes) -> list[Finding]:
    """A whole interpreter that imports a package, and ends."""
    statements = {
        "nothing": "pass",
        "acp_client": "import acp_client",
        "acp_client.Runner": "from acp_client import Runner",
        "acp_agent": "import acp_agent",
        "official acp": "import acp",
    }
    calls = {name: _program([sys.executable, "-c", line]) for name, line in statements.items()}
    finding = Finding("an interpreter that imports, and ends", "ms")
    finding.figures = {name: MILLI * took for name, took in measure_calls(calls, sizes.times(10)).items()}
    finding.ratio("acp_client.Runner", "official acp", 0.5)
    return [finding]


async def child(_child: Child, sizes: Sizes) -> list[Finding]:
    """From spawn until `initialize` is answered."""
    calls = {
        "our echo agent": _initialized([sys.executable, "-m", "acp_agent", "echo"]),
        "official SDK's echo agent": _initialized([sys.executable, str(PROGRAMS / "official_echo.py")]),
    }
    finding = Finding("spawn to initialize answered", "ms")
    finding.figures = {name: MILLI * took for name, took in measure_calls(calls, sizes.times(10)).items()}
    finding.ratio("our echo agent", "official SDK's echo agent", 0.35)
    return [finding]


async def cold(_child: Child, sizes: Sizes) -> list[Finding]:
    """The whole command, from nothing to its exit, against a child of the standard library."""
    finding = Finding("a whole cold client process", "ms")
    with tempfile.TemporaryDirectory() as home:
        command = [*PYTHON_CHILD, "1"]
        quoted = " ".join(command)
        ours = "subagent run"
        calls = {
            ours: _program([sys.executable, "-m", "acp_client", "run", "--agent", quoted, "go"], home, ANSWER),
            "official SDK's client": _program(
                [sys.executable, str(PROGRAMS / "official_client.py"), *command], home, ANSWER
            ),
        }
        acpx = _acpx()
        if isinstance(acpx, str):
            finding.skipped["acpx"] = acpx
        else:
            calls["acpx"] = _program([*acpx, "--agent", quoted, "exec", "go"], home, ANSWER)
        finding.figures = {name: MILLI * took for name, took in measure_calls(calls, sizes.times(10)).items()}
    finding.ratio(ours, "official SDK's client", 0.5)
    finding.ratio(ours, "acpx", 0.5)
    return [finding]


def _acpx() -> list[str] | str:
    """How it is started; or why it is not there."""
    try:
        entry = json.loads(index_path().read_text())["acpx"]
    except (OSError, KeyError, ValueError):
        return "not installed; scripts/install_agents does that"
    argv: list[str] = entry["argv"]
    return entry.get("unavailable") or argv


def _program(argv: list[str], cwd: str | None = None, answer: bytes = b"") -> Callable[[], float]:
    def call() -> float:
        began = time.perf_counter()
        done = subprocess.run(argv, cwd=cwd, check=True, capture_output=True, stdin=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        if answer not in done.stdout:
            raise RuntimeError(f"{Path(argv[0]).name} {argv[1:3]} gave no answer: {done.stdout!r}")
        return seconds

    return call


def _initialized(argv: list[str]) -> Callable[[], float]:
    def call() -> float:
        began = time.perf_counter()
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(REQUEST)
            answer = b""
            while b"\n" not in answer and (piece := process.stdout.read(65536)):
                answer += piece
            seconds = time.perf_counter() - began
            process.kill()
        if b'"result"' not in answer:
            raise RuntimeError(f"{argv[1:]} answered {answer!r}")
        return seconds

    return call
