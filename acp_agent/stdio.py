"""Claim stdio for the wire: fd 0 and 1 belong to the protocol, stray prints go to stderr.

Owns the two descriptors until the end. Children of the agent get no part of the wire: their stdin is `/dev/null`, their
stdout our stderr. (ACP v1, transports: an agent writes nothing but messages to stdout.)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from acp_client.protocol.streams import FdTransport

HINT: Final = (
    "This is an agent: it speaks the Agent Client Protocol, a JSON object a line. To talk to it, run\n"
    '  subagent run --agent "COMMAND THAT STARTED IT" "your task"\n'
)
"""For a person who has started an agent in a terminal."""


@contextmanager
def claim_stdio() -> Iterator[FdTransport]:
    """The transport over what stdin and stdout were; closed, and made blocking again, at the end."""
    sys.stdout.flush()
    if os.isatty(0):
        sys.stderr.write(HINT)
    wire_in, wire_out = os.dup(0), os.dup(1)
    modes = [(fd, os.get_blocking(fd)) for fd in (wire_in, wire_out)]
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    transport = FdTransport(wire_in, wire_out)
    try:
        yield transport
    finally:
        sys.stdout.flush()
        for fd, blocking in modes:
            _restore(fd, blocking=blocking)
        transport.close()


def _restore(fd: int, *, blocking: bool) -> None:
    """Others may hold the same open file: leave its mode as it was."""
    try:
        os.set_blocking(fd, blocking)
    except OSError:
        return  # closed already, with the connection
