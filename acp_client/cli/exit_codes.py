"""The exit code of `subagent run`. Pure: the table of reasons, permissions that were all denied, signals, pipes."""

from __future__ import annotations

import errno
import signal
from typing import Final

from acp_client.cli import BROKEN_PIPE, OUTPUT_FAILED, SIGNALLED
from acp_client.outcome.reasons import REASONS
from acp_client.outcome.result import PermissionRecord, RunResult

ALL_DENIED: Final = 5
"""Completed, but everything that the agent asked for was denied: it may have done nothing of what it was told."""


def exit_code(result: RunResult, caught: signal.Signals | None = None, output_error: OSError | None = None) -> int:
    """The code for a run: a signal that we caught first, then what became of our output, then the run itself."""
    if caught is not None:
        return SIGNALLED + caught
    if output_error is not None:
        return BROKEN_PIPE if output_error.errno == errno.EPIPE else OUTPUT_FAILED
    code = REASONS[result.reason].exit_code
    return ALL_DENIED if code == 0 and all_denied(result) else code


def all_denied(result: RunResult) -> bool:
    """True if at least one permission was asked and none was given. What was sent counts, not what was decided.

    Forms and turns are no permissions; an option that somebody picked was given unless it rejects.
    """
    asked = [record for record in result.permissions if record.subject in ("tool", "choice")]
    return bool(asked) and not any(_given(record) for record in asked)


def _given(record: PermissionRecord) -> bool:
    kind = record.option_kind or ""
    picked = record.subject == "choice" and record.action == "allow" and record.outcome == "selected"
    return kind.startswith("allow") or (picked and not kind.startswith("reject"))
