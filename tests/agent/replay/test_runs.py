"""A run is recorded, its agent is gone, and the parent's result is the same: through the public door, on both loops."""

import re
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner, RunResult
from acp_client.record.format.difference import difference
from acp_client.record.format.normalise import Normaliser
from tests.support.scenarios import QUICK

WAIT_SECONDS = 40.0
SCENARIOS = Path(__file__).resolve().parents[3] / "fixtures" / "scenarios"


def told(result: RunResult, cwd: Path) -> Any:
    """A result without what is another in each run: ids, times, the program that was started."""
    value = result.model_dump(mode="json", exclude={"run_id", "timings", "transcript"})
    value["diagnostics"].pop("path_used")
    for record in value["permissions"]:
        record.pop("seconds")
    if value["failure"]:
        value["failure"]["message"] = value["failure"]["message"].partition("; command: ")[0]
    return Normaliser({str(cwd): "{cwd}"}).value(value)


async def run(spec: AgentSpec, prompt: str, transcripts: Path | None = None) -> RunResult:
    """One run, bounded."""
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner(transcripts=transcripts) as runner:
            return await (await runner.start(spec, prompt)).result()


async def recorded(folder: Path, scenario: str, **fields: Any) -> RunResult:
    """A run of a scenario that leaves its record in the folder."""
    command = (sys.executable, "-m", "acp_agent", "scripted", str(SCENARIOS / f"{scenario}.yaml"))
    spec = AgentSpec(command=command, **{"cwd": folder, "limits": Limits(**QUICK), **fields})
    result = await run(spec, "go", folder / "records")
    assert result.transcript is not None
    return result


@pytest.mark.parametrize("scenario", ["tools", "files", "structured", "noise", "crash"])
async def test_a_replayed_run_has_the_same_result(scenario: str, tmp_path: Path) -> None:
    """Whatever the agent did, and however it ended; in another folder."""
    before = await recorded(tmp_path, scenario, permission="allow")
    other = tmp_path / "other place"
    other.mkdir()
    spec = AgentSpec.replay(str(before.transcript), cwd=other, permission="allow", limits=Limits(**QUICK))
    after = await run(spec, "go")
    assert difference(told(before, tmp_path), told(after, other)) == ""


async def test_another_decision_ends_the_run_with_the_difference(tmp_path: Path) -> None:
    """The permission is asked again, and the answer is not the recorded one."""
    before = await recorded(tmp_path, "permission", permission="allow")
    after = await run(AgentSpec.replay(str(before.transcript), cwd=tmp_path, permission="reject"), "go")
    assert (after.status, after.reason) == ("error", "agent_error")
    assert after.failure is not None
    assert "the answer to session/request_permission is not what was recorded" in str(after.failure.rpc_message)
    assert after.diagnostics.exit_code == 1
    assert "the answer to session/request_permission" in after.diagnostics.stderr_tail


async def test_lenient_takes_another_prompt(tmp_path: Path) -> None:
    """It says so on stderr alone."""
    before = await recorded(tmp_path, "hello")
    after = await run(AgentSpec.replay(str(before.transcript), lenient=True, cwd=tmp_path), "something else")
    assert (after.status, after.text) == ("completed", before.text)
    assert "warning: replay of " in after.diagnostics.stderr_tail


async def test_a_replay_can_be_cancelled_where_the_run_was(tmp_path: Path) -> None:
    """The cancel is waited for, and the agent's answer to it is the recorded one."""
    before = await _cancelled(_scripted(tmp_path, "slow"), tmp_path / "records")
    after = await _cancelled(AgentSpec.replay(str(before.transcript), cwd=tmp_path, limits=Limits(**QUICK)), None)
    assert (before.reason, after.reason, after.stop_reason) == ("cancelled", "cancelled", before.stop_reason)
    assert after.diagnostics.exit_code == 0


def _scripted(folder: Path, scenario: str) -> AgentSpec:
    command = (sys.executable, "-m", "acp_agent", "scripted", str(SCENARIOS / f"{scenario}.yaml"))
    return AgentSpec(command=command, cwd=folder, limits=Limits(**QUICK))


async def _cancelled(spec: AgentSpec, transcripts: Path | None) -> RunResult:
    """A run that is cancelled as soon as it says something."""
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner(transcripts=transcripts) as runner:
            run = await runner.start(spec, "go")
            async for event in run.events():
                if type(event).__name__ == "TextChunk":
                    await run.cancel()
            return await run.result()


def test_a_spec_of_a_replay_says_what_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own agent with the file, whose path no later chdir changes; other fields are as given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").touch()
    spec = AgentSpec.replay("a.jsonl", lenient=True, pace=2.0, name="again", permission="allow")
    options = ("--lenient", "--pace=2.0", "--", str(tmp_path / "a.jsonl"))
    assert spec.command == (sys.executable, "-P", "-m", "acp_agent", "replay", *options)
    assert (spec.label, spec.permission) == ("again", "allow")
    assert AgentSpec.replay(tmp_path / "a.jsonl").command[-2:] == ("--", str(tmp_path / "a.jsonl"))


@pytest.mark.parametrize(
    ("file", "fields", "kind", "told"),
    [
        ("none.jsonl", {}, ValueError, "/none.jsonl: there is no such file to replay; give a transcript, such as Run"),
        (".", {}, ValueError, ": this is a folder, and a replay is of one file in it; give a transcript"),
        (None, {}, TypeError, "a replay is of a file: give its path, as a str or path object, not NoneType"),
        ("a.jsonl", {"command": ["x"]}, ValueError, "a replay takes no command: that is what plays the file"),
        ("a.jsonl", {"lenint": True}, ValueError, "a replay has no 'lenint'; did you mean 'lenient'?"),
        ("a.jsonl", {"permision": "allow"}, ValueError, "a replay has no 'permision'; did you mean 'permission'?"),
    ],
)
def test_a_replay_that_cannot_be_is_refused_when_the_spec_is_built(
    file: Any, fields: dict[str, Any], kind: type[Exception], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is not there, and what is no field of a replay; nothing is dropped in silence."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(kind, match=re.escape(told)):
        AgentSpec.replay(file, **fields)


@pytest.mark.parametrize("pace", [0, -1.0, float("inf"), float("nan"), True, "fast"])
def test_a_pace_is_a_number_above_zero(pace: Any) -> None:
    """Said when the spec is built."""
    with pytest.raises(ValueError, match="it is a number above 0"):
        AgentSpec.replay("a.jsonl", pace=pace)
