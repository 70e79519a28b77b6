"""The coverage gate holds each promise at its own threshold."""

import json

from scripts.tools.coverage_gate import Count, counts, is_complete, shortfalls


def count(covered: int, total: int = 100) -> Count:
    """So much of so much."""
    return Count(total=total, covered=covered)


def test_all_at_their_thresholds_fall_short_of_nothing() -> None:
    """95 of 100 is enough, except where 100 is promised."""
    files = {"acp_client/runner.py": count(95), "acp_client/protocol/link.py": count(100)}
    assert shortfalls(files) == []


def test_one_missed_branch_of_the_protocol_is_a_shortfall() -> None:
    """Rounding cannot hide it."""
    files = {"acp_client/protocol/models/tools.py": count(99_999, 100_000)}
    (short,) = shortfalls(files)
    assert short.startswith("coverage: acp_client/protocol/models/tools.py ")


def test_a_weak_package_cannot_hide_behind_a_strong_one() -> None:
    """Packages are judged at every depth, and all together."""
    files = {"acp_client/runner.py": count(1000, 1000), "acp_client/cli/run.py": count(90)}
    (short,) = shortfalls(files)
    assert short == "coverage: acp_client/cli has 90.0 %, and must have 95 %"


def test_the_promised_files_are_those_of_pure_code() -> None:
    """Turn, outcome, scrub and the protocol at every depth; not their neighbours."""
    promised = ("protocol/peer.py", "protocol/models/a.py", "session/turn.py", "session/turn_x.py")
    assert all(is_complete(f"acp_client/{path}") for path in (*promised, "outcome/result.py"))
    assert is_complete("acp_client/process/environment.py")
    assert not any(is_complete(f"acp_client/{path}") for path in ("runner.py", "process/tree.py"))


def test_lines_and_branches_are_counted_together() -> None:
    """A branch not taken weighs as much as a line not run."""
    summary = {
        "num_statements": 10,
        "covered_lines": 10,
        "num_branches": 4,
        "covered_branches": 3,
    }
    report = json.dumps({"files": {"acp_client/x.py": {"summary": summary}}})
    assert counts(report) == {"acp_client/x.py": Count(total=14, covered=13)}


def test_an_empty_file_is_covered() -> None:
    """Nothing to run, nothing missed."""
    assert count(0, 0).percent == 100.0
