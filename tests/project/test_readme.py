"""README.md is right: its examples are run as a reader would run them, and what it lists is what there is."""

import re
from pathlib import Path

import click
import pytest

from acp_client.cli.command import cli, run_command
from acp_client.cli.trace import trace
from acp_client.outcome.result import Diagnostics, Flags, RunResult
from scripts.tools import readme

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()


def only(markdown: str) -> readme.Block:
    """The single block of a text."""
    (block,) = readme.blocks(markdown)
    return block


def test_a_python_block_runs_as_a_program_in_a_folder_of_its_own() -> None:
    """What it writes lands nowhere near the reader's files."""
    text = "from pathlib import Path\nassert not list(Path().iterdir())\nPath('x').touch()\n"
    assert readme.problem(only(f"```python\n{text}```\n")) == ""
    assert not Path("x").exists()


def test_a_failing_block_is_reported_with_its_output() -> None:
    """The traceback says what to mend."""
    why = readme.problem(only("```python\nraise ValueError('broken')\n```\n"))
    assert "ended with 1" in why
    assert "broken" in why


def test_a_warning_in_an_example_is_a_failure() -> None:
    """Nobody should copy what is deprecated."""
    source = "import warnings\nwarnings.warn('old', DeprecationWarning)\n"
    assert "old" in readme.problem(only(f"```python\n{source}```\n"))


def test_a_block_that_hangs_is_ended_with_all_its_children() -> None:
    """A shell's children hold the pipe; the whole group goes."""
    block = only("```console\n$ echo begun; cat /dev/zero | cat >/dev/null\n```\n")
    why = readme.problem(block, timeout_seconds=0.5)
    assert "not done within 0.5 s" in why
    assert "begun" in why


def test_a_console_block_runs_each_command_and_compares_what_is_shown() -> None:
    """Output that is not shown is not compared."""
    block = only("```console\n$ echo one\none\n$ echo two\n$ echo a b c\na ... c\n```\n")
    assert readme.problem(block) == ""


def test_a_console_block_that_prints_something_else_is_reported() -> None:
    """The command, what it printed and what was shown are in the message."""
    why = readme.problem(only("```console\n$ echo two\none\n```\n"))
    assert why.startswith("$ echo two\n")
    assert "instead of:\none" in why


def test_the_first_command_that_fails_ends_a_console_block() -> None:
    """Later commands would only confuse."""
    assert readme.problem(only("```console\n$ false\n$ echo later\n```\n")).startswith("$ false")


def test_a_block_marked_no_run_is_left_alone_if_it_says_why() -> None:
    """A reason, or it is no mark."""
    fence = "```python\nraise SystemExit(1)\n```\n"
    assert readme.problem(only(f"<!-- no-run: needs an API key -->\n{fence}")) == ""
    assert "needs a reason" in readme.problem(only(f"<!-- no-run -->\n{fence}"))


def test_a_block_is_found_at_the_line_of_its_fence() -> None:
    """The line is what an editor jumps to; other languages are no examples."""
    found = readme.blocks("# Title\n\n```toml\nx = 1\n```\n\n```python\npass\n```\n")
    assert [(block.line, block.language) for block in found] == [(7, "python")]


def test_a_file_without_a_trailing_problem_exits_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program says how many examples it ran."""
    file = tmp_path / "GUIDE.md"
    file.write_text("```python\npass\n```\n")
    monkeypatch.setattr("sys.argv", ["readme", str(file)])
    with pytest.raises(SystemExit, match=r"^0$"):
        readme.main()
    assert "1 examples ran" in capsys.readouterr().out


# ---- what is listed


@pytest.mark.parametrize("command", [run_command, trace], ids=["run", "trace"])
def test_every_option_is_shown_with_its_value_if_it_takes_one(command: click.Command) -> None:
    """In the line that says how the command is written."""
    written = re.findall(rf"^`subagent {command.name} [^`]*`", README, re.MULTILINE)
    words = " ".join(max(written, key=len).split())
    for option in command.params:
        if isinstance(option, click.Option):
            name = option.opts[0]
            value = "" if option.is_flag else r" [A-Za-z\"]"
            assert re.search(rf"[\[ ]{name}{value}", words), name
            assert option.is_flag or not re.search(rf"{name}[\]|]", words), f"{name} looks like a flag"


@pytest.mark.parametrize("model", [RunResult, Diagnostics, Flags])
def test_every_field_of_a_result_is_in_its_table(model: type[RunResult | Diagnostics | Flags]) -> None:
    """Between the two headings."""
    table = README.partition("## What comes back")[2].partition("\n## ")[0]
    assert [name for name in model.model_fields if f"`{name}`" not in table] == []


def test_every_command_is_mentioned() -> None:
    """With its program."""
    with click.Context(cli) as context:
        assert [name for name in cli.list_commands(context) if f"subagent {name}" not in README] == []
