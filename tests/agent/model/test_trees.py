"""Two hundred replays of one tree, each with its own scheduling; and everything that makes one differ."""

from pathlib import Path
from typing import Final

import anyio
import pytest

from acp_agent.model.golden import TreeDiffers, check, harvest
from tests.agent.model.in_process import Tree

PATHS: Final = [
    f"primary{below}"
    for below in (
        *("", "/clerk.1-2", "/clerk.1-2/helper.1-1", "/clerk.1-2/helper.1-2"),
        *("/worker.1-1", "/worker.1-1/helper.1-1", "/worker.1-1/helper.1-2"),
        *("/worker.1-3", "/worker.1-3/helper.1-1", "/worker.1-3/helper.1-2"),
    )
]
WAIT_SECONDS: Final = 110.0
REPLAYS: Final = 25
"""In each test; there are four on each of two event loops."""


async def record(folder: Path, *tasks: str) -> tuple[Path, list[str]]:
    """A golden folder, and what the tree said."""
    golden, logs = folder / "golden", folder / "recorded"
    answers = await Tree(None, logs, "record").run(*tasks)
    harvest(logs, golden)
    return golden, answers


@pytest.mark.parametrize("part", range(4))
async def test_two_hundred_replays_with_other_scheduling_are_two_hundred_equal_trees(part: int, tmp_path: Path) -> None:
    """Ten agents each, all asked the same; trio begins tasks in any order besides."""
    golden, before = await record(tmp_path, "plan")
    assert len(before[0].split("helper-")) == 7
    with anyio.fail_after(WAIT_SECONDS):
        for seed in range(part * REPLAYS, (part + 1) * REPLAYS):
            logs = tmp_path / f"logs{seed}"
            assert await Tree(golden, logs, seed=seed).run("plan") == before
            check(logs, golden)


async def test_the_harvest_has_a_file_for_each_session_the_primary_first(tmp_path: Path) -> None:
    """By their names they are in the same order; each says whose it is."""
    logs = tmp_path / "logs"
    await Tree(None, logs, "record").run("plan")
    files = harvest(logs, tmp_path / "golden")
    assert [file.name.removesuffix(".jsonl").replace("~~", "/") for file in files] == PATHS
    assert sorted(files) == files


async def test_a_child_in_the_background_plays_its_own_script(tmp_path: Path) -> None:
    """It is asked while the next call goes on, and answers when it likes; another turn follows in the session."""
    golden, before = await record(tmp_path, "background", "again")
    assert (before[0].split("-")[0].splitlines()[1], before[1].split(":")[0]) == ("worker", "Once more")
    with anyio.fail_after(WAIT_SECONDS):
        for seed in range(10):
            logs = tmp_path / f"logs{seed}"
            assert await Tree(golden, logs, seed=seed).run("background", "again") == before
            check(logs, golden)


@pytest.mark.parametrize("swap", ["files", "calls"])
async def test_swapped_scripts_fail_with_the_call_path(swap: str, tmp_path: Path) -> None:
    """Also if somebody made the headers fit: then the parent is told something else than was recorded."""
    golden, _ = await record(tmp_path, "plan")
    one, other = (golden / f"primary~~worker.1-3~~helper.1-{number}.jsonl" for number in (1, 2))
    texts = one.read_text(), other.read_text()
    heads = [text.splitlines(keepends=True)[0] for text in texts]
    bodies = [text.removeprefix(head) for text, head in zip(texts, heads, strict=True)]
    one.write_text(texts[1] if swap == "files" else heads[0] + bodies[1])
    other.write_text(texts[0] if swap == "files" else heads[1] + bodies[0])
    (answer,) = await Tree(golden, tmp_path / "logs").run("plan")
    named = "primary/worker.1-3/helper.1-" if swap == "files" else "primary/worker.1-3: call 2 asks something else"
    assert f"model script of {named}" in answer
    with pytest.raises(TreeDiffers) as caught:
        check(tmp_path / "logs", golden)
    assert caught.value.mismatches[0].call_path.startswith(named.partition(":")[0])


async def test_a_session_that_nobody_had_is_told_after_the_run(tmp_path: Path) -> None:
    """No process could know."""
    golden, _ = await record(tmp_path, "plan")
    more = golden / "primary~~spare.1.jsonl"
    more.write_text((golden / "primary~~clerk.1-2.jsonl").read_text().replace("primary/clerk.1-2", "primary/spare.1"))
    await Tree(golden, tmp_path / "logs").run("plan")
    with pytest.raises(TreeDiffers) as caught:
        check(tmp_path / "logs", golden)
    assert str(caught.value) == (
        "model script of primary/spare.1: nobody had this session, and 2 calls were recorded; "
        "record the run again if that is right"
    )


async def test_a_session_without_a_script_ends_the_run_of_its_parent(tmp_path: Path) -> None:
    """Its own message stands in that of the parent, and first in what is told after the run."""
    golden, _ = await record(tmp_path, "plan")
    (golden / "primary~~worker.1-1~~helper.1-2.jsonl").unlink()
    (answer,) = await Tree(golden, tmp_path / "logs").run("plan")
    told = "model script of primary/worker.1-1/helper.1-2: there is none in "
    assert f"because: {told}" in answer
    with pytest.raises(TreeDiffers) as caught:
        check(tmp_path / "logs", golden)
    assert [one.call_path for one in caught.value.mismatches] == [
        "primary/worker.1-1/helper.1-2",
        "primary/worker.1-1",
        "primary",
    ]
    assert caught.value.mismatches[0].message.startswith(told)
