"""Starts scripted agents for a test and ends them after it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.scripted.child import Child


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    """Start an agent: `play(prompt=[…])` from words, or `play(path)` from a file."""
    children: list[Child] = []

    def start(path: Path | None = None, /, *, env: dict[str, str] | None = None, **words: Any) -> Child:
        if path is None:
            path = tmp_path / f"scenario-{len(children)}.json"
            path.write_text(json.dumps(words))
        children.append(Child(path, tmp_path, env=env))
        return children[-1]

    yield start
    for child in children:
        child.clean_up()
