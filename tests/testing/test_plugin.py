"""The pytest plugin in a project of somebody else: scripted, replayed and recorded agents."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.testing.project import Ended, Project

SCRIPTED = """
def test_as_data(acp_scripted):
    one = acp_scripted({"prompt": [{"chunk": "one"}]})
    two = acp_scripted("two.json", permission="allow")
    assert [run_subagent_sync(spec, "go").text for spec in (one, two)] == ["one", "two"]
    assert two.permission == "allow"
"""
RECORDED = """
import anyio
from acp_client import Runner, SubAgent, SubAgents

def test_it(acp_record):
    result = run_subagent_sync(acp_record(ECHO), "say this")
    assert result.text == "say this"

def test_here(acp_record):
    spec = ECHO.model_copy(update={"cwd": "/", "env": {"KEY": "only of the agent"}})
    assert run_subagent_sync(acp_record(spec, "by.name"), "in /").text == "in /"

def test_sub_agents(acp_record):
    async def main():
        async with Runner() as runner:
            judge = SubAgent(name="judge", description="judges", agent=acp_record(ECHO))
            return await SubAgents([judge], runner=runner).run("judge", task="is it so?")
    assert anyio.run(main).text == "is it so?"
"""
DIFFERING = """
FILE = "transcripts/test_golden.test_it.jsonl"
def test_careless(acp_record):
    run_subagent_sync(acp_record(ECHO, "test_golden.test_it"), "say that")

def test_strict(acp_replay):
    assert run_subagent_sync(acp_replay(FILE, env={"X": "1"}), "say thus").reason == "agent_error"

def test_looked_at(acp_replay):
    assert run_subagent_sync(acp_replay(FILE, check=False), "say that").reason == "agent_error"

def test_lenient(acp_replay):
    assert run_subagent_sync(acp_replay(FILE, lenient=True, pace=1000.0), "say that").text == "say this"
"""
IDLE = """
import pytest
FILE = "transcripts/test_golden.test_it.jsonl"

def test_script(acp_scripted):
    acp_scripted({"prompt": []})

def test_replay(acp_replay):
    run_subagent_sync(acp_replay(FILE, lenient=True), "say this")
    acp_replay(FILE, lenient=True)

def test_record(acp_record):
    acp_record(ECHO, name="by.name")

def test_meant(acp_scripted, acp_replay):
    acp_scripted({"prompt": []}, check=False), acp_replay(FILE, check=False)

def test_by_its_command(acp_replay):
    spec = AgentSpec(command=acp_replay(FILE).command, env={"X": "1"})
    assert run_subagent_sync(spec, "say this").text == "say this"

def test_skipped(acp_scripted):
    acp_scripted({"prompt": []})
    pytest.skip("later")

def test_failed(acp_scripted):
    acp_scripted({"prompt": []})
    assert False
"""
UNFIT = """
import pathlib
import pytest

@pytest.mark.parametrize(("make", "told"), [
    (lambda s, r: s({"promt": []}), "promt: unknown word"),
    (lambda s, r: s("none.json"), "none.json: cannot be read: No such file or directory"),
    (lambda s, r: s("."), "cannot be read: Is a directory"),
    (lambda s, r: s({"prompt": []}, command=["x"]), "acp_scripted takes no command"),
    (lambda s, r: s(["prompt"]), "a scenario is a mapping, or the path of a YAML or JSON file, not list"),
    (lambda s, r: r("none.jsonl"), "none.jsonl: there is no such file"),
    (lambda s, r: r("."), "a folder"),
    (lambda s, r: r("foreign.jsonl"), "foreign.jsonl: it is no recording: none of its lines is a frame of a run"),
    (lambda s, r: r(None), "not NoneType"),
])
def test_it(acp_scripted, acp_replay, make, told):
    pathlib.Path(__file__).with_name("foreign.jsonl").write_text('{"level": "info"}\\n{"level": "debug"}\\n')
    with pytest.raises((ValueError, TypeError), match=told):
        make(acp_scripted, acp_replay)
"""
SAID = """
FILE = "transcripts/test_golden.test_it.jsonl"

def test_by_text(acp_replay):
    assert run_subagent_sync(acp_replay(FILE), "say that").text == "say this"

def test_by_failure(acp_replay):
    result = run_subagent_sync(acp_replay(FILE), "say that")
    assert result.failure is None, result.failure.rpc_message
"""
MANY = """
import pytest

def say(acp_record, text, **options):
    assert run_subagent_sync(acp_record(ECHO, **options), text).text == text

class TestOne:
    def test_it(self, acp_record):
        say(acp_record, "one")

class TestTwo:
    def test_it(self, acp_record):
        say(acp_record, "two")

@pytest.mark.parametrize("text", ["a/b", "a:b", "c"])
def test_case(acp_record, text):
    say(acp_record, text)
"""
SHARED = """
import pytest

@pytest.mark.parametrize("text", ["first", "second"])
def test_case(acp_record, text):
    assert run_subagent_sync(acp_record(ECHO, name="shared"), text).text == text
"""
FAILING = """
def test_it(acp_record):
    assert run_subagent_sync(acp_record(ECHO), "other").text == "say this"

def test_none(acp_record):
    acp_record(ECHO)

def test_twice(acp_record):
    spec = acp_record(ECHO)
    assert [run_subagent_sync(spec, "x").text for _ in range(2)] == ["x", "x"]

def test_again(acp_record):
    acp_record(ECHO), acp_record(ECHO)

def test_odd(acp_record):
    acp_record(ECHO, "../out")

def test_text(acp_record):
    acp_record("echo")
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ended]:
    """A project whose recordings were made, and how that ended."""
    project = Project(tmp_path_factory.mktemp("recorded"))
    project.write("two.json", json.dumps({"prompt": [{"chunk": "two"}]}))
    project.write("test_scripted.py", SCRIPTED)
    project.write("test_golden.py", RECORDED)
    return project, project.pytest("--acp-record")


@pytest.fixture
def project(recorded: tuple[Project, Ended], tmp_path: Path) -> Project:
    """A copy of it."""
    shutil.copytree(recorded[0].folder, tmp_path / "copy")
    return Project(tmp_path / "copy")


def test_scenarios_are_agents_and_recordings_are_made_on_request(recorded: tuple[Project, Ended]) -> None:
    """One for each spec, named as the test or as it says, with nothing of the machine's folders in it."""
    project, ended = recorded
    assert ended.code == 0, ended.output
    folder = project.folder / "transcripts"
    assert sorted(path.name for path in folder.iterdir()) == [
        "by.name.jsonl",
        "test_golden.test_it.jsonl",
        "test_golden.test_sub_agents.jsonl",
    ]
    header = json.loads((folder / "test_golden.test_it.jsonl").read_text().split("\n")[0])
    assert (header["agent"], header["parent"], header["cwd"]) == ("test_golden.test_it", None, "{cwd}")


def test_what_is_recorded_is_replayed_without_the_agent(project: Project) -> None:
    """It may be uninstalled by then."""
    file = project.folder / "test_golden.py"
    file.write_text(file.read_text().replace('"echo"', '"no such agent"'))
    ended = project.pytest("test_golden.py")
    assert ended.code == 0, ended.output


def test_a_missing_recording_says_how_to_make_it(project: Project) -> None:
    """The command, to be copied."""
    shutil.rmtree(project.folder / "transcripts")
    ended = project.pytest("test_golden.py::test_it")
    assert ended.code == 1
    assert "record it with: pytest --acp-record test_golden.py::test_it" in ended.output


def test_a_golden_run_that_differs_fails_its_test(project: Project) -> None:
    """Whatever the test itself looked at; not with `check=False`, nor where it is lenient."""
    project.write("test_golden.py", DIFFERING)
    ended = project.pytest("test_golden.py")
    assert ended.code == 1
    assert "4 passed, 2 errors" in ended.output
    for said in ('-    "text": "say this"', '+    "text": "say that"', '+    "text": "say thus"'):
        assert said in ended.output


def test_a_difference_is_told_once_with_the_tests_own_failure(project: Project) -> None:
    """Beside it where the test does not say it itself; it is no second fault of the test."""
    project.write("test_golden.py", SAID)
    ended = project.pytest("test_golden.py")
    assert ended.code == 1
    assert "2 failed in" in ended.output
    told, _, _ = ended.output.partition("short test summary")  # which pytest does not cut where `CI` is set
    assert told.count('+    "text": "say that"') == 2, ended.output


def test_what_was_never_run_fails_its_test(project: Project) -> None:
    """Unless that is meant, or the test did not come so far; an agent by the spec's command alone is seen too."""
    project.write("test_golden.py", IDLE)
    ended = project.pytest("test_golden.py")
    assert ended.code == 1
    assert "1 failed, 5 passed, 1 skipped, 3 errors" in ended.output, ended.output
    for said in ("acp_scripted({…})", "acp_replay('transcripts/test_golden.test_it.jsonl')", "acp_record(spec, name="):
        assert f"never run: {said}" in ended.output
    assert "check=False if it need not be run" in ended.output


def test_what_cannot_be_played_is_said_when_it_is_made(tmp_path: Path) -> None:
    """Scenarios and recordings, missing, of another kind, or wrong."""
    project = Project(tmp_path)
    project.write("test_unfit.py", UNFIT)
    ended = project.pytest()
    assert ended.code == 0, ended.output


def test_a_test_that_fails_leaves_the_recording_as_it_was(project: Project) -> None:
    """So does one that records nothing, or more than one run; each says why."""
    project.write("test_golden.py", FAILING)
    golden = project.folder / "transcripts" / "test_golden.test_it.jsonl"
    before = golden.read_bytes()
    ended = project.pytest("--acp-record", "test_golden.py")
    assert ended.code == 1
    assert "4 failed, 2 passed, 2 errors" in ended.output
    for said in (
        "no run of 'test_golden.test_none' came to be known: run what acp_record returns, once",
        "'test_golden.test_twice' ran 2 times, and a recording is of one run",
        "has a recording called 'test_golden.test_again' already: each run has its own; call this one otherwise",
        "'../out' is no name for a recording",
        "TypeError: acp_record takes an AgentSpec, such as AgentSpec(command=('opencode', 'acp')), not 'echo'",
    ):
        assert said in ended.output
    assert golden.read_bytes() == before
    assert len(list(golden.parent.iterdir())) == 3


def test_each_test_has_a_recording_of_its_own(tmp_path: Path) -> None:
    """Classes, cases and modules of one folder: what was recorded by each is what it replays."""
    project = Project(tmp_path)
    project.write("test_many.py", MANY)
    project.write("test_more.py", MANY.replace('"one"', '"another one"'))
    for arguments in (["--acp-record"], []):
        ended = project.pytest(*arguments)
        assert (ended.code, "10 passed" in ended.output) == (0, True), ended.output
    names = {path.name for path in (tmp_path / "transcripts").iterdir()}
    assert {"test_many.TestOne.test_it.jsonl", "test_more.TestOne.test_it.jsonl", "test_many.test_case-c.jsonl"} < names
    assert len(names) == 10


def test_two_tests_never_write_one_recording(tmp_path: Path) -> None:
    """A name that somebody has given to both is refused; the first one's is as it was recorded."""
    project = Project(tmp_path)
    project.write("test_shared.py", SHARED)
    ended = project.pytest("--acp-record")
    assert ended.code == 1
    assert "1 failed, 1 passed" in ended.output
    assert "shared.jsonl is recorded by two tests, 'test_shared.py::test_case[first]' and" in ended.output
    assert '"first"' in (tmp_path / "transcripts" / "shared.jsonl").read_text()


def test_a_session_that_uses_no_fixture_loads_nothing() -> None:
    """Neither an event loop nor models: the import of the plugin is its own and pytest's alone."""
    program = """
import sys, pytest
before = set(sys.modules)
import acp_client.testing
print(sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "['acp_client', 'acp_client._version', 'acp_client.testing']\n"
