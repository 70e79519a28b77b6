"""A queue in a folder of its own, and a command line that ends with the test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acp_client.approvals.store import Store
from tests.cli.command import Subagent


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the queue is; the environment says so too."""
    found = tmp_path / "approvals.db"
    monkeypatch.setenv("ACP_SUBAGENTS_APPROVALS", str(found))
    return found


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """The queue; what a reviewer, or a parent, has of it."""
    opened = Store(path)
    yield opened
    opened.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Subagent]]:
    """`start("approvals", "watch")`, and the like."""
    started: list[Subagent] = []

    def begin(*words: str | Path) -> Subagent:
        started.append(Subagent(*words, cwd=tmp_path))
        return started[-1]

    yield begin
    for one in started:
        one.clean_up()
