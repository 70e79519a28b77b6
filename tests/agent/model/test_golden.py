"""The logs of a run against the golden folder, and into it: what only shows when the whole run is over."""

from pathlib import Path

import pytest

from acp_agent.model.__main__ import main
from acp_agent.model.golden import TreeDiffers, check, harvest
from acp_agent.model.mismatch import CallPathTaken, DamagedScript, FailedBefore, ScriptIsThere
from acp_agent.model.script import Script, ScriptCall, file_name, lines_of, mismatch_line

CALLS = tuple(
    ScriptCall(1, {"messages": [{"role": "user", "text": text}], "tools": []}, ({"text": text}, {"stop": "end"}))
    for text in ("a", "b", "c")
)


def put(folder: Path, path: str, *calls: ScriptCall, end: str = "") -> Path:
    """The script of a session in a folder; returns its file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / file_name(path)
    file.write_text(lines_of(Script(path, calls)) + end)
    return file


def differences(logs: Path, golden: Path) -> list[tuple[str, str, str]]:
    """Reason, call path and words of all that differs."""
    with pytest.raises(TreeDiffers) as caught:
        check(logs, golden)
    found = caught.value.mismatches
    return [(one.reason, one.call_path, str(one).removeprefix(f"model script of {one.call_path}: ")) for one in found]


def test_a_run_that_is_as_recorded_passes(tmp_path: Path) -> None:
    """Logs may lie in folders of their own, or in several; the golden folder in one."""
    for folder in (tmp_path / "logs" / "a", tmp_path / "golden"):
        put(folder, "primary", *CALLS)
    for folder in (tmp_path / "more" / "b", tmp_path / "golden"):
        put(folder, "primary/x.1", CALLS[0])
    check([tmp_path / "logs", tmp_path / "more"], tmp_path / "golden")


def test_each_way_to_differ_is_told_by_its_path_in_order(tmp_path: Path) -> None:
    """Of one session the first thing; all sessions."""
    logs, golden = tmp_path / "logs", tmp_path / "golden"
    other = ScriptCall(1, CALLS[1].request, ({"text": "B"}, {"stop": "end"}))
    pairs = {
        "primary": ((CALLS[0],), CALLS[:2]),
        "primary/a.2": (CALLS[:2], (CALLS[0],)),
        "primary/a.10": ((CALLS[0], CALLS[2]), CALLS[:2]),
        "primary/b.1": ((CALLS[0], other), CALLS[:2]),
        "primary/b.1/c.1": (CALLS[:1], None),
        "primary/d.1": (None, CALLS),
    }
    for path, (made, recorded) in pairs.items():
        if made is not None:
            put(logs, path, *made)
        if recorded is not None:
            put(golden, path, *recorded)
    found = differences(logs, golden)
    assert [one[:2] for one in found] == [
        ("unconsumed", "primary"),
        ("exhausted", "primary/a.2"),
        ("changed", "primary/a.10"),
        ("changed_answer", "primary/b.1"),
        ("missing", "primary/b.1/c.1"),
        ("unused", "primary/d.1"),
    ]
    words = [one[2] for one in found]
    assert words[0].startswith("the run ended after 1 call was made, and 2 calls were recorded")
    assert [line.split() for line in words[3].splitlines() if line[0] in "-+"][2:] == [
        ["-", '"text":', '"b"'],
        ["+", '"text":', '"B"'],
    ]
    assert words[5].startswith("nobody had this session, and 3 calls were recorded")


def test_what_a_process_found_itself_comes_first_the_deepest_before_all(tmp_path: Path) -> None:
    """And is not told again in other words."""
    logs, golden = tmp_path / "logs", tmp_path / "golden"
    for path in ("primary", "primary/a.1", "primary/b.1"):
        put(golden, path, *CALLS)
    why = mismatch_line("changed", "model script of primary/a.1: call 2 asks", "- x\n+ y")
    put(logs, "primary", CALLS[0], end=mismatch_line("changed", "model script of primary: call 2 asks", ""))
    put(logs, "primary/a.1", CALLS[0], end=why)
    assert differences(logs, golden) == [
        ("failed", "primary/a.1", "call 2 asks\n- x\n+ y"),
        ("failed", "primary", "call 2 asks"),
        ("unused", "primary/b.1", differences(logs, golden)[2][2]),
    ]


def test_a_script_in_the_file_of_another_is_told(tmp_path: Path) -> None:
    """Though the run did not ask for it."""
    logs, golden = tmp_path / "logs", tmp_path / "golden"
    put(logs, "primary", CALLS[0])
    put(golden, "primary", CALLS[0]).rename(golden / "other.jsonl")
    assert differences(logs, golden) == [
        ("swapped", "primary", f"{golden / 'other.jsonl'} holds the script of primary; put it back")
    ]
    with pytest.raises(FileNotFoundError, match="no golden folder"):
        check(logs, tmp_path / "gone")


def test_the_harvest_is_whole_or_nothing(tmp_path: Path) -> None:
    """A run that went wrong, one that was broken off, two logs of one session, none: then nothing is written."""
    logs, golden = tmp_path / "logs", tmp_path / "golden"
    put(logs, "primary", CALLS[0])
    failed = put(logs, "primary/a.1", end=mismatch_line("missing", "model script of primary/a.1: there is none", ""))
    with pytest.raises(FailedBefore, match=r"model script of primary/a\.1: there is none"):
        harvest(logs, golden)
    failed.write_text(lines_of(Script("primary/a.1", CALLS))[:-20])
    with pytest.raises(DamagedScript, match=r"model script of primary/a\.1: .*:4: this is no JSON"):
        harvest(logs, golden)
    failed.unlink()
    put(logs / "again", "primary", CALLS[0])
    with pytest.raises(CallPathTaken):
        harvest(logs, golden)
    with pytest.raises(FileNotFoundError, match="set ACP_MODEL_LOGS, and ACP_MODEL_MODE to record"):
        harvest(tmp_path / "none", golden)
    assert not golden.exists()


def test_a_refresh_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    """Scripts that the run did not use go; other files stay. Without it nothing is overwritten."""
    logs, golden = tmp_path / "logs", tmp_path / "golden"
    put(logs, "primary", CALLS[1])
    old, spare = put(golden, "primary", CALLS[0]), put(golden, "primary/a.1", CALLS[0])
    (golden / "README.md").write_text("ours")
    with pytest.raises(ScriptIsThere):
        harvest(logs, golden)
    assert spare.exists()
    assert harvest(logs, golden, refresh=True) == [old]
    check(logs, golden)
    assert sorted(file.name for file in golden.iterdir()) == ["README.md", "primary.jsonl"]
    assert oct(put(tmp_path / "fresh", "primary").stat().st_mode & 0o777) != "0o600"
    assert [oct(file.stat().st_mode & 0o777) for file in harvest(logs, tmp_path / "new")] == ["0o600"]


def test_the_command_checks_and_harvests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 for a difference, 2 for what is no command."""
    logs, golden = tmp_path / "logs", tmp_path / "golden"
    put(logs, "primary", CALLS[0])
    assert main(["harvest", str(logs), str(golden)]) == 0
    assert capsys.readouterr().out == f"{golden / 'primary.jsonl'}\n"
    assert main(["check", str(logs), str(golden)]) == 0
    assert main(["harvest", str(logs), str(golden)]) == 1
    assert "use `refresh`" in capsys.readouterr().err
    assert main(["harvest", "--refresh", str(logs), str(golden)]) == 0
    put(logs, "primary", *CALLS)
    assert main(["check", str(logs), str(golden)]) == 1
    assert "call 2 was made, and 1 call was recorded" in capsys.readouterr().err
    for odd in ([], ["check", "x"], ["look", "x", "y"], ["check", "--odd", "x", "y"]):
        assert main(odd) == 2
    assert main(["--help"]) == 0
    assert "exit code 1 if they differ" in capsys.readouterr().out
