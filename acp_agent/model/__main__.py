"""`python -m acp_agent.model check LOGS GOLDEN` holds a run against its golden folder, `harvest` collects one."""

from __future__ import annotations

import sys
from pathlib import Path

from acp_agent.model.golden import TreeDiffers, check, harvest
from acp_agent.model.mismatch import ScriptMismatch

USAGE = """usage: python -m acp_agent.model check LOGS GOLDEN
       python -m acp_agent.model harvest [--refresh] LOGS GOLDEN

check    compares the logs of a run with the golden folder, file by file; exit code 1 if they differ
harvest  collects the logs of a recorded run into the golden folder; --refresh overwrites what is there
"""
USAGE_ERROR = 2


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    words = [word for word in argv if not word.startswith("-")]
    options = [word for word in argv if word.startswith("-")]
    if options in (["-h"], ["--help"]):
        sys.stdout.write(USAGE)
        return 0
    if len(words) != 3 or words[0] not in ("check", "harvest") or options not in ([], ["--refresh"]):  # noqa: PLR2004
        sys.stderr.write(USAGE)
        return USAGE_ERROR
    logs, golden = Path(words[1]), Path(words[2])
    try:
        if words[0] == "check":
            check(logs, golden)
        else:
            for file in harvest(logs, golden, refresh=bool(options)):
                sys.stdout.write(f"{file}\n")
    except (TreeDiffers, ScriptMismatch, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
