"""Loggers of this library: structlog's interface over the standard library's loggers, which the program configures.

Owns nothing else: no level, no handler, no global set-up. Without any, warnings and errors reach stderr and the rest
nobody. Values are shown by their repr, so that text of a child cannot carry an escape sequence into a terminal.
"""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Any


def get_logger(name: str) -> Any:
    """A structlog logger over `logging.getLogger(name)`; structlog is imported now, so ask late."""
    import structlog  # noqa: PLC0415  # not free, and most runs log nothing

    return structlog.wrap_logger(
        logging.getLogger(name),
        processors=[structlog.stdlib.filter_by_level, _as_text, structlog.stdlib.render_to_log_kwargs],
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def _as_text(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """One line: the event, then its values; a traceback stays for the handler to format."""
    kept = {key: event[key] for key in ("exc_info", "stack_info") if key in event}
    values = [f"{key}={value!r}" for key, value in event.items() if key not in ("event", *kept)]
    return {"event": " ".join([str(event["event"]), *values]), **kept}
