"""The parent with tool handlers: what it books, what its model would see, and what only people see."""

from pathlib import Path

from tests.examples.program import example

SEEN = "What the model sees"
TRACE = "What only people see: the trace"
EXTRACTED, JUDGED, RESOLVED = 1, 7, 3
"""Requests: six trades one by one, and the day as a whole, to the same judge."""


def test_the_parent_books_what_is_approved_and_sees_one_tool_result_for_each_request(tmp_path: Path) -> None:
    """No message holds anything of the children's work; the trace does, each entry under its breadcrumb."""
    done = example("trades_desk.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    said, _, rest = done.stdout.partition(SEEN)
    messages, _, trace = rest.partition(TRACE)
    assert "process_trade_file: booked 4 of 6 trades" in said
    assert "close_the_day: the day is within its limits" in said
    assert "Goldmann Sachs is not known (near: Goldman Sachs)" in said
    assert said.count("Consulting ") == EXTRACTED + JUDGED + RESOLVED
    assert messages.count("\n  tool ") == EXTRACTED + JUDGED + RESOLVED
    assert (messages.count("\n  user "), messages.count("\n  assistant ")) == (3, 4)
    assert "Trades Agent" not in messages
    assert "Resolve counterparties" not in messages
    for name, requests in (
        ("trade_file_extractor", EXTRACTED),
        ("risk_judge", JUDGED),
        ("counterparty_resolver", RESOLVED),
    ):
        assert trace.count(f"Trades Agent › {name}: end ") == requests
    assert "Trades Agent › trade_file_extractor: tool_call Resolve counterparties completed" in trace


def test_a_file_that_cannot_be_read_is_said_and_is_exit_code_1(tmp_path: Path) -> None:
    """A child's failure is a sentence for the parent."""
    done = example("trades_desk.py", "none.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "failed: trade_file_extractor gave no TradeFile: " in done.stdout
    assert "none.csv" in done.stdout
