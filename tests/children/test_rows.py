"""No case of an odd child is forgotten: each id is on some test, and no test names one that does not exist."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.children.rows import LATER, ROWS

TESTS = Path(__file__).resolve().parents[1]


def marked() -> Counter[str]:
    """How many markers `row` in the tests name each id."""
    files = [path for path in TESTS.rglob("test_*.py") if path.name != Path(__file__).name]
    return Counter(name for path in files for name in _rows_in(ast.parse(path.read_text())))


def _rows_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.row":
            for argument in node.args:
                assert isinstance(argument, ast.Constant), f"a row is named by a literal: {ast.unparse(node)}"
                yield str(argument.value)


def test_every_row_has_a_test_or_waits_for_a_feature() -> None:
    """The ids without either."""
    tested = marked()
    assert [row for row in ROWS if not tested[row] and row not in LATER] == []


def test_no_test_names_a_row_that_does_not_exist() -> None:
    """A slip of the pen would hide a missing one."""
    assert sorted(marked().keys() - set(ROWS)) == []
    assert sorted(LATER.keys() - set(ROWS)) == []


def test_the_rows_are_all_there_once() -> None:
    """Their number is known."""
    assert len(ROWS) == len(set(ROWS)) == 102
