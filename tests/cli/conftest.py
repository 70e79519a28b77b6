"""Starts `subagent` for a test and ends it after it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Subagent


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Subagent]]:
    """`start("run", "--agent", …)`, in a folder of its own."""
    started: list[Subagent] = []

    def begin(*words: str, **options: Any) -> Subagent:
        started.append(Subagent(*words, cwd=tmp_path, **options))
        return started[-1]

    yield begin
    for one in started:
        one.clean_up()
