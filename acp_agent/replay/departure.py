"""How the recorded agent went, so that a replay goes the same way: by itself, with what code, or only when killed.

Owns the reading of it, and the going. A record that ends with requests open and says nothing of its end is taken for an
agent that exited there.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from acp_client.record.format.lines import END, Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from acp_agent.scripted.wire import Wire

LINGER_SECONDS: Final = 60.0
"""How long an agent that went only when it was killed waits for that: longer than anybody waits to kill it."""
FLUSH_SECONDS: Final = 5.0
"""For a client that has still to read what was written."""
_OUTLIVED_EVERYTHING: Final = "kill"


@dataclass(frozen=True, slots=True)
class Departure:
    """`exits_early`: once all is played, not at the end of stdin. `killed`: the signal that its parent needed."""

    exits_early: bool = False
    exit_code: int = 0
    signal: int | None = None
    killed: str | None = None
    is_told: bool = False


def departure_of(notes: Iterable[Note], *, has_open: bool) -> Departure:
    """What the last note says of the end; `has_open`: requests of the client were never answered."""
    results = [note.fields.get("result") for note in notes if note.kind == END]
    if not results:
        return Departure(exits_early=has_open)
    result = _mapping(results[-1])
    diagnostics = _mapping(result.get("diagnostics"))
    killed = _mapping(result.get("flags")).get("killed")
    return Departure(
        exits_early=result.get("reason") == "agent_exited",
        exit_code=_whole(diagnostics.get("exit_code")) or 0,
        signal=_whole(diagnostics.get("signal")),
        killed=killed if isinstance(killed, str) else None,
        is_told=True,
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None


def depart(departure: Departure, wire: Wire) -> int:
    """Go as the recorded agent went: returns the exit code, or does not return."""
    wire.drain(FLUSH_SECONDS)
    if departure.killed is not None and departure.signal is not None:
        if departure.exits_early:
            wire.close("stdout")
        if departure.killed == _OUTLIVED_EVERYTHING:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(LINGER_SECONDS)
    elif departure.signal is not None:
        _die_by(departure.signal)
    return departure.exit_code & 0xFF


def _die_by(number: int) -> None:
    """As the recorded agent did; without leaving a core file of ours."""
    import resource  # noqa: PLC0415  # for the rare agent that crashed

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
