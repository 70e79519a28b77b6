"""One working directory: absolute, the same for the process and the session, made so once."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import ValidationError

from acp_client import AgentSpec, Limits, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted


async def places(folder: Path, cwd: Any) -> tuple[str, str]:
    """Run with this directory; give what stood on the wire, and where the process found itself."""
    child = Scripted(folder, {"facts": str(folder / "facts.json")}, limits=Limits(**QUICK), cwd=cwd)
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    assert result.reason == "end_turn", result
    return child.received()[1]["params"]["cwd"], json.loads(child.facts_file.read_text())["cwd"]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with some in it, which is also the home and the working directory of this process."""
    folder = tmp_path.resolve() / "work"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "sub")
    (folder / "dir with é and  blanks").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    return folder


WAYS = {
    ".": ".",
    "sub": "sub",
    "sub/./deep/": "sub/deep",
    "../work": ".",
    "~": ".",
    "~/sub": "sub",
    "dir with é and  blanks": "dir with é and  blanks",
}


@pytest.mark.row("CWD-1")
@pytest.mark.parametrize("way", WAYS)
async def test_any_way_to_say_a_directory_is_absolute_on_the_wire_and_for_the_process(
    way: str, work: Path, tmp_path: Path
) -> None:
    """Relative ones, a home, blanks and letters of all kinds."""
    expected = str((work / WAYS[way]).resolve())
    assert await places(tmp_path, way) == (expected, expected)


@pytest.mark.row("CWD-1")
async def test_a_link_stays_as_it_was_said_and_leads_to_its_target(work: Path, tmp_path: Path) -> None:
    """The wire names the link, the process is behind it."""
    assert await places(tmp_path, work / "link") == (f"{work}/link", f"{work}/sub")


@pytest.mark.row("CWD-1")
async def test_none_means_where_the_caller_is_when_it_calls(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where it was when it built the spec; one that was given is fixed there."""
    seen = []
    children = [Scripted(tmp_path, {}, limits=Limits(**QUICK), cwd=cwd) for cwd in ("sub", None)]
    monkeypatch.chdir(work / "sub" / "deep")
    with anyio.fail_after(20):
        for child in children:
            await run_subagent(child.spec, "go")
            seen.append(child.received()[1]["params"]["cwd"])
    assert seen == [f"{work}/sub", f"{work}/sub/deep"]


async def failing(cwd: Path) -> RunResult:
    """A run that cannot start there."""
    with anyio.fail_after(20):
        return await run_subagent(AgentSpec(command=("true",), cwd=str(cwd)), "go")


@pytest.mark.row("CWD-1", "START-1")
@pytest.mark.parametrize("name", ["missing", "missing/deeper", "a file", "a file/below", "dangling"])
async def test_a_directory_that_is_none_is_a_failure_to_start(name: str, work: Path) -> None:
    """It is looked at when the run starts, and named."""
    (work / "a file").write_text("")
    (work / "dangling").symlink_to(work / "nowhere")
    result = await failing(work / name)
    assert (result.status, result.reason) == ("error", "spawn_failed")
    assert result.failure is not None
    assert f"{work}/{name}" in result.failure.message
    assert "working directory" in result.failure.message
    assert result.failure.retry_safe


@pytest.mark.row("CWD-1")
@pytest.mark.parametrize("cwd", ["", "a\0b", 7, b"/tmp"], ids=repr)
def test_what_is_no_path_is_a_wrong_argument(cwd: Any) -> None:
    """Said when the spec is built, by name."""
    with pytest.raises(ValidationError, match="cwd"):
        AgentSpec(command=("true",), cwd=cwd)
    with pytest.raises(ValidationError, match="additional_directories"):
        AgentSpec(command=("true",), additional_directories=(cwd,))


@pytest.mark.row("CWD-1")
async def test_additional_directories_are_absolute_too(work: Path, tmp_path: Path) -> None:
    """Where the agent takes them."""
    capabilities: dict[str, Any] = {"sessionCapabilities": {"additionalDirectories": {}}}
    child = Scripted(
        tmp_path,
        {"capabilities": capabilities},
        limits=Limits(**QUICK),
        cwd=work,
        additional_directories=("sub", "~/link", work / "sub" / ".."),
    )
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    assert result.reason == "end_turn"
    assert child.received()[1]["params"]["additionalDirectories"] == [f"{work}/sub", f"{work}/link", str(work)]
