"""One Chromium for the tests of a worker, and pages of runs for it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acp_client.record.tree.forest import plant
from acp_client.record.tree.runs import Run
from acp_client.record.viewer.page import render
from tests.record.viewer.browser import Browser, find_chromium


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Skipped, with the reason, where there is none."""
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    with Browser(path, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def shown(chromium: Browser, tmp_path: Path) -> Callable[..., Browser]:
    """`shown(run, …)`: the browser with a page of these runs."""

    def show(*runs: Run, dark: bool = False) -> Browser:
        page = tmp_path / "page.html"
        page.write_text(render(plant(runs), "page"))
        chromium.open(page, dark=dark)
        return chromium

    return show
