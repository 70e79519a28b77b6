"""A recorded run, served again as an ACP agent: no key, no network, no agent installed.

    python -m acp_agent replay FILE [--lenient] [--pace [FACTOR]]

What the recorded client asked is expected again; what the recorded agent wrote is written again, in its order. The
rooms: `__main__` (arguments, help), `recording` (file to data), `identity` (whose id is whose), `player` (what is
expected and what is due; pure), `engine` (the loop over the descriptors), `departure` (how the recorded agent went).
"""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Serve the recording named by `argv`; returns the exit code."""
    from acp_agent.replay.__main__ import run  # noqa: PLC0415  # `import` alone stays free

    return run(argv)
