"""The loop of a replay: one thread that reads lines, writes what is due, and knows when to leave.

Owns the order of reading and writing and its bound. What to write is `player`'s, the descriptors are `scripted.wire`'s.
"""

from __future__ import annotations

import time
from typing import Final

from acp_agent.replay.departure import FLUSH_SECONDS, depart
from acp_agent.replay.player import STDOUT, Player
from acp_agent.replay.steps import Recording
from acp_agent.scripted.wire import Wire
from acp_client.record.format.report import report
from acp_client.safe_text import printable

MAX_AHEAD_BYTES: Final = 1024 * 1024
"""What is written ahead of a client that does not read."""
EXIT_DIFFERS: Final = 1


def serve(
    recording: Recording, wire: Wire, *, lenient: bool = False, pace: float | None = None, report_to: str = ""
) -> int:
    """Play to the end of stdin, or of a recording that ends earlier; returns the exit code.

    `report_to` names a file to which a difference is appended, beside stderr.
    """
    player = Player(recording, lenient=lenient, pace=pace)
    wire.stdin.reading = True
    _write(player, wire)
    while not (player.is_over or wire.stdin.eof):
        held_up = wire.stdout.pending_bytes > MAX_AHEAD_BYTES
        if wire.exchange(None if held_up else player.patience(time.monotonic())):
            for line in wire.stdin.lines():
                player.receive(line, time.monotonic())
        _write(player, wire)
    if not player.is_over:
        player.leave()
        while _write(player, wire):
            wire.exchange(None)
    if player.failed:
        report(report_to, f"{player.difference}\n")
        wire.drain(FLUSH_SECONDS)
        return EXIT_DIFFERS
    if player.is_over and not recording.departure.is_told:
        _tell(wire, f"replay of {recording.name}: the record ends here, before everything was answered")
    return depart(recording.departure, wire)


def _tell(wire: Wire, text: str) -> None:
    wire.stderr.put(f"{printable(text)}\n".encode())


def _write(player: Player, wire: Wire) -> bool:
    """Write what is due, as far as the client reads; True if there may be more."""
    while wire.stdout.pending_bytes <= MAX_AHEAD_BYTES:
        item = player.next(time.monotonic())
        if item is None:
            return False
        (wire.stdout if item[0] == STDOUT else wire.stderr).put(item[1])
    return True
