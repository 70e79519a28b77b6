"""Logs of the command: to stderr, warnings and worse. The one place in this package that sets logging up.

The library's loggers are the standard library's underneath (`acp_client.logs`), so a handler is all there is to set.
What Python itself would print of an exception that nobody caught, or of a warning, goes the same way.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from acp_client.safe_text import printable

if TYPE_CHECKING:
    from acp_client.process.redaction import Redactor
    from acp_client.spec import AgentSpec

UNCAUGHT: Final = "an error that nobody expected"


def configure(spec: AgentSpec | None = None) -> None:
    """One line an event, a traceback under it where there is one.

    Nothing in it can steer the terminal, and no secret is in it: of our environment, of `spec`, or one by its looks.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_SafeFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s", spec))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("acp_client.run.spending").setLevel(logging.ERROR)  # its warnings are told as lines of the run
    logging.captureWarnings(capture=True)
    sys.excepthook = _on_uncaught
    sys.unraisablehook = _on_unraisable
    threading.excepthook = _on_uncaught_in_thread


class _SafeFormatter(logging.Formatter):
    def __init__(self, words: str, spec: AgentSpec | None) -> None:
        super().__init__(words)
        self._spec = spec

    def format(self, record: logging.LogRecord) -> str:
        return printable(self._redactor.redact(super().format(record)), multiline=True)

    @functools.cached_property
    def _redactor(self) -> Redactor:
        from acp_client.process.environment import scrub  # noqa: PLC0415  # most commands log nothing
        from acp_client.process.redaction import Redactor  # noqa: PLC0415  # likewise

        given = {} if self._spec is None else self._spec.env
        let_through = () if self._spec is None else self._spec.env_passthrough
        return Redactor(scrub(os.environ, explicit=given, passthrough=let_through).secrets)


def _on_uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    logging.getLogger(__name__).critical(UNCAUGHT, exc_info=(kind, error, traceback))


def _on_uncaught_in_thread(caught: threading.ExceptHookArgs) -> None:
    if caught.exc_value is not None:
        _on_uncaught(caught.exc_type, caught.exc_value, caught.exc_traceback)


def _on_unraisable(caught: Any) -> None:  # UnraisableHookArgs is a name for type checkers alone
    if caught.exc_value is not None:
        _on_uncaught(caught.exc_type, caught.exc_value, caught.exc_traceback)
