"""Real agents and clients, where `scripts/install_agents` has put them."""

import json
import os

import pytest

from scripts.tools.agents import Entry, index_path


def real_agent(name: str) -> Entry:
    """How to start a real agent or client; skips the test where it is not installed.

    In CI a missing one fails the test: a skip would look like a check that was made.
    """
    index = index_path()
    found: dict[str, Entry] = json.loads(index.read_text()) if index.is_file() else {}
    if name in found:
        return found[name]
    reason = f"{name} is not in {index}; scripts/install_agents installs it"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
