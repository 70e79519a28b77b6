"""The package offers what its chapters hold, and loads a chapter when it is asked for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from acp_client.protocol import models

FOLDER = Path(models.__file__).parent
CHAPTERS = sorted(path for path in FOLDER.glob("*.py") if path.stem not in {"__init__", "base"})


def public_names(path: Path) -> set[str]:
    """What a file defines without an underscore."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_every_public_name_of_every_chapter_is_offered() -> None:
    """The table in the package leaves none out and invents none."""
    offered = {"EmptyObject", "EnvVariable", "ModelError", "WireModel", "wire_name"}
    assert set(models.__all__) == offered.union(*map(public_names, CHAPTERS))
    assert dir(models) == models.__all__


def test_every_offered_name_can_be_had() -> None:
    """Twice, so that the second time it is bound already."""
    for name in models.__all__ * 2:
        assert getattr(models, name) is not None


def test_a_name_that_is_not_offered_is_an_attribute_error() -> None:
    """As with any module."""
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        getattr(models, "Nothing")  # noqa: B009 - a type checker refuses it otherwise, rightly


@pytest.mark.parametrize(
    ("wanted", "loaded"),
    [
        ("__all__", set()),
        ("EnvVariable", {"base"}),
        ("TextContent", {"base", "content"}),
        ("InitializeRequest", {"base", "capabilities", "initialization"}),
        ("PromptRequest", {"base", "content", "prompt"}),
        ("ReadTextFileRequest", {"base", "services"}),
    ],
)
def test_only_the_chapters_that_are_needed_are_loaded(wanted: str, loaded: set[str]) -> None:
    """A child pays for what it uses."""
    prefix = "acp_client.protocol.models."
    program = (
        f"import sys\nfrom acp_client.protocol.models import {wanted}\n"
        f"print(*(name[{len(prefix)}:] for name in sys.modules if name.startswith({prefix!r})))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert set(done.stdout.split()) == loaded


def test_a_chapter_builds_no_validator_when_it_is_loaded() -> None:
    """Building is put off until a model is used."""
    program = (
        "from acp_client.protocol import models as m\n"
        "print([n for n in m.__all__ if getattr(getattr(m, n), '__pydantic_complete__', False)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.strip() == "[]"
