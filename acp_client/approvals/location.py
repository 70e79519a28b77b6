"""Where the queue is when nobody says: one file for a user, so that runs and reviewers find each other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "ACP_SUBAGENTS_APPROVALS"
"""The file, where another is wanted."""


def default_path() -> Path:
    """`approvals.db` among the user's state (XDG base directories), unless the variable names a file."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"  # noqa: PTH117  # no Path yet
    return folder / "acp-subagents" / "approvals.db"
