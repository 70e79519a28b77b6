"""The exit code of `subagent run`. Pure: the table of reasons, permissions that were all denied, signals, pipes."""

from __future__ import annotations

import errno
import signal
from typing import Final

from acp_client.cli import BROKEN_PIPE, SIGNALLED
from acp_client.outcome import REASONS, RunResult

ALL_DENIED: Final = 5
"""Completed, but everything that the agent asked for was denied: it may have done nothing of what it was told."""
OUTPUT_FAILED: Final = 1
"""The answer could not be written (a full disk)."""


def exit_code(result: RunResult, caught: signal.Signals | None = None, output_error: OSError | None = None) -> int:
    """The code for a run: a signal that we caught first, then what became of our output, then the run itself."""
    if caught is not None:
        return SIGNALLED + caught
    if output_error is not None:
        return BROKEN_PIPE if output_error.errno == errno.EPIPE else OUTPUT_FAILED
    code = REASONS[result.reason].exit_code
    return ALL_DENIED if code == 0 and all_denied(result) else code


def all_denied(result: RunResult) -> bool:
    """True if at least one permission was asked and none was given. What was sent counts, not what was decided."""
    kinds = [record.option_kind or "" for record in result.permissions]
    return bool(kinds) and not any(kind.startswith("allow") for kind in kinds)
