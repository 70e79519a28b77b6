"""`python -m acp_agent NAME` serves a shipped agent over stdio, `… scripted FILE` plays a scenario.

`… replay FILE` serves a recorded run again.
"""

from __future__ import annotations

import gc
import sys

USAGE_ERROR = 2


def usage() -> str:
    """What can be asked for."""
    from acp_agent.agents import SHIPPED  # noqa: PLC0415  # a scenario starts without

    rows = [f"  {name:<22} {agent.description}" for name, agent in SHIPPED.items()]
    rows.append(f"  {'scripted FILE':<22} plays a scenario file (see `scripted --help`)")
    rows.append(f"  {'replay FILE':<22} serves a recorded run again (see `replay --help`)")
    return "usage: python -m acp_agent NAME\n\n" + "\n".join(rows) + "\n"


def main(argv: list[str]) -> int:
    """Serve what is named; returns the exit code."""
    name = argv[0] if argv else ""
    if name == "scripted":
        from acp_agent import scripted  # noqa: PLC0415  # an agent loads what it is, nothing else

        return scripted.main(argv[1:])
    if name == "replay":
        from acp_agent import replay  # noqa: PLC0415  # as above

        return replay.main(argv[1:])
    gc.disable()  # none of what is loaded now is garbage, and looking for it takes a tenth of the time
    from acp_agent.agents import SHIPPED  # noqa: PLC0415  # as above

    if {"-h", "--help"} & set(argv):
        sys.stdout.write(usage())
        return 0
    if name not in SHIPPED or len(argv) > 1:
        unknown = f"no agent {name!r}" if name else "name an agent"
        what = unknown if name not in SHIPPED else f"{name} takes no arguments, got {argv[1:]}"
        sys.stderr.write(f"{what}\n{usage()}")
        return USAGE_ERROR
    from acp_agent.server import main as serve  # noqa: PLC0415  # as above

    agent = SHIPPED[name].load()
    gc.freeze()
    gc.enable()
    serve(agent)
    gc.freeze()  # at the end neither
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
