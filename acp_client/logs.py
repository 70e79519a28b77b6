"""Loggers of this library: structlog's interface over the standard library's loggers, which the program configures.

Owns nothing else: no level, no handler, no global set-up. Without any, warnings and errors reach stderr and the rest
nobody. Values are shown by their repr, so that text of a child cannot carry an escape sequence into a terminal; a
traceback quotes such text too, so it is formatted here already, and cleaned like the line above it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableMapping
from typing import Any


class _Cleaning(logging.Filter):
    """Gives a record the text of its traceback, where every formatter of the standard library looks for it first."""

    def __init__(self) -> None:
        super().__init__()
        self.clean: Callable[[str], str] = str

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_text is None:
            record.exc_text = self.clean(logging.Formatter().formatException(record.exc_info))
        return True


_CLEANING = _Cleaning()


def clean_with(clean: Callable[[str], str]) -> None:
    """What makes a text fit for a log: no secret, nothing that steers a terminal. Set by who knows, for all loggers."""
    _CLEANING.clean = clean


def get_logger(name: str) -> Any:
    """A structlog logger over `logging.getLogger(name)`; structlog is imported now, so ask late."""
    import structlog  # noqa: PLC0415  # not free, and most runs log nothing

    logger = logging.getLogger(name)
    logger.addFilter(_CLEANING)  # once, however often it is asked for
    return structlog.wrap_logger(
        logger,
        processors=[structlog.stdlib.filter_by_level, _as_text, structlog.stdlib.render_to_log_kwargs],
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def _as_text(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """One line: the event, then its values; a traceback stays for the filter to format."""
    kept = {key: event[key] for key in ("exc_info", "stack_info") if key in event}
    values = [f"{key}={value!r}" for key, value in event.items() if key not in ("event", *kept)]
    return {"event": _CLEANING.clean(" ".join([str(event["event"]), *values])), **kept}
