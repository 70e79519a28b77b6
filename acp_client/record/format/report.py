"""What a played agent reports in a file of its own, beside the wire: that it was started, and what differed.

Owns the option by which a test asks for it. A test looks at neither stderr nor exit code: it reads the file at its end.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

REPORT_OPTION: Final = "--report="
"""Before the name of the file, among the arguments of a scripted or a replayed agent."""


def report(path: str, text: str = "") -> None:
    """Append to the file, which is made if it is not there; without a name, or where it cannot be written, nothing."""
    with suppress(OSError), open(path, "a", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # costs
        file.write(text)
