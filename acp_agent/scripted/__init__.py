"""The scripted agent: plays a scenario file as an ACP agent, well-behaved or hostile.

    python -m acp_agent scripted FILE        python -m acp_agent scripted --help

Everything that a scenario does not mention follows the protocol; a scenario says what differs.
Standard library only, and PyYAML for a `.yaml` file: the start-up of a child is part of what is
tested. The rooms: `__main__` (arguments, help), `load` and `validate` (file to data), `vocabulary`
(the words), `frames` and
`conversation` (pure), `wire` (file descriptors), `engine` (the loop), `steps`
and `acts` (what each word does).
"""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Play the scenario file named by `argv`; returns the exit code."""
    from acp_agent.scripted.__main__ import run  # noqa: PLC0415 - `import` alone stays free

    return run(argv)
