"""What our two sides emitted while a test ran, checked against the official SDK's models."""

import json
from pathlib import Path
from typing import Any

from acp_client.protocol.methods import METHODS
from tests.support.frames import check_frame


def check_tapped(path: Path, offset: int) -> int:
    """Check every whole frame from `offset` on; return where the next test's frames begin."""
    with path.open("rb") as file:
        file.seek(offset)
        lines = file.read()
    whole = lines[: lines.rfind(b"\n") + 1]
    for line in whole.splitlines():
        method, _, frame = line.partition(b" ")
        _check(method.decode(), json.loads(frame))
    return offset + len(whole)


def _check(method: str, frame: dict[str, Any]) -> None:
    if method not in METHODS:
        return  # a test's own method, an extension, or the answer to noise
    asks = METHODS[method].direction
    sender = "agent" if (asks == "to_client") == ("method" in frame) else "client"
    check_frame(frame, direction="client" if asks == "both" else sender, method=method)  # type: ignore[arg-type]  # literals
