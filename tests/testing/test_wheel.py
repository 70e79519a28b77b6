"""The plugin as people get it: from the wheel, in an environment and a project of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.testing.project import Project

REPO = Path(__file__).resolve().parents[2]
BUILD = "import sys, hatchling.build as build; print(build.build_wheel(sys.argv[1]))"
TEST = """
import acp_client.testing

def test_installed(acp_scripted, acp_record, acp_replay, pytestconfig):
    assert acp_client.testing.__file__.startswith(sys.prefix)
    result = run_subagent_sync(acp_scripted({"prompt": [{"chunk": "hi"}]}), "go")
    assert result.text == "hi"
    assert run_subagent_sync(acp_record(ECHO), "again").text == "again"
"""


@pytest.mark.slow
def test_the_installed_plugin_is_there_without_being_asked_for(tmp_path: Path) -> None:
    """Its option and fixtures, by the entry point alone; a recording is made, and replayed."""
    argv = [sys.executable, "-c", BUILD, str(tmp_path)]
    built = subprocess.run(argv, check=True, cwd=REPO, capture_output=True, text=True).stdout.splitlines()[-1]
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (site,) = venv.glob("lib/python3*/site-packages")
    (borrowed,) = Path(sys.prefix).glob("lib/python3*/site-packages")
    libraries = venv / "borrowed"  # without our own: its metadata would name the plugin too
    libraries.mkdir()
    for entry in borrowed.iterdir():
        if not entry.name.lower().startswith(("acp_", "_acp_", "__editable__", "_editable")):
            (libraries / entry.name).symlink_to(entry)
    (site / "borrowed.pth").write_text(f"{libraries}\n")
    python = venv / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-qq", "--no-deps", "--no-index", str(tmp_path / built)], check=True)
    folder = tmp_path / "project"
    folder.mkdir()
    project = Project(folder, str(python), plugin=False)
    project.write("test_installed.py", TEST)
    for arguments in (["--acp-record"], []):
        ended = project.pytest(*arguments)
        assert ended.code == 0, ended.output
    assert (folder / "transcripts" / "test_installed.test_installed.jsonl").is_file()
