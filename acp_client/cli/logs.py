"""Logs of the command: to stderr, warnings and worse. The one place in this package that sets logging up.

The library's loggers are the standard library's underneath (`acp_client.logs`), so a handler is all there is to set.
"""

from __future__ import annotations

import logging

from acp_client.safe_text import printable


def configure() -> None:
    """One line an event, a traceback under it where there is one; nothing in it can steer the terminal."""
    handler = logging.StreamHandler()
    handler.setFormatter(_SafeFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


class _SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), multiline=True)
