"""Starts agents of ours as processes for a test and ends them after it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agent.served import ODD, Served


@pytest.fixture(params=["asyncio", "trio"])
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    """The odd agent of tests/support, on each event loop."""
    child = Served(ODD, cwd=tmp_path, backend=request.param)
    yield child
    child.clean_up()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start `python ARGV`: `start("-m", "acp_agent", "echo")`."""
    children: list[Served] = []

    def start_one(*argv: str | Path) -> Served:
        children.append(Served(*argv, cwd=tmp_path))
        return children[-1]

    yield start_one
    for child in children:
        child.clean_up()
