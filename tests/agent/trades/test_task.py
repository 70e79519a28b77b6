import json
from pathlib import Path

import pytest

from acp_agent.agents.trades.task import Source, UnclearTask, read_task

CWD = Path("/desk")
FILES = {
    CWD / name for name in ("trades.csv", "a b.csv", "My Trades 2026.csv", "sub/x.txt", "trades", "b.csv", "r.json")
}


def asked(text: str, *attached: Source) -> tuple[Path | str, Path | None]:
    """Return the input and the output that a task names."""
    task = read_task(text, attached, cwd=CWD, exists=FILES.__contains__)
    return task.source.path or task.source.name, task.output


@pytest.mark.parametrize(
    ("text", "source", "output"),
    [
        ("trades.csv", "trades.csv", None),
        ("  a b.csv\n", "a b.csv", None),
        ("'a b.csv'", "a b.csv", None),
        ("file:///desk/a%20b.csv", "a b.csv", None),
        ("Extract the trades from trades.csv.", "trades.csv", None),
        ("Extract the trades from /desk/trades.csv", "trades.csv", None),
        ("Read `./sub/x.txt` please", "sub/x.txt", None),
        ("Read <file:///desk/trades.csv>", "trades.csv", None),
        ("extract trades from trades", "trades", None),
        ("extract trades from missing.csv", "missing.csv", None),
        ("extract My Trades 2026.csv, output: o.json", "My Trades 2026.csv", "o.json"),
        ("trades.csv -> out/o.json", "trades.csv", "out/o.json"),
        ("trades.csv --output o.json", "trades.csv", "o.json"),
        ("Extract trades from trades.csv and write them to o.json.", "trades.csv", "o.json"),
        ("Extract trades from trades.csv and save as 'my out.json'", "trades.csv", "my out.json"),
        ("Extract trades from trades.csv and save the result in /out/o.json", "trades.csv", "/out/o.json"),
        ("Write o.json from trades.csv", "trades.csv", "o.json"),
        ("Convert trades.csv to o.json", "trades.csv", "o.json"),
        ("Input: trades.csv\nOutput: o.json", "trades.csv", "o.json"),
        ("Extract trades from trades.csv and save the result as JSON", "trades.csv", None),
        ("Extract trades from trades.csv, do not write to disk", "trades.csv", None),
        ("Extract trades from trades.csv, see https://example.com/help.html", "trades.csv", None),
        ('Extract "T1" and "T2" from trades.csv', "trades.csv", None),
        (json.dumps({"file": "trades.csv"}), "trades.csv", None),
        (json.dumps({"input": "a b.csv", "output": "o.json"}), "a b.csv", "o.json"),
        ("trades.csv trades.csv", "trades.csv", None),
    ],
)
def test_a_task_names_its_input_and_perhaps_an_output(text: str, source: str, output: str | None) -> None:
    """A task names its input and perhaps an output."""
    assert asked(text) == (CWD / source, CWD / output if output else None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "from trades.csv and b.csv",
        "{}",
        "[1]",
        "{broken",
        "file://elsewhere/trades.csv",
        "https://a.b/c.csv",
    ],
)
def test_a_task_without_exactly_one_input_is_unclear(text: str) -> None:
    """A task without exactly one input is unclear."""
    with pytest.raises(UnclearTask, match="exactly one trades file"):
        asked(text)


def test_what_is_attached_is_the_input() -> None:
    """What is attached is the input."""
    attached = Source("x.csv", content=b"a")
    assert asked("Extract the trades and write them to o.json", attached) == ("x.csv", CWD / "o.json")
    assert asked("", Source("b.csv", CWD / "b.csv")) == (CWD / "b.csv", None)


def test_one_file_named_and_attached_is_one_input() -> None:
    """One file named and attached is one input."""
    assert asked("Extract the trades from b.csv", Source("b.csv", CWD / "b.csv")) == (CWD / "b.csv", None)


def test_another_file_attached_than_named_is_unclear() -> None:
    """Another file attached than named is unclear."""
    with pytest.raises(UnclearTask):
        asked("Extract the trades from trades.csv", Source("b.csv", CWD / "b.csv"))


def test_a_file_that_exists_is_found_beside_any_word() -> None:
    """A file that exists is found beside any word."""
    assert asked("Summarise trades.csv") == (CWD / "trades.csv", None)
    assert asked("Summarise My Trades 2026.csv") == (CWD / "My Trades 2026.csv", None)


@pytest.mark.parametrize(
    "text",
    [
        "nope with space.csv",
        "'nope with space.csv'",
        '"nope with space.csv"',
        "Extract the trades from 'nope with space.csv'",
        "Extract the trades from ‘nope with space.csv’",
        "Extract the trades from „nope with space.csv“",
    ],
)
def test_a_missing_file_with_blanks_in_its_name_is_named_whole(text: str) -> None:
    """A missing file with blanks in its name is named whole."""
    assert asked(text) == (CWD / "nope with space.csv", None)
