"""Logs of an agent: to stderr, since stdout is the wire. The one place in this package that configures structlog."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any, Final

import structlog

LEVEL_VARIABLE: Final = "ACP_AGENT_LOG"
"""debug, info, warning (default) or error."""


def configure() -> None:
    """One line an event, level from the environment, everything to stderr."""
    wanted = os.environ.get(LEVEL_VARIABLE, "warning").upper()
    level = logging.getLevelNamesMapping().get(wanted, logging.WARNING)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def get_logger() -> Any:
    """A logger, configured on first use unless the program has done so itself."""
    if not structlog.is_configured():
        configure()
    return structlog.get_logger("acp_agent")
