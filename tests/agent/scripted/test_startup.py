import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_agent.scripted import main
from acp_agent.scripted.vocabulary import HOOK, SCENARIO, STEPS
from tests.agent.scripted.child import REPO, WAIT_SECONDS, Child

Play = Callable[..., Child]

HEAVY = [
    "yaml",
    "pydantic",
    "anyio",
    "asyncio",
    "structlog",
    "jsonrpcserver",
    "subprocess",
    "dataclasses",
    "acp_client",
]
PROBE = f"""
import sys
import acp_agent.scripted
assert not [name for name in sys.modules if name.startswith("acp_agent.scripted.")]
acp_agent.scripted.main([sys.argv[1]])
print(*sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)
"""


def heavy_modules(path: Path) -> list[str]:
    """Which heavy modules a clean interpreter has loaded after it played a scenario."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROBE, str(path)],
        check=True,
        cwd=REPO,
        input=b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n',
        capture_output=True,
        timeout=WAIT_SECONDS,
        env={"PYTHONPATH": ":".join(filter(None, [str(REPO), *sys.path]))},
    )
    assert b'"protocolVersion":1' in done.stdout
    return done.stderr.decode().split()


def test_a_json_scenario_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    """Start-up is part of what is tested with this agent; a broken scenario may cost more."""
    (tmp_path / "s.json").write_text('{"prompt": [{"chunk": "a"}]}')
    assert heavy_modules(tmp_path / "s.json") == []


def test_a_yaml_scenario_needs_pyyaml_alone(tmp_path: Path) -> None:
    """The one dependency, where the file asks for it."""
    (tmp_path / "s.yml").write_text("prompt: [{chunk: a}]")
    assert heavy_modules(tmp_path / "s.yml") == ["yaml"]


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_the_help_text_has_every_word(capsys: pytest.CaptureFixture[str], flag: str) -> None:
    """It is printed from the tables."""
    assert main([flag]) == 0
    text = capsys.readouterr().out
    lines = [line.strip() for line in text.splitlines()]
    for name in (*SCENARIO, *HOOK, *STEPS):
        assert any(line.startswith(f"{name}: ") for line in lines), name
    assert "ignore: words of SIGTERM SIGINT SIGHUP eof stdin" in text
    assert "${scenario_dir}" in text


@pytest.mark.parametrize("argv", [[], ["a", "b"], ["--verbose"], ["-"]])
def test_other_arguments_are_a_usage_error(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    """Exit code 2, and nothing on stdout, which is the wire."""
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: python -m acp_agent scripted FILE\n")


def test_a_broken_scenario_is_a_usage_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """File, place, rule and the nearest word, a line for each problem."""
    path = tmp_path / "s.json"
    path.write_text('{"prompt": [{"chnk": "a"}], "start": [{"delay": -1}]}')
    assert main([str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    first, second = captured.err.splitlines()
    assert first.startswith(f"{path}: prompt[0].chnk: unknown word;")
    assert first.endswith("did you mean `chunk`?")
    assert second == f"{path}: start[0].delay: must be a number, not the number -1"


def test_a_scenario_can_be_checked_without_being_played(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nothing is said of a good one; a bad one is the same usage error as when it is played."""
    path = tmp_path / "s.json"
    path.write_text('{"prompt": []}')
    assert main(["--check", str(path)]) == 0
    assert capsys.readouterr() == ("", "")
    path.write_text('{"promt": []}')
    assert main(["--check", str(path)]) == 2
    assert "did you mean `prompt`?" in capsys.readouterr().err


def test_a_report_says_that_it_was_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a test that wants to know at its end."""
    out = tmp_path / "out.txt"
    assert main([f"--report={out}", str(tmp_path / "none.json")]) == 2
    assert out.exists()
    assert "cannot be read" in capsys.readouterr().err


def test_placeholders_know_where_the_agent_runs(play: Play, tmp_path: Path) -> None:
    """Its pid, its interpreter, the folder of its scenario, the session's directory."""
    child = play(prompt=[{"send": ["${pid}", "${python}", "${scenario_dir}", "${cwd}"]}])
    child.open()
    child.prompt()
    assert child.frame() == [child.process.pid, sys.executable, str(tmp_path), "/"]
