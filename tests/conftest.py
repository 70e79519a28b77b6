"""What every test gets: both event loops, Hypothesis as this project wants it, and a check of all that we emit."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from acp_client.protocol.outbox import TAP_VARIABLE
from tests.support.tap import check_tapped

pytest_plugins = ["acp_client.testing"]  # our own, also where the package is not installed anew

# No deadline: a busy machine is no finding. In CI the same examples each time: a red run can be
# had again; elsewhere new ones, and those that failed are kept and tried first.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# What a shell starts in the background ignores SIGINT, and so would all that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LOOPS = tuple(filter(None, [os.environ.get("TEST_LOOP")])) or ("asyncio", "trio")
"""Both event loops; with TEST_LOOP that one alone, where time is short."""


@pytest.fixture(params=LOOPS, scope="session")
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The loop that an `async def test_…` runs on."""
    backend: str = request.param
    return backend


@pytest.fixture(scope="session")
def wire_tap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file to which every peer of this session appends what it sends, in this process and in our children."""
    path = tmp_path_factory.mktemp("wire") / "frames"
    path.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TAP_VARIABLE, str(path))
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # hundreds of children would compile themselves anew
        yield path


MEASURED = ("agent", "agents", "approvals", "cli", "examples", "process", "project", "testing")
"""Where tests start children that are our own code under test: coverage follows into these alone, since it makes a
child start several times slower, which short limits would feel."""


@pytest.fixture(autouse=True)
def _children_are_measured_where_they_are_under_test(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    if folder not in MEASURED:
        for name in ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"):
            monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _what_we_emit_is_valid(request: pytest.FixtureRequest, wire_tap: Path) -> Iterator[None]:
    """Whatever our two sides sent during a test must pass the official models, unless the test says `odd_frames`."""
    before = wire_tap.stat().st_size
    yield
    if request.node.get_closest_marker("odd_frames") is None:
        check_tapped(wire_tap, before)
