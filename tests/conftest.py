"""What every test gets: both event loops, and Hypothesis as this project wants it."""

import os

import pytest
from hypothesis import settings

# No deadline: a busy machine is no finding. In CI the same examples each time: a red run can be
# had again; elsewhere new ones, and those that failed are kept and tried first.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(params=["asyncio", "trio"], scope="session")
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The loop that an `async def test_…` runs on; each runs on both."""
    backend: str = request.param
    return backend
