"""Budgets on the command line: the options, the lines on stderr, exit code 6."""

import json
from pathlib import Path
from typing import Any

import pytest

from acp_client.cli.command import execute
from acp_client.cli.show.narration import Narrator
from acp_client.session.events import BudgetUnreported, BudgetWarning
from tests.cli.command import playing, subagent


def cost(amount: float, currency: str = "USD") -> dict[str, Any]:
    """A usage update with a cost."""
    return {"usage": {"used": 10, "size": 100, "cost": {"amount": amount, "currency": currency}}}


def test_a_run_over_its_budget_is_6_and_keeps_its_text(tmp_path: Path) -> None:
    """The warning came before; the failure names the limit."""
    steps = [{"chunk": "so far"}, cost(0.45), cost(0.75), {"hang": True}]
    words = ["--max-cost-usd", "0.50", "--max-tokens", "100", "--max-steps", "5", "--max-wall-seconds", "60"]
    done = subagent("run", "--agent", playing(tmp_path, prompt=steps), *words, "go", cwd=tmp_path)
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (6, b"so far\n"), said
    assert "warning  0.45 USD of max_cost_usd = 0.5 USD spent" in said
    assert "budget_exceeded" in said
    assert "0.75 USD spent, the budget allows max_cost_usd = 0.5 USD" in said


def test_a_limit_that_cannot_hold_is_told_once_in_words_and_in_the_result(tmp_path: Path) -> None:
    """Not twice, as a line and as a log."""
    agent = playing(tmp_path, prompt=[cost(5, "EUR"), {"chunk": "done"}])
    words = ["run", "--agent", agent, "--max-cost-usd", "0.50", "go"]
    done = subagent(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.decode().count("max_cost_usd") == 1
    assert "warning  max_cost_usd cannot hold: its cost is in EUR" in done.stderr.decode()
    lines = subagent(*words, "--format", "jsonl", cwd=tmp_path).stdout.decode().splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["figure"] for event in events if event["event"] == "budget_unreported"] == ["cost_usd"]
    assert events[-1]["budget"]["unreported"] == ["cost_usd"]
    assert events[-1]["budget"]["limits"]["max_cost_usd"] == 0.5


def test_a_complete_answer_that_was_too_dear_is_0_with_a_warning(tmp_path: Path) -> None:
    """What only the answer itself says comes too late to end anything."""
    answer = {"stopReason": "end_turn", "usage": {"totalTokens": 9, "inputTokens": 4, "outputTokens": 5}}
    agent = playing(tmp_path, prompt=[{"chunk": "done"}, {"respond": answer}])
    done = subagent("run", "--agent", agent, "--max-tokens", "5", "go", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"done\n")
    assert "warning  it is complete, but went over max_tokens of its budget" in done.stderr.decode()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--max-steps", "0", "whole number of tool calls greater than 0; say --max-steps 40"),
        ("--max-steps", "2.5", "whole number of tool calls"),
        ("--max-tokens", "many", "whole number of tokens"),
        ("--max-tokens", "9" * 30, "whole number of tokens"),
        ("--max-cost-usd", "-1", "finite number of US dollars greater than 0; say --max-cost-usd 0.50"),
        ("--max-cost-usd", "nan", "finite number of US dollars"),
        ("--max-wall-seconds", "inf", "finite number of seconds greater than 0; say --max-wall-seconds 300"),
    ],
)
def test_a_limit_that_is_none_is_a_wrong_command_line(
    option: str, value: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What failed, the rule, the correction."""
    assert execute(["run", "--agent", "echo", option, value, "hi"]) == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert option in printed
    assert said in printed


def test_a_warning_of_a_shared_budget_says_so_and_a_childs_word_is_made_safe() -> None:
    """A line each."""
    narrator = Narrator()
    (line,) = narrator.lines(BudgetWarning("tokens", 80, 100, shared=True))
    assert str(line) == "warning  80 tokens of max_tokens = 100 tokens spent, by all runs together"
    (line,) = narrator.lines(BudgetUnreported("cost_usd", "its cost is in \x1b[2J"))
    assert "\x1b" not in str(line)
