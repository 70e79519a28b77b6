"""Measures files, functions, classes and folders against the project's limits.

Complexity and parameters are ruff's (C901, PLR0913). A soft limit may be passed only by what
`[tool.sizes.allow]` in pyproject.toml names, with its reason; a hard one by nothing.
A function's soft length leaves out its docstring, so that nobody saves on that; the hard one counts
every line.
"""

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
FILE_LINES, FILE_LINES_HARD = 300, 400
FUNCTION_LINES, FUNCTION_LINES_HARD = 30, 50
CLASS_LINES = 200
FOLDER_FILES = 12
FULL_ROOTS = ("acp_client", "acp_agent", "scripts")
TEST_ROOT = "tests"  # tests are held to the hard file limit and to the folder's

type_of_function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offence:
    """One thing that is over a limit; `name` is how an allowance names it."""

    where: str
    name: str
    rule: str
    hard: bool

    def __str__(self) -> str:
        return f"{self.where}: {self.name}: {self.rule}"


def main() -> None:
    """Print what is over a limit and not allowed to be; exit 1 if there is any."""
    complaints = check(REPO)
    print("\n".join(complaints) or "sizes: all within their limits")
    sys.exit(1 if complaints else 0)


def check(repo: Path) -> list[str]:
    """Every complaint about a tree, allowances that nothing needs any more included."""
    allowed = allowances(repo)
    offences = list(offences_in(repo))
    complaints = [str(one) for one in offences if one.hard or one.name not in allowed]
    needed = {one.name for one in offences}
    stale = [
        f"pyproject.toml: {name}: an allowance that is no longer needed; delete it"
        for name in sorted(allowed.keys() - needed)
    ]
    return complaints + stale


def allowances(repo: Path) -> dict[str, str]:
    """Name of the offence → the reason it may stand."""
    project = tomllib.loads((repo / "pyproject.toml").read_text())
    found: dict[str, str] = project.get("tool", {}).get("sizes", {}).get("allow", {})
    return found


def offences_in(repo: Path) -> Iterator[Offence]:
    """Every offence in the packages, the scripts and the tests."""
    for root in (*FULL_ROOTS, TEST_ROOT):
        files = sorted((repo / root).rglob("*.py"))
        yield from _folders(repo, files)
        for file in files:
            yield from _in_file(file.relative_to(repo).as_posix(), file.read_text())


def _folders(repo: Path, files: Iterable[Path]) -> Iterator[Offence]:
    per_folder: dict[str, int] = {}
    for file in files:
        folder = file.parent.relative_to(repo).as_posix()
        per_folder[folder] = per_folder.get(folder, 0) + 1
    for folder, number in per_folder.items():
        if number > FOLDER_FILES:
            rule = f"{number} files in a folder, at most {FOLDER_FILES}"
            yield Offence(where=folder, name=folder, rule=rule, hard=False)


def _in_file(path: str, source: str) -> Iterator[Offence]:
    is_test = path.startswith(f"{TEST_ROOT}/")
    lines = source.count("\n")
    if lines > (FILE_LINES_HARD if is_test else FILE_LINES):
        rule = f"{lines} lines in a file, at most {FILE_LINES} (hard {FILE_LINES_HARD})"
        yield Offence(where=f"{path}:1", name=path, rule=rule, hard=lines > FILE_LINES_HARD)
    if not is_test:
        yield from _in_body(path, "", ast.parse(source))


def _in_body(path: str, outer: str, node: ast.AST) -> Iterator[Offence]:
    """Functions and classes at any depth below a node, by their qualified names."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*type_of_function, ast.ClassDef)):
            yield from _in_body(path, outer, child)
            continue
        qualified = f"{outer}{child.name}"
        judge = _class if isinstance(child, ast.ClassDef) else _function
        yield from judge(f"{path}:{child.lineno}", f"{path}::{qualified}", child)
        yield from _in_body(path, f"{qualified}.", child)


def _class(where: str, name: str, node: ast.AST) -> Iterator[Offence]:
    lines = _lines(node)
    if lines > CLASS_LINES:
        rule = f"{lines} lines in a class, at most {CLASS_LINES}"
        yield Offence(where=where, name=name, rule=rule, hard=False)


def _function(where: str, name: str, node: ast.AST) -> Iterator[Offence]:
    lines, code_lines = _lines(node), _lines(node) - _docstring_lines(node)
    if code_lines > FUNCTION_LINES or lines > FUNCTION_LINES_HARD:
        rule = (
            f"{code_lines} lines in a function, at most {FUNCTION_LINES};"
            f" {lines} with its docstring, at most {FUNCTION_LINES_HARD} (hard)"
        )
        yield Offence(where=where, name=name, rule=rule, hard=lines > FUNCTION_LINES_HARD)


def _lines(node: ast.AST) -> int:
    """From the `def` or `class` line (decorators left out) to the last, both counted."""
    assert isinstance(node, (ast.stmt, ast.expr))
    assert node.end_lineno is not None  # ast.parse sets it on every node
    return node.end_lineno - node.lineno + 1


def _docstring_lines(node: ast.AST) -> int:
    assert isinstance(node, type_of_function)
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return _lines(first) if is_docstring and ast.get_docstring(node) is not None else 0


if __name__ == "__main__":
    main()
