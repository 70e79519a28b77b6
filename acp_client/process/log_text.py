"""What this library logs of a run: without secrets, and with nothing that could steer a terminal.

An exception quotes what it is about, which may be a child's words. Owns only that both cleaners are applied, secrets
first; values that are secret for one run alone are not known here.
"""

from __future__ import annotations

import functools

from acp_client.process.redaction import Redactor
from acp_client.safe_text import printable


@functools.cache
def _redactor() -> Redactor:
    return Redactor()


def clean(text: str) -> str:
    """The text, redacted by the looks of secrets, and safe to show."""
    return printable(_redactor().redact(text), multiline=True)
